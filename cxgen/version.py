"""The version, here alone besides pyproject.toml."""

VERSION = "0.7.0"
