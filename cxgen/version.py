"""The version, here alone besides pyproject.toml, and that of what the pipeline writes."""

__version__ = "0.17.0"
DATA_VERSION = 21  # raised when a change of code changes what `dvc repro` writes; tests/test_golden.py holds it
