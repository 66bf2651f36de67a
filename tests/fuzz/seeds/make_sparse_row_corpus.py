#!/usr/bin/env python3
"""Writes the seed corpus of sparse_row_fuzz: python3 tests/fuzz/seeds/make_sparse_row_corpus.py"""

import pathlib
import struct

FOLDER = pathlib.Path(__file__).parent.parent / "corpus" / "sparse_row"
NO_CHUNK, IN_BLOCK = 0xFFFFFFFF, 0xFFFFFFFE
HEAD_BYTES, BOX_BYTES = 16, 144


def box(place, at, unit, units, fill=b""):
    """As feedline/dataset/window_block.hpp describes it; rank and strides are not used."""
    return struct.pack("<8I16s", 0, place, at, 0, unit, units, 0, 0, fill).ljust(BOX_BYTES, b"\0")


def block(kind, columns, runs):
    """kind: (number of the value's type, format of values, format of columns)."""
    number, value, column = kind
    value_bytes, column_bytes = struct.calcsize(value), struct.calcsize(column)
    boxes, numbers = b"", b""
    begin = HEAD_BYTES + 2 * len(runs) * BOX_BYTES
    for values, indices in runs:
        for form, size, what in ((value, value_bytes, values), (column, column_bytes, indices)):
            if isinstance(what, tuple):  # (times, number)
                fill = struct.pack("<" + form, what[1])
                boxes += box(NO_CHUNK, 0, size, what[0], fill)
                continue
            boxes += box(IN_BLOCK, begin + len(numbers), size, len(what))
            numbers += struct.pack(f"<{len(what)}{form}", *what)
    head = struct.pack("<4I", 0, 2 * len(runs), 0, 0)
    types = bytes([number, column_bytes.bit_length() - 1, columns % 256, columns // 256])
    return types + head + boxes + numbers


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    floats = (4, "f", "I")
    good = block(floats, 300, [([1.5, 2, -3], [0, 7, 299])])
    seeds = {
        "floats": good,
        "twice": block((1, "h", "H"), 20, [([5, 6, -7], [3, 3, 19])]),
        "runs": block((3, "q", "Q"), 500, [([1, 2], [0, 1]), ([3], [400])]),
        "bytes": block((0, "B", "B"), 255, [([200, 100], [254, 254])]),
        "repeated": block((2, "I", "I"), 40, [((3, 9), [1, 2, 3]), ([4, 5], (2, 39))]),
        "empty": block(floats, 300, []),
        "beyond": block(floats, 299, [([1.5], [299])]),
        "negative": block(floats, 299, [([1.5], [0xFFFFFFFF])]),
        "cut": good[: len(good) // 2],
        "odd": good[:8] + b"\1" + good[9:],
    }
    for name, seed in seeds.items():
        (FOLDER / name).write_bytes(seed)


if __name__ == "__main__":
    main()
