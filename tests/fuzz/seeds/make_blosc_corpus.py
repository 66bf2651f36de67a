#!/usr/bin/env python3
"""Writes the seed corpus of blosc_fuzz: python3 tests/fuzz/seeds/make_blosc_corpus.py

Needs numcodecs (pip install numcodecs).
"""

import pathlib
import random

import numcodecs

FOLDER = pathlib.Path(__file__).parent.parent / "corpus" / "blosc"


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    draw = random.Random(1)
    words = b"".join((i * i % 251).to_bytes(4, "little") for i in range(300))
    noise = bytes(draw.randrange(256) for _ in range(200))
    for name in ("lz4", "lz4hc", "zstd", "zlib"):
        for shuffle in (0, 1, 2):
            codec = numcodecs.Blosc(cname=name, clevel=5, shuffle=shuffle, blocksize=256)
            frame = codec.encode(numcodecs.compat.ensure_ndarray(words).view("<u4"))
            (FOLDER / f"{name}_{shuffle}").write_bytes(frame)
    (FOLDER / "copied").write_bytes(numcodecs.Blosc("lz4", 5, 0).encode(noise))
    (FOLDER / "level_0").write_bytes(numcodecs.Blosc("zstd", 0, 1).encode(words))
    (FOLDER / "other").write_bytes(numcodecs.Blosc("blosclz", 5, 1).encode(words))
    cut = numcodecs.Blosc("zstd", 5, 1, 256).encode(words)
    (FOLDER / "cut").write_bytes(cut[: len(cut) // 2])


if __name__ == "__main__":
    main()
