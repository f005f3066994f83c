"""Contrast sets in a writer's own words: what it is asked, whether what it wrote is what was asked for, and the items of it."""
