#!/usr/bin/env python3
"""Writes the tar reader's seed corpus, tests/fuzz/corpus/tar: one small archive for each way one
can be right or wrong. The files are checked in; run this after a change here."""

import gzip
import io
import pathlib
import tarfile

folder = pathlib.Path(__file__).parent.parent / "corpus" / "tar"
END = bytes(1024)


def member(name, content=b"x", form=tarfile.USTAR_FORMAT, **says):
    info = tarfile.TarInfo(name)
    info.size = len(content)
    for key, value in says.items():
        setattr(info, key, value)
    padding = bytes(-len(content) % 512)
    return info.tobuf(form, "utf-8", "surrogateescape") + content + padding


def header(name, size, kind, link="", form=tarfile.GNU_FORMAT):
    info = tarfile.TarInfo(name)
    info.size, info.type, info.linkname = size, kind, link
    return info.tobuf(form, "utf-8", "surrogateescape")


def with_bytes(block, at, content):
    block = bytearray(block)
    block[at : at + len(content)] = content
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block[:512])
    return bytes(block)


def pax(records, kind=b"x"):
    begin = header("pax", len(records), kind, form=tarfile.USTAR_FORMAT)
    return begin + records + bytes(-len(records) % 512)


sample = member("a/1.jpg", b"image") + member("a/1.cls", b"7")
long_name = "n" * 180 + ".jpg"
seeds = {
    "empty": b"",
    "zeros": END,
    "two_samples": sample + member("a/2.png", bytes(600)) + member("a/2.cls", b"8") + END,
    "incomplete": sample + member("a/2.cls", b"8") + END,
    "twice": sample + member("a/1.CLS", b"8") + END,
    "no_sample": member("README.md") + member(".hidden.jpg") + member("__meta__/1.jpg") + END,
    "prefix": member("p" * 90 + "/" + "q" * 60 + ".jpg") + END,
    "gnu_long": member(long_name, form=tarfile.GNU_FORMAT) + END,
    "gnu_long_link": header("1.jpg", 0, tarfile.SYMTYPE, "l" * 180) + END,
    "pax_path": member(long_name + "é", form=tarfile.PAX_FORMAT) + END,
    "pax_size": pax(b"10 size=5\n") + member("1.jpg", b"12345") + END,
    "pax_global": pax(b"14 comment=ab\n", b"g") + sample + END,
    "pax_sparse": pax(b"22 GNU.sparse.major=1\n") + sample + END,
    "pax_damaged": pax(b"99 path=a\n") + sample + END,
    "base256": with_bytes(member("1.jpg", b"12345"), 124, b"\x80" + bytes(10) + b"\5") + END,
    "base256_huge": with_bytes(member("1.jpg"), 124, b"\x80\0\0\0\x7f" + b"\xff" * 7) + END,
    "base256_minus": with_bytes(member("1.jpg"), 124, b"\xff" * 12) + END,
    "size_lies": with_bytes(member("1.jpg"), 124, b"77777777777\0") + END,
    "size_no_number": with_bytes(member("1.jpg"), 124, b"12x45678901\0") + END,
    "size_short": with_bytes(member("1.jpg", bytes(600)), 124, b"00000000001\0") + END,
    "checksum_wrong": with_bytes(member("1.jpg"), 0, b"2")[:148] + b"0000000 "
                      + member("1.jpg")[156:] + END,
    "old": with_bytes(member("1.jpg"), 257, bytes(8)) + END,
    "hard_link": header("1.jpg", 0, tarfile.LNKTYPE, "0.jpg") + END,
    "symbolic_link": sample + header("2.jpg", 0, tarfile.SYMTYPE, "/etc/passwd") + END,
    "folder": header("a", 0, tarfile.DIRTYPE) + sample + END,
    "device": header("1.jpg", 0, tarfile.CHRTYPE) + END,
    "sparse": header("1.jpg", 0, tarfile.GNUTYPE_SPARSE) + END,
    "volume": header("1.jpg", 0, b"M") + END,
    "unknown_type": with_bytes(member("1.jpg"), 156, b"Z") + END,
    "absolute": with_bytes(member("1.jpg"), 0, b"/1.jpg") + END,
    "parent": member("a/../../1.jpg") + END,
    "dots": member("./././1.jpg") + END,
    "dots_and_slashes": member("./././/.jpg", b"1") + sample + END,
    "cut_content": member("1.jpg", bytes(600))[:700],
    "cut_header": sample[:-300],
    "cut_end": sample,
    "one_zero_block": sample + bytes(512),
    "joined": sample + END + sample + END,
    "dangling_name": header("n", 4, b"L") + b"abc\0" + bytes(508) + END,
    "gzip": gzip.compress(sample + END, mtime=0),
    "no_tar": b"hello, world" * 50,
}

folder.mkdir(parents=True, exist_ok=True)
for old in folder.iterdir():
    old.unlink()
for name, content in seeds.items():
    (folder / name).write_bytes(content)
print(f"{len(seeds)} files in {folder}")
