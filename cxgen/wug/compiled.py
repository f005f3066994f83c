"""Functions that are compiled to machine code: once, when they are first loaded; what was compiled is kept for the next process.

It is kept as long as the module with the function is as old. Whoever changes a compiled function that those of other modules call deletes
what was kept of these (``__pycache__/*.nb?``): numba does not see that they have changed, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from cxgen.errors import needs

with needs("pseudowords need numba", "wug"):
    import numba

# Arrays as compiled functions take them.
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bytes = NDArray[np.uint8]

_Function = TypeVar("_Function", bound=Callable[..., object])


def compiled(signature: str) -> Callable[[_Function], _Function]:
    """Compile a function for arguments of the types of ``signature`` (as numba writes them); it runs beside other threads.

    Raises:
        DataError: numba is not installed.
    """

    def compile_(function: _Function) -> _Function:
        try:
            return cast(_Function, numba.njit(signature, cache=True, nogil=True)(function))
        except RuntimeError:  # neither the package's folder nor the user's can be written to
            return cast(_Function, numba.njit(signature, nogil=True)(function))

    return compile_
