#!/usr/bin/env python3
"""Writes the seed corpus of token shards, tests/fuzz/corpus/tokens; tokens_fuzz.cpp says what an
input consists of. The files are checked in; run this after a change here."""

import pathlib
import struct

folder = pathlib.Path(__file__).parent.parent / "corpus" / "tokens"
TYPED, WIDE, NO_HEADER, BIG, PREAD = 1, 2, 4, 8, 16


def case(flags, per_sample, stride, *shards):
    lengths = b"".join(struct.pack("<H", len(shard)) for shard in shards[:-1])
    return bytes([flags, per_sample - 1, stride, len(shards) - 1]) + lengths + b"".join(shards)


def narrow(first, count):
    return struct.pack(f"<{count}H", *range(first, first + count))


def wide(first, count):
    return struct.pack(f"<{count}I", *range(first, first + count))


def with_header(magic, version, count, tokens):
    return struct.pack("<3i", magic, version, count) + bytes(1012) + tokens


def array(descr, shape, payload):
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text.encode() + payload


def index(code, token_bytes, lengths, documents=1, version=1, offsets=None):
    if offsets is None:
        offsets = [token_bytes * sum(lengths[:i]) for i in range(len(lengths))]
    head = b"MMIDIDX\0\0" + struct.pack("<QBQQ", version, code, len(lengths), documents)
    body = struct.pack(f"<{len(lengths)}i", *lengths) + struct.pack(f"<{len(offsets)}q", *offsets)
    return head + body + struct.pack(f"<{documents}q", *range(documents))


gpt2 = with_header(20240520, 1, 20, narrow(1, 20))
llama = with_header(20240801, 7, 20, wide(1, 20))
seeds = {
    "empty": b"",
    "no_tokens": case(TYPED, 1, 0, b""),
    "one_short": case(TYPED, 4, 0, narrow(1, 4)),
    "one_window": case(TYPED, 4, 0, narrow(1, 5)),
    "narrow": case(TYPED, 3, 0, narrow(1, 40)),
    "wide": case(TYPED | WIDE, 3, 0, wide(1, 40)),
    "big": case(TYPED | WIDE | BIG, 3, 2, wide(1, 40)),
    "odd_bytes": case(TYPED, 3, 0, narrow(1, 40) + b"\0"),
    "untyped": case(0, 3, 0, narrow(1, 40)),
    "stride_1": case(TYPED, 5, 1, narrow(1, 20)),
    "stride_long": case(TYPED, 2, 79, narrow(1, 200)),
    "shards": case(TYPED, 5, 2, narrow(1, 7), narrow(8, 1), narrow(9, 20), narrow(29, 3)),
    "shards_empty": case(TYPED, 5, 3, b"", narrow(1, 9), b"", narrow(10, 9)),
    "window_over_shards": case(TYPED, 20, 1, narrow(1, 6), narrow(7, 6), narrow(13, 6),
                               narrow(19, 6)),
    "by_pread": case(TYPED | PREAD, 5, 2, narrow(1, 7), narrow(8, 1), narrow(9, 20)),
    "gpt2": case(0, 4, 0, gpt2),
    "llama": case(0, 4, 0, llama),
    "llama_by_pread": case(PREAD, 4, 3, llama, llama),
    "header_and_type": case(TYPED, 4, 0, gpt2),
    "type_belied": case(TYPED | WIDE, 4, 0, gpt2),
    "types_differ": case(0, 4, 0, gpt2, llama),
    "header_ignored": case(TYPED | NO_HEADER, 9, 60, gpt2),
    "header_cut": case(0, 4, 0, gpt2[:1000]),
    "version_unknown": case(0, 4, 0, with_header(20240520, 2, 20, narrow(1, 20))),
    "count_too_large": case(0, 4, 0, with_header(20240520, 1, 21, narrow(1, 20))),
    "count_negative": case(0, 4, 0, with_header(20240801, 7, -1, wide(1, 20))),
    "array": case(0, 3, 0, array("<u2", "(20,)", narrow(1, 20))),
    "array_big": case(0, 3, 0, array(">u4", "(5,)", struct.pack(">5I", *range(5)))),
    "array_long": case(0, 3, 0, array("<i8", "(20,)", struct.pack("<20q", *range(20)))),
    "array_of_rows": case(0, 3, 0, array("<u2", "(4, 5)", narrow(1, 20))),
    "array_cut": case(TYPED, 3, 0, array("<u2", "(20,)", narrow(1, 19))),
    "array_ignored": case(TYPED | NO_HEADER, 3, 0, array("<u2", "(20,)", narrow(1, 20))),
    "array_and_tokens": case(TYPED, 3, 0, array("<u2", "(20,)", narrow(1, 20)), narrow(21, 20)),
    "index": case(0, 3, 0, index(8, 2, [4, 0, 9])),
    "index_wide": case(0, 3, 0, index(4, 4, [4, 9], documents=3)),
    "index_apart": case(0, 3, 0, index(8, 2, [4, 9], offsets=[0, 10])),
    "index_negative": case(0, 3, 0, index(8, 2, [4, -9])),
    "index_of_floats": case(0, 3, 0, index(7, 4, [4])),
    "index_cut": case(0, 3, 0, index(8, 2, [4, 9])[:-3]),
    "gzip": case(TYPED, 3, 0, b"\x1f\x8b\x08\0" + narrow(1, 20)),
    "text": case(TYPED, 3, 0, b"Once upon a time there was a shard."),
    "evaluation": case(TYPED, 4, 0, with_header(20240522, 1, 20, narrow(1, 20))),
}

folder.mkdir(parents=True, exist_ok=True)
for name, content in seeds.items():
    (folder / name).write_bytes(content)
