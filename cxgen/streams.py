"""Counter-based random numbers: the n-th number of a named stream, whoever asks and in whatever order.

Philox 4x64 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"), keyed by a digest of the stream's name.
"""

from collections.abc import Iterable, Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray


def uniform(stream: tuple[str | int, ...], start: int, count: int) -> NDArray[np.float64]:
    """Numbers ``start`` to ``start + count - 1`` of ``stream`` (seed, construction, design, split, column), in [0, 1)."""
    key = np.frombuffer(blake2b("\x1f".join(map(str, stream)).encode(), digest_size=16).digest(), dtype="<u8")
    generator = np.random.Philox(key=key.astype(np.uint64))
    block, offset = divmod(start, 4)
    generator.advance(block)
    raw = generator.random_raw(count + offset)[offset:]
    return (raw >> np.uint64(11)).astype(np.float64) * 2.0**-53


def uniform_at(stream: tuple[str | int, ...], numbers: NDArray[np.int64]) -> NDArray[np.float64]:
    """The numbers of ``stream`` at the places ``numbers`` (any, in any order), in [0, 1)."""
    if not len(numbers):
        return np.empty(0)
    first = int(numbers.min())
    return uniform(stream, first, int(numbers.max()) - first + 1)[numbers - first]


def order_key(*parts: str | int) -> bytes:
    """A digest to sort by: an order that looks random, is the same everywhere and does not depend on what else is sorted."""
    return order_keys(parts[:-1], parts[-1:])[0]


def order_keys(parts: Sequence[str | int], names: Iterable[str | int]) -> list[bytes]:
    """The `order_key` of ``parts`` and each of ``names``."""
    start = "".join(f"{part}\x1f" for part in parts)
    return [blake2b(f"{start}{name}".encode(), digest_size=8).digest() for name in names]


def chance_of(*parts: str | int) -> float:
    """A number in [0, 1), the same for the same parts."""
    return int.from_bytes(order_key(*parts), "big") / 2**64
