"""What only those need who ask models."""

from __future__ import annotations

from importlib.util import find_spec

from cxgen.errors import CxgenError

PACKAGES = ("openai", "aiolimiter", "krippendorff")


def require() -> None:
    """Check that the packages of the extra ``llm`` are there.

    Raises:
        CxgenError: one is missing.
    """
    for name in PACKAGES:
        if find_spec(name) is None:
            raise CxgenError(f"the package {name} is missing", hint="pip install 'cxgen[llm]'")
