"""TFRecord files as their own writers write them, through feedline."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import feedline

tfrecord = pytest.importorskip("tfrecord", reason="the package tfrecord writes the files")


def write(path: Path, records: list[dict[str, Any]]) -> None:
    writer = tfrecord.TFRecordWriter(str(path))
    for record in records:
        writer.write(record)
    writer.close()


def records(count: int) -> list[dict[str, Any]]:
    random = np.random.default_rng(1)
    return [
        {
            "label": (i - 3, "int"),
            "box": (random.random(4).astype(np.float32).tolist(), "float"),
            "tokens": (random.integers(-(2**40), 2**40, i % 7 + 1).tolist(), "int"),
            "raw": (random.bytes(12), "byte"),
            "text": (b"x" * (i % 5), "byte"),
        }
        for i in range(count)
    ]


def test_the_same_values_as_were_written(tmp_path: Path) -> None:
    wanted = records(57)
    write(tmp_path / "a.tfrecord", wanted[:30])
    write(tmp_path / "b.tfrecord", wanted[30:])
    data = feedline.open(
        tmp_path / "*.tfrecord", pad={"tokens": feedline.PadOptions(length=8, value=-1)}
    )
    assert len(data) == 57
    for i, record in enumerate(wanted):
        got = data[i]
        assert got["label"] == record["label"][0]
        assert np.array_equal(got["box"], np.float32(record["box"][0]))
        tokens = record["tokens"][0]
        assert got["tokens_length"] == len(tokens)
        assert got["tokens"].tolist() == tokens + [-1] * (8 - len(tokens))
        assert got["raw"].tobytes() == record["raw"][0]
        assert got["text"][: got["text_length"]].tobytes() == record["text"][0]


def test_batches_are_shuffled_and_read_once(tmp_path: Path) -> None:
    write(tmp_path / "a", records(57))
    data = feedline.open_tfrecord(tmp_path / "a", fields=["label"], index_folder=tmp_path)
    loader = feedline.Loader(data, feedline.shuffle(seed=1), batch_size=8, readers=3)
    labels = [int(x) for batch in loader.epoch(0) for x in batch["label"].numpy()]
    assert sorted(labels) == list(range(-3, 54))
    assert labels != sorted(labels)
    assert len(list(tmp_path.glob("a-*.index"))) == 1


def test_sequences_are_ragged_over_their_steps(tmp_path: Path) -> None:
    writer = tfrecord.TFRecordWriter(str(tmp_path / "a"))
    for steps in (3, 1, 2):
        writer.write(
            {"id": (steps, "int")},
            {"pair": ([[k, k + 0.5] for k in range(steps)], "float")},
        )
    writer.close()
    data = feedline.open(tmp_path / "a")
    assert data[1]["pair_length"] == 1
    assert data[0]["pair"].tolist() == [[0, 0.5], [1, 1.5], [2, 2.5]]
    features = {"id": feedline.TfrecordFeature(shape=[])}
    assert feedline.open_tfrecord(tmp_path / "a", features=features)[2]["id"] == 2


def test_a_flipped_bit_is_an_error_with_the_sample(tmp_path: Path) -> None:
    write(tmp_path / "a", records(3))
    content = bytearray((tmp_path / "a").read_bytes())
    (length,) = struct.unpack("<Q", content[:8])
    content[length + 16 + 20] ^= 1
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(feedline.DatasetError, match="checksum of the record is wrong"):
        feedline.open(tmp_path / "a", fields=["label"])
