#!/usr/bin/env python3
"""Writes the IDX reader's seed corpus, tests/fuzz/corpus/idx: one small file for each way a file
can be right or wrong. The files are checked in; run this after a change here."""

import gzip
import pathlib
import struct

folder = pathlib.Path(__file__).parent.parent / "corpus" / "idx"
U8, I8, I16, I32, F32, F64 = 0x08, 0x09, 0x0B, 0x0C, 0x0D, 0x0E


def header(code, *extents):
    return bytes([0, 0, code, len(extents)]) + struct.pack(f">{len(extents)}I", *extents)


def packed(content):
    return gzip.compress(content, mtime=0)


pixels = header(U8, 3, 2, 2) + bytes(range(12))
seeds = {
    "u8_rank3": pixels,
    "u8_rank1": header(U8, 4) + bytes([7, 2, 1, 0]),
    "i8": header(I8, 3) + struct.pack(">3b", -128, 0, 127),
    "i16": header(I16, 2, 2) + struct.pack(">4h", -2, 258, 0, 1),
    "i32": header(I32, 2) + struct.pack(">2i", -(2**31), 16909060),
    "f32": header(F32, 2, 1) + struct.pack(">2f", 1.5, -123.0),
    "f64": header(F64, 1, 1, 2) + struct.pack(">2d", 100.5, float("nan")),
    "rank5": header(U8, 1, 2, 1, 2, 1) + bytes(4),
    "rank255": header(U8, *[1] * 255) + b"\1",
    "empty": b"",
    "magic_only": header(U8),
    "magic_wrong": b"\x50\x4b\x03\x04" + bytes(12),
    "magic_cut": b"\0\0\x08",
    "type_unknown": header(0x0A, 1) + b"\0",
    "extents_cut": header(U8, 3, 2, 2)[:10],
    "elements_cut": pixels[:-1],
    "over_long": pixels + b"\0",
    "no_samples": header(U8, 0, 28, 28),
    "no_extent": header(U8, 5, 28, 0),
    "overflow": header(U8, 2**31, 2**31, 4),
    "overflow_by_element": header(F64, 2**31, 2**30),
    "overflow_by_header": header(U8, 2**32 - 1, 641, 6700417),
    "huge_claim": header(U8, 2**31, 2**31) + bytes(3),
    "gzip": packed(pixels),
    "gzip_two_members": packed(pixels[:9]) + packed(pixels[9:]),
    "gzip_empty_member": packed(pixels) + packed(b""),
    "gzip_stored": gzip.compress(pixels, compresslevel=0, mtime=0),
    "gzip_long_runs": packed(header(U8, 40, 40) + bytes(1600)),
    "gzip_cut": packed(pixels)[:-5],
    "gzip_header_cut": packed(pixels)[:6],
    "gzip_checksum_wrong": packed(pixels)[:-8] + bytes(4) + packed(pixels)[-4:],
    "gzip_then_rubbish": packed(pixels) + b"\0",
    "gzip_then_magic": packed(pixels) + b"\x1f\x8b",
    "gzip_over_long": packed(pixels + bytes(100)),
    "gzip_elements_cut": packed(pixels[:-1]),
    "gzip_huge_claim": packed(header(U8, 2**31, 2**31) + bytes(3)),
    "gzip_bomb": packed(header(U8, 10) + bytes(1 << 20)),
    "gzip_of_gzip": packed(packed(pixels)),
    "gzip_of_nothing": packed(b""),
}

folder.mkdir(parents=True, exist_ok=True)
for name, content in seeds.items():
    (folder / name).write_bytes(content)
