"""Figures of real models: see README.md."""
