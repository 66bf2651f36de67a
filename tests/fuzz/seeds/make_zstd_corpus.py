#!/usr/bin/env python3
"""Writes the seed corpus of zstd_fuzz: python3 tests/fuzz/seeds/make_zstd_corpus.py

Needs the program zstd.
"""

import pathlib
import random
import struct
import subprocess

FOLDER = pathlib.Path(__file__).parent.parent / "corpus" / "zstd"


def packed(plain, level=3, *options):
    command = ["zstd", "-q", "-c", f"-{level}", "--no-check", *options]
    return subprocess.run(command, input=plain, capture_output=True, check=True).stdout


def write(name, frames, room):
    (FOLDER / name).write_bytes(struct.pack("<H", room) + frames)


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    draw = random.Random(1)
    noise = draw.randbytes(700)
    words = b"".join(draw.choice([b"the ", b"quick ", b"brown ", b"fox "]) for _ in range(900))
    skewed = bytes(min(int(draw.expovariate(0.08)), 255) for _ in range(3000))
    few = bytes(draw.choice(b"abc") for _ in range(150))
    far = noise[:300] + bytes(4000) + noise[:300]
    rows = b"".join(bytes(8 + draw.randrange(24)) + draw.randbytes(4) for _ in range(150))
    write("empty", packed(b""), 0)
    write("plain", packed(noise), len(noise))
    write("one", packed(bytes(3000)), 3000)
    write("words", packed(words), len(words))
    write("words_slow", packed(words, 19), len(words))
    write("checked", packed(words, 3, "--check"), len(words))
    write("literals", packed(skewed, 1), len(skewed))
    write("one_stream", packed(few), len(few))
    write("far", packed(far), len(far))
    write("rows", packed(rows), len(rows))
    write("blocks", packed(rows + words, 6, "--zstd=wlog=10"), len(rows) + len(words))
    write("frames", packed(rows) + struct.pack("<II", 0x184D2A53, 3) + b"abc" + packed(few),
          len(rows) + len(few))
    write("cut", packed(words)[:-3], len(words))
    write("too_long", packed(words), len(words) - 1)
    write("too_short", packed(words), len(words) + 1)


if __name__ == "__main__":
    main()
