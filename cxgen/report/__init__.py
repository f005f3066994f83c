"""Measures of a finished dataset: give-away baselines, variety."""
