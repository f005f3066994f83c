"""What a command writes to: whatever the shell has closed or filled up, its messages change nothing of what it does, nor its exit code."""

import io
import os
import sys
from typing import Any


class _Messages(io.FileIO):
    """Stderr: what cannot be written there (a full disk, a reader that is gone) is dropped."""

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except OSError:
            return len(data)


def open_streams() -> None:
    """Open what is closed of stdout and stderr, to nothing, and let nothing fail for messages on this process's own stderr."""
    for number in range(3):  # else the next file that is opened would have the number, and get what libraries print
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # letters that its encoding does not have
    if (own := sys.__stderr__) and sys.stderr is own:
        raw = io.BufferedWriter(_Messages(own.fileno(), "w", closefd=False))
        sys.stderr = io.TextIOWrapper(raw, own.encoding, "backslashreplace", write_through=True, line_buffering=True)
