"""Randomness that an adversary cannot predict: the ChaCha20 stream cipher, keyed by the operating system.

Row order and every random choice of a release come from here. A seed exists only to repeat a run (tests, papers);
anyone who knows it can undo the shuffling, so it is never written into a release.
Independent parts take `child` streams named by a label, so results do not depend on threads or on the order of work.
"""

from __future__ import annotations

import hashlib
import operator
import secrets
from collections.abc import Callable

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext
from cryptography.hazmat.primitives.ciphers.algorithms import ChaCha20
from numpy.typing import NDArray

from lookalike.errors import RecipeError

_KEY_BYTES = 32
_NONCE = bytes(16)


class Randomness:
    """A stream of random bits and the few draws that releases need.

    >>> Randomness(7).permutation(5).tolist() == Randomness(7).permutation(5).tolist()
    True
    """

    def __init__(self, seed: int | None = None, *, _key: bytes | None = None) -> None:
        if _key is not None:
            self._key = _key
        elif seed is None:
            self._key = secrets.token_bytes(_KEY_BYTES)
        else:
            self._key = _digest(b"seed", str(_whole(seed)).encode())
        self._stream: CipherContext = Cipher(ChaCha20(self._key, _NONCE), mode=None).encryptor()

    def child(self, *label: str | int) -> Randomness:
        """An independent stream that depends on this one's key and the label, not on what was drawn before."""
        # NumPy's own integers print differently from release to release; the same number is the same label.
        parts = (part if isinstance(part, str) else int(part) for part in label)
        return Randomness(_key=_digest(self._key, *(repr(part).encode() for part in parts)))

    def __reduce__(self) -> tuple[Callable[[bytes], Randomness], tuple[bytes]]:
        """A copy in another process starts the stream anew; take a child there. Anyone who reads it has the secret."""
        return _from_key, (self._key,)

    def words(self, count: int) -> NDArray[np.uint64]:
        """`count` uniform 64-bit words."""
        return np.frombuffer(self._stream.update(bytes(8 * count)), dtype="<u8").astype(np.uint64, copy=False)

    def uniforms(self, count: int) -> NDArray[np.float64]:
        """Uniform floats in [0, 1) with 53 random bits."""
        return (self.words(count) >> np.uint64(11)).astype(np.float64) / (1 << 53)

    def integers(self, bound: int, count: int) -> NDArray[np.int64]:
        """Uniform whole numbers in [0, bound), free of modulo bias (rejection)."""
        if not 0 < bound < 1 << 63:
            raise ValueError(f"bound must lie between 1 and 2^63 - 1, not {bound}")
        accepted = (1 << 64) - (1 << 64) % bound
        drawn = self.words(count)
        while accepted < 1 << 64 and (bad := np.flatnonzero(drawn >= np.uint64(accepted))).size:
            drawn = drawn.copy()
            drawn[bad] = self.words(bad.size)
        return (drawn % np.uint64(bound)).astype(np.int64)

    def permutation(self, count: int) -> NDArray[np.int64]:
        """A uniform permutation of 0..count-1: the order of random keys, drawn again should two ever be equal."""
        while True:
            keys = self.words(count)
            order = np.argsort(keys, kind="stable")
            ranked = keys[order]
            if not (ranked[1:] == ranked[:-1]).any():
                return order.astype(np.int64, copy=False)

    def shuffle(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """The values in random order."""
        return values[self.permutation(len(values))]


def _whole(seed: object) -> int:
    try:
        return operator.index(seed)  # type: ignore[arg-type]
    except TypeError:
        raise RecipeError(f"seed is of type {type(seed).__name__}. Give a whole number, or leave it out.") from None


def _from_key(key: bytes) -> Randomness:
    return Randomness(_key=key)


def _digest(key: bytes, *parts: bytes) -> bytes:
    digest = hashlib.blake2b(digest_size=_KEY_BYTES, key=key[:64], person=b"lookalike")
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.digest()
