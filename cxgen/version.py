"""The version, here alone besides pyproject.toml."""

__version__ = "0.7.0"
