#!/usr/bin/env python3
"""Writes the seed corpus of lz4_fuzz: python3 tests/fuzz/seeds/make_lz4_corpus.py

Needs the program lz4.
"""

import pathlib
import random
import struct
import subprocess

FOLDER = pathlib.Path(__file__).parent.parent / "corpus" / "lz4"
ALONE = 0x8000  # the room's bit for a block without a frame


def packed(plain, level=1):
    """A block, out of the program's own frame."""
    command = ["lz4", "-q", "-c", f"-{level}", "--no-frame-crc"]
    frame = subprocess.run(command, input=plain, capture_output=True, check=True).stdout
    header = 15 if frame[4] & 8 else 7  # with the content's size, or without
    (size,) = struct.unpack_from("<I", frame, header)
    assert size < len(plain), "it was stored as it is"
    return frame[header + 4:header + 4 + size]


def framed(plain, block, level=1):
    """A frame as HDF5's filter writes it."""
    frame = struct.pack(">QI", len(plain), block)
    for at in range(0, len(plain), block):
        part = plain[at:at + block]
        try:
            stored = packed(part, level)
        except AssertionError:
            stored = part
        frame += struct.pack(">I", len(stored)) + stored
    return frame


def write(name, stored, room):
    (FOLDER / name).write_bytes(struct.pack("<H", room) + stored)


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    draw = random.Random(1)
    noise = draw.randbytes(700)
    words = b"".join(draw.choice([b"the ", b"quick ", b"brown ", b"fox "]) for _ in range(900))
    far = noise[:300] + bytes(4000) + noise[:300]
    rows = b"".join(bytes(8 + draw.randrange(24)) + draw.randbytes(4) for _ in range(150))
    write("raw", framed(noise, 300), len(noise))
    write("zeros", packed(bytes(3000)), ALONE | 3000)
    write("words", packed(words), ALONE | len(words))
    write("words_slow", packed(words, 12), ALONE | len(words))
    write("far", packed(far), ALONE | len(far))
    write("rows", packed(rows), ALONE | len(rows))
    write("frame", framed(rows, 1 << 30), len(rows))
    write("blocks", framed(rows + noise + words, 900, 9), len(rows) + len(noise) + len(words))
    write("cut", framed(words, 1000)[:-3], len(words))
    write("too_long", packed(words), ALONE | len(words) - 1)
    write("too_short", packed(words), ALONE | len(words) + 1)
    write("offset_of_0", bytes([0x18, 7, 0, 0, 0x50]) + b"abcde", ALONE | 18)
    write("to_the_end", bytes([0xEE]) + bytes(range(14)) + bytes([14, 0, 0]), ALONE | 32)


if __name__ == "__main__":
    main()
