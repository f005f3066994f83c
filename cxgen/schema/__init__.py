"""YAML in, validated plain data out; every complaint carries file and line. And the columns of all tables."""

from cxgen.schema.columns import TARGET, Column, Contract, conform, polars_schema
from cxgen.schema.document import Document, read_json, read_yaml, validate

__all__ = ["TARGET", "Column", "Contract", "Document", "conform", "polars_schema", "read_json", "read_yaml", "validate"]
