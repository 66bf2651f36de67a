#!/usr/bin/env python3
"""Writes the seed corpus of zarr_fuzz: python3 tests/fuzz/seeds/make_zarr_corpus.py"""

import gzip
import json
import pathlib
import struct
import zlib

FOLDER = pathlib.Path(__file__).parent.parent / "corpus" / "zarr"
BYTES = {"name": "bytes", "configuration": {"endian": "little"}}


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (crc & 1) * 0x82F63B78
    return struct.pack("<I", crc ^ 0xFFFFFFFF)


def write(name, version, document, chunk=b""):
    text = version + json.dumps(document)
    (FOLDER / name).write_bytes(text.encode() + b"\0" + chunk)


def v2(shape, chunks, dtype, **more):
    document = {"zarr_format": 2, "shape": shape, "chunks": chunks, "dtype": dtype}
    return document | {"fill_value": 0} | more


def v3(shape, chunk, data_type, codecs, fill=0, **more):
    return {
        "zarr_format": 3,
        "node_type": "array",
        "shape": shape,
        "data_type": data_type,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunk}},
        "chunk_key_encoding": {"name": "default"},
        "fill_value": fill,
        "codecs": codecs,
    } | more


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    plain = bytes(range(24))
    write("plain", "2", v2([5, 3], [2, 3], "<i4", compressor=None), plain)
    big = v2([6], [6], ">f4", compressor={"id": "zlib"}, order="F")
    write("zlib", "2", big, zlib.compress(plain))
    delta = [{"id": "delta", "dtype": "<i2"}, {"id": "shuffle", "elementsize": 2}, {"id": "crc32c"}]
    write("filters", "2", v2([12], [12], "<i2", filters=delta), plain + crc32c(plain))
    scale = {"id": "fixedscaleoffset", "dtype": "<f4", "astype": "|u1", "scale": 2, "offset": 1.5}
    write("scale", "2", v2([24], [24], "<f4", filters=[scale], fill_value="NaN"), plain)
    lz4 = struct.pack("<I", 24) + b"\xf0\x09" + plain
    write("lz4", "2", v2([24], [24], "|u1", compressor={"id": "lz4"}, dimension_separator="/"), lz4)
    pairs = v3([3], [3], "complex64", [BYTES, {"name": "gzip"}], [0, "NaN"])
    write("gzip", "3", pairs, gzip.compress(plain, mtime=0))
    transposed = [{"name": "transpose", "configuration": {"order": [1, 0]}}, BYTES]
    names = {"dimension_names": ["time", None]}
    write("transposed", "3", v3([5, 3], [2, 3], "int32", transposed, **names), plain)
    inner = {"chunk_shape": [8], "codecs": [BYTES], "index_codecs": [BYTES, {"name": "crc32c"}]}
    index = struct.pack("<4Q", 0, 8, 2**64 - 1, 2**64 - 1)
    sharded = [{"name": "sharding_indexed", "configuration": inner}]
    write("shard", "3", v3([40], [16], "uint8", sharded), plain[:8] + index + crc32c(index))
    start = [{"name": "sharding_indexed", "configuration": inner | {"index_location": "start"}}]
    index = struct.pack("<4Q", 36, 8, 44, 8)
    write("shard_start", "3", v3([40], [16], "uint8", start), index + crc32c(index) + plain[:16])
    huge = v3([2**60], [1], "uint8", [BYTES])
    write("huge", "3", huge)


if __name__ == "__main__":
    main()
