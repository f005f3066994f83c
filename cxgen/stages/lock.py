"""One run at a time where two would pay twice, or undo each other's work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cxgen.errors import DataError, needs


@contextmanager
def alone(path: Path, what: str) -> Iterator[None]:
    """Hold ``path`` (a file that need not exist) for this process while the block runs; the system lets go of it when the process dies.

    Args:
        path: what is held; the lock is a file beside it.
        what: what another run with it does, for the message.

    Raises:
        DataError: another process holds it.
    """
    with needs("asking models needs the package filelock", "llm"):
        from filelock import FileLock, Timeout

    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(f"{path}.lock")
    try:
        lock.acquire(blocking=False)
    except Timeout:
        raise DataError(f"another run {what}", file=path, hint="wait for its end, or stop it") from None
    try:
        yield
    finally:
        lock.release()
