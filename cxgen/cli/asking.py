"""Options of every command that asks models: how it asks, and what it may cost. Named as the fields of Consultation and of Limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from cxgen.asking import Limits

Url = Annotated[str | None, typer.Option(envvar="OPENAI_BASE_URL", help="OpenAI-compatible server; key: OPENAI_API_KEY.")]
PerRequest = Annotated[int, typer.Option("--items-per-request", min=1, max=200, help="Items in a request.")]
Poll = Annotated[float, typer.Option(min=0.05, help="openai-batch: seconds between two looks at a batch.")]
Kept = Annotated[Path | None, typer.Option(help="File of kept answers; default: .cxgen/answers.jsonl.")]
Out = Annotated[Path | None, typer.Option("--out", "--requests", help="file: the requests; written, and read again with --replies.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print requests, tokens and cost; send nothing.")]
Concurrency = Annotated[int, typer.Option(min=1, help="Requests under way at most.")]
Requests = Annotated[float | None, typer.Option("--rpm", min=0.1, help="Requests per minute.")]
Tokens = Annotated[float | None, typer.Option("--tpm", min=1, help="Tokens per minute.")]
Tries = Annotated[int, typer.Option(min=1, help="How often a request is sent before it counts as failed.")]
Timeout = Annotated[float, typer.Option(min=0.1, help="Seconds for one try.")]
Deadline = Annotated[float, typer.Option(min=0.1, help="Seconds for a request with all its tries.")]
MostRequests = Annotated[int | None, typer.Option(min=0, help="Stop before more are sent, retries counted.")]
MostTokens = Annotated[int | None, typer.Option(min=0, help="Stop before more are used.")]
MostCost = Annotated[float | None, typer.Option(min=0.0, help="Stop before more is spent; needs the prices.")]
PriceIn = Annotated[float, typer.Option(min=0.0, help="Per million prompt tokens.")]
PriceOut = Annotated[float, typer.Option(min=0.0, help="Per million reply tokens.")]
Failures = Annotated[float, typer.Option(min=0.0, max=1.0, help="Stop when a larger share of requests failed for good.")]


def limits_of(given: Mapping[str, Any]) -> Limits:
    """The bounds among a command's arguments."""
    from cxgen.asking import Limits

    return Limits(**{field.name: given[field.name] for field in fields(Limits) if field.name in given})


def cache_of(given: Mapping[str, Any]) -> Path:
    """The file of kept answers among a command's arguments: the named one, from the working directory, or the project's."""
    from cxgen.asking import Consultation

    named = given["cache"]
    return named.absolute() if named else Consultation.cache
