#!/usr/bin/env python3
"""Writes the seed corpus of inflate_fuzz: python3 tests/fuzz/seeds/make_inflate_corpus.py"""

import pathlib
import random
import struct
import zlib

FOLDER = pathlib.Path(__file__).parent.parent / "corpus" / "inflate"


def deflated(plain, level=6, strategy=zlib.Z_DEFAULT_STRATEGY, memory=8):
    packer = zlib.compressobj(level, zlib.DEFLATED, -15, memory, strategy)
    return packer.compress(plain) + packer.flush()


def write(name, stream, room):
    (FOLDER / name).write_bytes(struct.pack("<H", room) + stream)


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    draw = random.Random(1)
    noise = draw.randbytes(700)
    words = b"".join(draw.choice([b"the ", b"quick ", b"brown ", b"fox "]) for _ in range(900))
    skewed = bytes(min(int(draw.expovariate(0.08)), 255) for _ in range(3000))
    far = noise[:300] + bytes(4000) + noise[:300]
    write("empty", deflated(b""), 0)
    write("stored", deflated(noise, level=0), len(noise))
    write("fixed", deflated(words[:200], strategy=zlib.Z_FIXED), 200)
    write("words", deflated(words), len(words))
    write("runs", deflated(bytes(3000), strategy=zlib.Z_RLE), 3000)
    write("long_codes", deflated(skewed, strategy=zlib.Z_HUFFMAN_ONLY), len(skewed))
    write("blocks", deflated(skewed, memory=1), len(skewed))
    write("far", deflated(far), len(far))
    write("cut", deflated(words)[:-3], len(words))
    write("too_long", deflated(words), len(words) - 1)
    write("too_short", deflated(words), len(words) + 1)


if __name__ == "__main__":
    main()
