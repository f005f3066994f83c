"""Counter-based random numbers: the n-th number of a named stream, whoever asks and in whatever order.

Philox 4x64 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"), keyed by a digest of the stream's name.
"""

from collections.abc import Iterable, Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.uint64]


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


def elect(
    stream: tuple[str | int, ...], names: Sequence[str | int], numbers: NDArray[np.int64], weights: Sequence[float] = ()
) -> NDArray[np.int64]:
    """For each of ``numbers`` the place in ``names`` of the one that wins it, each with a chance by its weight (none given: all the same).

    A name that is added wins some numbers, and no other number changes hands: rendezvous hashing (Thaler & Ravishankar 1998, "Using
    name-based mappings to increase hit rates"). The winner is who waits least, for exponential times at the rate of its weight.
    """
    least, winner, places = np.full(len(numbers), np.inf), np.zeros(len(numbers), dtype=np.int64), numbers.astype(np.uint64)
    for place, (code, weight) in enumerate(zip(codes_of(stream, names), weights or [1.0] * len(names), strict=True)):
        if weight > 0:
            waiting = (mixed(places, code) >> np.uint64(11)) * 2.0**-53  # `uniform_at` would need the numbers between
            if weights:  # of equal rates the order is that of the chances
                waiting = -np.log1p(-waiting) / weight
            np.copyto(winner, place, where=waiting < least)
            np.minimum(waiting, least, out=least)
    return winner


def mixed(first: Codes, *others: Codes) -> Codes:
    """A number for each row of columns of numbers, all of 64 bits: splitmix64 (Steele, Lea & Flood 2014), once for each further column."""
    for other in others:
        first = first * np.uint64(0x9E3779B97F4A7C15) + other
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            first = (first ^ (first >> np.uint64(shift))) * np.uint64(factor)
        first = first ^ (first >> np.uint64(31))
    return first


def code_of(*parts: str | int) -> Codes:
    """The `order_key` of ``parts`` as a number, in an array of length 1."""
    return codes_of(parts[:-1], parts[-1:])


def codes_of(parts: Sequence[str | int], names: Iterable[str | int]) -> Codes:
    """The `order_keys` of ``parts`` and each of ``names``, as numbers of 64 bits."""
    return np.frombuffer(b"".join(order_keys(parts, names)), dtype="<u8")


def addresses(codes: Codes) -> list[str]:
    """Numbers of 64 bits as 16 hexadecimal digits each."""
    digits = codes.tobytes().hex()
    return [digits[at : at + 16] for at in range(0, len(digits), 16)]


def order_key(*parts: str | int) -> bytes:
    """A digest to sort by: an order that looks random, is the same everywhere and does not depend on what else is sorted."""
    return order_keys(parts[:-1], parts[-1:])[0]


def address(*parts: str | int) -> str:
    """The `order_key` of ``parts`` as 16 hexadecimal digits: a content address."""
    return order_key(*parts).hex()


def order_keys(parts: Sequence[str | int], names: Iterable[str | int]) -> list[bytes]:
    """The `order_key` of ``parts`` and each of ``names``."""
    start = "".join(f"{part}\x1f" for part in parts)
    return [blake2b(f"{start}{name}".encode(), digest_size=8).digest() for name in names]


def chance_of(*parts: str | int) -> float:
    """A number in [0, 1), the same for the same parts."""
    return int.from_bytes(order_key(*parts), "big") / 2**64
