"""Measures of finished items that need no knowledge of how they were made. scikit-learn is loaded only when one is taken."""
