"""The ``cxgen`` command. Heavy libraries load only in the commands that need them."""

import signal
import sys

from cxgen.cli.streams import open_streams

INTERRUPTED = "interrupted; no file is half-written"


def main() -> None:
    """The command ``cxgen``."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # as after Ctrl-C, workers end and nothing is left
    open_streams()
    try:
        from cxgen.cli.app import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # while modules are loaded
        code = 130
        sys.stderr.write(f"cxgen: {INTERRUPTED}\n")
    sys.exit(code)
