"""The ``cxgen`` command. Heavy libraries load only in the commands that need them."""

from cxgen.cli.app import main

__all__ = ["main"]
