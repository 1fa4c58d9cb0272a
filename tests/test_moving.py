"""Still pictures become one that moves."""

from __future__ import annotations

import struct
import zlib

import pytest

from tests.harness.moving import SIGNATURE, Frame, _chunk, _chunks, make_animation


def png(colour: int, width: int = 2) -> bytes:
    """A grey picture of one row."""
    head = struct.pack(">II", width, 1) + bytes((8, 0, 0, 0, 0))
    row = zlib.compress(b"\0" + bytes([colour]) * width)
    return SIGNATURE + _chunk(b"IHDR", head) + _chunk(b"IDAT", row) + _chunk(b"IEND", b"")


def test_frames_stand_in_their_order_each_with_its_time() -> None:
    made = make_animation([Frame(png(1), 0.5), Frame(png(2), 1), Frame(png(3), 2)])

    chunks = list(_chunks(made))
    assert [kind for kind, _ in chunks] == [
        *(b"IHDR", b"acTL", b"fcTL", b"IDAT", b"fcTL", b"fdAT", b"fcTL", b"fdAT", b"IEND"),
    ]
    assert struct.unpack(">II", chunks[1][1]) == (3, 0)
    numbers = [int.from_bytes(body[:4]) for kind, body in chunks if kind in {b"fcTL", b"fdAT"}]
    assert numbers == [0, 1, 2, 3, 4]
    shown = [struct.unpack(">HH", body[20:24]) for kind, body in chunks if kind == b"fcTL"]
    assert shown == [(50, 100), (100, 100), (200, 100)]
    assert zlib.decompress(chunks[5][1][4:]) == b"\0\2\2"


def test_frames_of_several_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="several sizes"):
        make_animation([Frame(png(1), 1), Frame(png(1, width=3), 1)])
