#!/usr/bin/env python3
"""Writes the NumPy reader's seed corpus, tests/fuzz/corpus/npy: one small file for each way a file
can be right or wrong. The files are checked in; run this after a change here."""

import pathlib
import struct

folder = pathlib.Path(__file__).parent.parent / "corpus" / "npy"


def array(dictionary, payload, version=1):
    length_bytes = 2 if version == 1 else 4
    text = dictionary.encode()
    text += b" " * (-(8 + length_bytes + len(text) + 1) % 64) + b"\n"
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + length + text + payload


def header(descr, shape, fortran=False):
    return f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}"


def counting(count):
    return bytes(i % 251 for i in range(count))


whole = array(header("<i2", "(3, 2)"), counting(12))
seeds = {
    "empty": b"",
    "magic_only": b"\x93NUMPY",
    "magic_wrong": b"PK\3\4" + bytes(20),
    "version_unknown": b"\x93NUMPY\4\0" + bytes(8),
    "length_cut": b"\x93NUMPY\2\0\x10\0",
    "length_huge": b"\x93NUMPY\2\0\xff\xff\xff\xff{",
    "header_cut": whole[:40],
    "elements_cut": whole[:-1],
    "over_long": whole + b"\0",
    "twice": whole + whole,
    "order_little": whole,
    "order_big": array(header(">i4", "(3,)"), counting(12)),
    "order_native": array(header("=u8", "(2, 1)"), counting(16)),
    "order_none": array(header("f4", "(3,)"), counting(12)),
    "bool": array(header("|b1", "(4,)"), bytes([0, 1, 1, 0])),
    "half": array(header("<f2", "(2, 2)"), counting(8)),
    "double": array(header(">f8", "(2,)"), counting(16)),
    "version_2": array(header("|u1", "(2, 3)"), counting(6), 2),
    "version_3": array(header("|u1", "(2, 3)"), counting(6), 3),
    "fortran_2": array(header("|u1", "(3, 4)", True), counting(12)),
    "fortran_3": array(header(">u2", "(3, 2, 4)", True), counting(48)),
    "fortran_4": array(header("<f8", "(2, 3, 1, 2)", True), counting(96)),
    "fortran_1": array(header("|i1", "(5,)", True), counting(5)),
    "fortran_of_ones": array(header("<u4", "(5, 1, 1)", True), counting(20)),
    "rank_64": array(header("|u1", "(2," + "1," * 63 + ")"), counting(2)),
    "rank_65": array(header("|u1", "(2," + "1," * 64 + ")"), counting(2)),
    "python_2": array("{'descr': '|u1', 'fortran_order': False, 'shape': (2L, 3L)}", counting(6)),
    "other_order": array('{"shape":(6,),"fortran_order":False,"descr":"|u1"}', counting(6)),
    "spaces": array("{ 'descr' :\t'|u1' , 'fortran_order' : True , 'shape' : ( 2 , 3 , ) , }",
                    counting(6)),
    "no_tuple": array(header("|u1", "(6)"), counting(6)),
    "key_twice": array("{'shape': (6,), 'shape': (6,)}", counting(6)),
    "key_unknown": array("{'order': 'C'}", counting(6)),
    "key_missing": array("{'descr': '|u1', 'shape': (6,)}", counting(6)),
    "string_open": array("{'descr': '|u1", counting(6)),
    "negative": array(header("|u1", "(-6,)"), counting(6)),
    "length_overflow": array(header("|u1", "(18446744073709551616,)"), counting(6)),
    "bytes_overflow": array(header("<f8", "(4294967296, 4294967296)"), counting(6)),
    "huge_claim": array(header("<f8", "(1000000000000,)"), counting(6)),
    "scalar": array(header("|u1", "()"), counting(1)),
    "no_samples": array(header("|u1", "(0, 3)"), b""),
    "no_extent": array(header("|u1", "(3, 0)"), b""),
    "complex": array(header("<c8", "(1,)"), counting(8)),
    "object": array(header("|O", "(1,)"), counting(8)),
    "string": array(header("<U2", "(1,)"), counting(8)),
    "raw": array(header("|V2", "(3,)"), counting(6)),
    "records": array("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}",
                     counting(4)),
}

folder.mkdir(parents=True, exist_ok=True)
for name, content in seeds.items():
    (folder / name).write_bytes(content)
