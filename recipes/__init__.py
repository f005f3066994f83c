"""Recipes: what one does with the dataset beside scoring. Each is a folder with a README, a config and a `run.py`."""
