"""One moving picture of several still ones: an animated PNG, which browsers and GitHub show like any other."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"


class Frame(NamedTuple):
    """A still picture, as a PNG, and for how many seconds it is shown."""

    picture: bytes
    seconds: float


def make_animation(frames: Sequence[Frame]) -> bytes:
    """The *frames* one after the other, over and over, as a PNG; raises ValueError where they differ in size or colours.

    Who doesn't know animations shows the first frame.
    """
    heads = {dict(_chunks(frame.picture))[b"IHDR"] for frame in frames}
    if len(heads) != 1:
        raise ValueError("frames of several sizes")
    (head,) = heads
    size = head[:8]
    parts = [_chunk(b"IHDR", head), _chunk(b"acTL", struct.pack(">II", len(frames), 0))]
    number = 0
    for frame in frames:
        shown = struct.pack(">HH", round(frame.seconds * 100), 100)
        control = size + struct.pack(">II", 0, 0) + shown + b"\0\0"  # whole, in place of the one before
        parts.append(_chunk(b"fcTL", struct.pack(">I", number) + control))
        number += 1
        data = b"".join(body for kind, body in _chunks(frame.picture) if kind == b"IDAT")
        if number == 1:
            parts.append(_chunk(b"IDAT", data))
        else:
            parts.append(_chunk(b"fdAT", struct.pack(">I", number) + data))
            number += 1
    return b"".join([SIGNATURE, *parts, _chunk(b"IEND", b"")])


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def _chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = len(SIGNATURE)
    while at < len(png):
        length = int.from_bytes(png[at : at + 4])
        yield png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        at += 12 + length
