"""Writes the corpora columns, shard_index, lmdb and array_record, from tests/fixtures."""

from __future__ import annotations

import gzip
import json
import shutil
import struct
from pathlib import Path

HERE = Path(__file__).parent.parent
FIXTURES = HERE.parent / "fixtures"


def write(corpus: str, files: dict[str, bytes]) -> None:
    folder = HERE / "corpus" / corpus
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)


def record(encoding: str, value: bytes, sized: bool = True) -> bytes:
    size = struct.pack("<I", len(value)) if sized else b""
    n = struct.pack("<q", 7)
    return encoding.encode() + b"\0" + size + n + value


def main() -> None:
    write(
        "columns",
        {
            "ndarray": record("ndarray", b"\x21\x08\x01\x02" + bytes(8)),
            "ndarray_typed": record("ndarray:int32", b"\x05\x02\0" + bytes(8)),
            "ndarray_fixed": record("ndarray:uint8:2,3", bytes(6), sized=False),
            "str": record("str", b"text"),
            "digits": record("str_int", b"-12"),
            "real": record("str_float", b"1e-3"),
            "pil": record("pil", struct.pack("<III", 2, 1, 1) + b"L" + b"xy"),
            "pkl": record("pkl", b"x"),
            "tensor": record("!tensor", struct.pack(">III", 17, 1, 1) + bytes(8)),
            "numpy": record("!numpy", struct.pack("<III", 2, 1, 2) + bytes(8)),
            "flat": record("!no_header_tensor:17", bytes(16)),
            "cut": b"str\0\xff\xff\xff\xff" + bytes(8),
        },
    )
    mds = json.loads((FIXTURES / "mds_zstd" / "index.json").read_text())
    litdata = json.loads((FIXTURES / "litdata" / "index.json").read_text())
    write(
        "shard_index",
        {
            "mds": b"m" + json.dumps(mds).encode(),
            "litdata": b"l" + json.dumps(litdata).encode(),
            "frames": b"f" + (FIXTURES / "litdata_batch" / "chunk-0-0.bin").read_bytes(),
            "offsets": b"o" + struct.pack("<IIII", 2, 16, 17, 18) + b"ab",
            "deep": b"m" + b"[" * 100,
        },
    )
    pairs = (FIXTURES / "lmdb" / "pairs.mdb").read_bytes()
    groups = gzip.decompress((FIXTURES / "array_record" / "groups.gz").read_bytes())
    plain = gzip.decompress((FIXTURES / "array_record" / "plain.gz").read_bytes())
    chunk = int.from_bytes(groups[72:80], "little")
    write(
        "array_record",
        {
            "chunk": b"\x40" + groups[64:400],
            "block": b"\0" + groups[65536:65700],
            "records": b"\x01\x04\x0a" + groups[104 : 104 + chunk],
            "plain": b"\x01\x02\x05" + b"\0\x02\x02\x03" + b"abcde",
            "large": b"\x40" + plain[64:1000],
            "index": b"\x02" + bytes([9, 9, 4])
            + b"\x0a\x07\x08\x01\x10\x02\x18\x03"[:9].ljust(9, b"\0")
            + b"\x08\x40\x10\x05\x18\x02\0\0\0" + b"\x08\x80\x01\x18",
        },
    )
    write("lmdb", {"pairs": pairs, "cut": pairs[:6000], "head": pairs[:200]})


if __name__ == "__main__":
    main()
