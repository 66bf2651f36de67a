"""ArrayRecord files as their own writer writes them, through feedline."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import feedline

module = pytest.importorskip(
    "array_record.python.array_record_module", reason="the package array-record writes the files"
)


def write(path: Path, records: list[bytes], options: str = "") -> None:
    writer = module.ArrayRecordWriter(str(path), options)
    for record in records:
        writer.write(record)
    writer.close()


def records(count: int, largest: int) -> list[bytes]:
    random = np.random.default_rng(2)
    return [random.bytes(int(random.integers(0, largest))) for _ in range(count)]


@pytest.mark.parametrize("options", ["", "group_size:7", "uncompressed", "group_size:3,zstd:9"])
@pytest.mark.parametrize("largest", [40, 90_000])
def test_the_same_records_as_the_own_reader_gives(
    tmp_path: Path, options: str, largest: int
) -> None:
    wanted = records(50, largest)
    write(tmp_path / "a.array_record", wanted[:31], options)
    write(tmp_path / "b.array_record", wanted[31:], options)
    data = feedline.open_array_record(tmp_path / "*.array_record")
    assert len(data) == 50
    own = module.ArrayRecordReader(str(tmp_path / "a.array_record"))
    own_records = own.read_all()
    own.close()
    for i in np.random.default_rng(1).permutation(50).tolist():
        got = data[i]
        assert got["value"][: got["value_length"]].tobytes() == wanted[i]
        if i < 31:
            assert own_records[i] == wanted[i]


def test_examples_are_fields_and_each_is_delivered_once(tmp_path: Path) -> None:
    example_pb2 = pytest.importorskip("tfrecord.example_pb2")
    made = []
    for i in range(40):
        example = example_pb2.Example()
        example.features.feature["id"].int64_list.value.append(i)
        made.append(example.SerializeToString())
    write(tmp_path / "a", made, "group_size:4")
    data = feedline.open(tmp_path / "a")
    loader = feedline.Loader(data, feedline.shuffle(seed=1), batch_size=8, readers=3)
    seen = [i for batch in loader.epoch(0) for i in batch["id"].numpy().tolist()]
    assert sorted(seen) == list(range(40))


def test_bytes_are_elements_of_a_type(tmp_path: Path) -> None:
    rows = np.random.default_rng(3).normal(size=(20, 5)).astype(np.float32)
    write(tmp_path / "a", [row.tobytes() for row in rows])
    data = feedline.open_array_record(
        tmp_path / "a", value=feedline.ColumnOptions(dtype="float32", shape=[5])
    )
    assert np.array_equal(np.stack([data[i]["value"] for i in range(20)]), rows)


def test_what_is_not_read_says_what_to_do(tmp_path: Path) -> None:
    write(tmp_path / "a", [b"abc"] * 3, "brotli")
    with pytest.raises(feedline.DatasetError, match="Brotli.*ArrayRecordWriter"):
        feedline.open_array_record(tmp_path / "a")
