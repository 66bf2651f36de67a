#!/usr/bin/env python3
"""Writes the seed corpus of token shards, tests/fuzz/corpus/tokens; tokens_fuzz.cpp says what an
input consists of. The files are checked in; run this after a change here."""

import pathlib
import struct

folder = pathlib.Path(__file__).parent / "corpus" / "tokens"
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
    "evaluation": case(TYPED, 4, 0, with_header(20240522, 1, 20, narrow(1, 20))),
}

folder.mkdir(parents=True, exist_ok=True)
for name, content in seeds.items():
    (folder / name).write_bytes(content)
