"""Datasets: what is wanted, candidates, splits, pseudowords, audits, tables."""
