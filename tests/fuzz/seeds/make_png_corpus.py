#!/usr/bin/env python3
"""Writes the seed corpus of png_fuzz: python3 tests/fuzz/seeds/make_png_corpus.py"""

import pathlib
import random
import struct
import zlib

FOLDER = pathlib.Path(__file__).parent.parent / "corpus" / "png"
SAMPLES = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}


def chunk(name, data):
    body = name + data
    return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))


def png(draw, colours, depth, side, level=6, piece=8192):
    row = (SAMPLES[colours] * depth * side + 7) // 8
    rows = b"".join(
        bytes([draw.randrange(5)]) + bytes(draw.randrange(30) for _ in range(row))
        for _ in range(side)
    )
    stream = zlib.compress(rows, level)
    header = struct.pack(">IIBBBBB", side, side, depth, colours, 0, 0, 0)
    file = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"gAMA", bytes(4))
    if colours == 3:
        file += chunk(b"PLTE", draw.randbytes(3 << depth)) + chunk(b"tRNS", b"\0")
    for at in range(0, len(stream), piece):
        file += chunk(b"IDAT", stream[at : at + piece])
    return file + chunk(b"IEND", b"")


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    draw = random.Random(1)
    kinds = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 4, 8), 4: (8, 16), 6: (8, 16)}
    for colours, depths in kinds.items():
        for depth in depths:
            (FOLDER / f"kind{colours}_{depth}").write_bytes(png(draw, colours, depth, 9))
    (FOLDER / "stored").write_bytes(png(draw, 2, 8, 7, level=0))
    (FOLDER / "pieces").write_bytes(png(draw, 2, 8, 12, piece=11))


if __name__ == "__main__":
    main()
