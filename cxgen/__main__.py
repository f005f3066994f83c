"""``python -m cxgen``: the command, where it is not on the PATH."""

from cxgen.cli import main

main()
