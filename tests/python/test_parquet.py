"""Parquet files as pyarrow writes them, read as pyarrow reads them."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import feedline

pa = pytest.importorskip("pyarrow", reason="pyarrow writes the files")
pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow writes the files")

pytestmark = pytest.mark.skipif(
    not feedline.build_info()["parquet"], reason="built without Arrow's C++ libraries"
)

ROWS = 103


def numbers(kind: str) -> Any:
    random = np.random.default_rng(7)
    if kind == "bool":
        return pa.array(random.integers(0, 2, ROWS).astype(bool))
    if kind.startswith("float"):
        return pa.array(random.standard_normal(ROWS).astype(kind))
    limits = np.iinfo(kind)
    return pa.array(random.integers(limits.min, limits.max, ROWS, kind, endpoint=True))


NUMBERS = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
NUMBERS += ["float16", "float32", "float64"]


def runs(count: int, of: Any, least: int = 0) -> Any:
    random = np.random.default_rng(3)
    return pa.array(
        [random.integers(0, 90, least + i % 7).tolist() for i in range(count)], type=of
    )


def padded(values: list[Any], dtype: Any) -> np.ndarray[Any, Any]:
    longest = max(len(each) for each in values)
    out = np.zeros((len(values), longest), dtype)
    for i, each in enumerate(values):
        out[i, : len(each)] = each
    return out


def everything(data: feedline.Dataset) -> dict[str, np.ndarray[Any, Any]]:
    rows = [data[i] for i in range(len(data))]
    return {name: np.stack([row[name] for row in rows]) for name in rows[0]}


@pytest.mark.parametrize(
    "compression, group",
    [("none", 1), ("snappy", 10), ("gzip", 37), ("zstd", 1000), ("lz4", 50), ("brotli", 103)],
)
def test_numbers(tmp_path: Path, compression: str, group: int) -> None:
    table = pa.table({kind: numbers(kind) for kind in NUMBERS})
    file = tmp_path / "a.parquet"
    pq.write_table(table, file, row_group_size=group, compression=compression)
    got = everything(feedline.open(file))
    read = pq.read_table(file)
    for kind in NUMBERS:
        wanted = read[kind].to_numpy()
        assert got[kind].dtype == wanted.dtype
        assert got[kind].tobytes() == wanted.tobytes()


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("dictionary", [False, True])
def test_encodings(tmp_path: Path, version: str, dictionary: bool) -> None:
    table = pa.table({"x": numbers("int32"), "t": pa.array([f"text {i % 5}" for i in range(ROWS)])})
    file = tmp_path / "a.parquet"
    pq.write_table(
        table, file, row_group_size=40, data_page_version=version, use_dictionary=dictionary
    )
    got = everything(feedline.open_parquet(file))
    assert got["x"].tobytes() == table["x"].to_numpy().tobytes()
    for text, row, length in zip(table["t"].to_pylist(), got["t"], got["t_length"]):
        assert row[:length].tobytes().decode() == text


@pytest.mark.parametrize(
    "of, dtype, unit",
    [
        (pa.date32(), "int32", "days"),
        (pa.time32("ms"), "int32", "milliseconds"),
        (pa.time64("us"), "int64", "microseconds"),
        (pa.timestamp("us", tz="Europe/Rome"), "int64", "microseconds"),
        (pa.timestamp("ns"), "int64", "nanoseconds"),
        (pa.duration("ms"), "int64", "milliseconds"),
    ],
)
def test_dates_are_counts(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, of: Any, dtype: str, unit: str
) -> None:
    counts = np.arange(ROWS) * 977
    column = pa.array(counts.astype(dtype)).cast(of)
    pq.write_table(pa.table({"when": column}), tmp_path / "a")
    got = everything(feedline.open(tmp_path / "a"))["when"]
    assert got.dtype == dtype
    assert got.tolist() == counts.tolist()


@pytest.mark.parametrize("make", [pa.list_, pa.large_list])
@pytest.mark.parametrize("kind", ["int64", "float32", "uint8", "bool", "float16"])
def test_lists_are_ragged(tmp_path: Path, make: Any, kind: str) -> None:
    dtype = np.dtype(kind)
    values = [np.arange(i % 7).astype(dtype).tolist() for i in range(ROWS)]
    of = make(pa.from_numpy_dtype(dtype))
    column = pa.array([np.array(each, dtype) for each in values], type=of)
    pq.write_table(pa.table({"x": column}), tmp_path / "a", row_group_size=11)
    got = everything(feedline.open(tmp_path / "a"))
    assert got["x_length"].tolist() == [len(each) for each in values]
    assert got["x"].tobytes() == padded(values, dtype).tobytes()
    alone = feedline.open_parquet_ragged(tmp_path / "a", "x")
    assert len(alone) == ROWS


def test_lists_of_fixed_size(tmp_path: Path) -> None:
    flat = np.arange(ROWS * 6, dtype=np.int16)
    rows = pa.FixedSizeListArray.from_arrays(pa.array(flat), 6)
    points = pa.FixedSizeListArray.from_arrays(pa.array(flat), 3)
    boxes = pa.FixedSizeListArray.from_arrays(points, 2)
    pairs = pa.list_(pa.list_(pa.float32(), 2))
    several = pa.array([[[1.0, 2.0]] * (i % 3) for i in range(ROWS)], pairs)
    keys = pa.array([bytes([i, 1, 2]) for i in range(ROWS)], pa.binary(3))
    table = pa.table({"rows": rows, "boxes": boxes, "several": several, "key": keys})
    pq.write_table(table, tmp_path / "a", row_group_size=20)
    got = everything(feedline.open(tmp_path / "a"))
    assert np.array_equal(got["rows"], flat.reshape(ROWS, 6))
    assert np.array_equal(got["boxes"], flat.reshape(ROWS, 2, 3))
    assert got["several"].shape == (ROWS, 2, 2)
    assert got["several_length"].tolist() == [i % 3 for i in range(ROWS)]
    assert got["key"].tobytes() == b"".join(keys.to_pylist())


@pytest.mark.parametrize("of", [pa.string(), pa.binary(), pa.large_string(), pa.large_binary()])
@pytest.mark.parametrize("is_dictionary", [False, True])
def test_texts_and_dictionaries(tmp_path: Path, of: Any, is_dictionary: bool) -> None:
    values = [f"{'ü' * (i % 4)}{i % 9}" for i in range(ROWS)]
    if "binary" in str(of):
        values = [each.encode() for each in values]  # type: ignore[misc]
    column = pa.array(values, of)
    if is_dictionary:
        column = column.dictionary_encode()
    pq.write_table(pa.table({"t": column}), tmp_path / "a", row_group_size=25)
    got = everything(feedline.open(tmp_path / "a"))
    for value, row, length in zip(values, got["t"], got["t_length"]):
        wanted = value.encode() if isinstance(value, str) else value
        assert row[:length].tobytes() == wanted


def test_dictionaries_of_numbers(tmp_path: Path) -> None:
    column = pa.array([i % 5 * 1.5 for i in range(ROWS)]).dictionary_encode()
    pq.write_table(pa.table({"x": column}), tmp_path / "a", row_group_size=25)
    got = everything(feedline.open(tmp_path / "a"))
    assert got["x"].tolist() == [i % 5 * 1.5 for i in range(ROWS)]


NULLS: dict[str, Any] = {
    "number": pa.array([1, None, 3, 4], pa.int32()),
    "flag": pa.array([True, None, False, True]),
    "text": pa.array(["a", None, "ccc", ""]),
    "words": pa.array([[1], None, [3, 4], []], pa.list_(pa.int64())),
    "holes": pa.array([[1], [2, None], [3, 4], []], pa.list_(pa.int64())),
    "fixed": pa.array([[1, 2], None, [5, 6], [7, 8]], pa.list_(pa.int8(), 2)),
    "code": pa.array([1.5, None, 1.5, 2.5]).dictionary_encode(),
}


def lists_of_one_size_may_have_nulls(folder: Path) -> bool:
    """Whether the Arrow that feedline is built with reads these; an older one is named."""
    pq.write_table(pa.table({"fixed": NULLS["fixed"]}), folder / "tried")
    try:
        feedline.open(folder / "tried", fill_nulls={"fixed": 0})[0]
    except feedline.DatasetError as fault:
        if "Expected all lists" not in str(fault):
            raise
        assert re.search(r"Arrow \d+\.\S+ may be unable .* Arrow 26 reads them", str(fault))
        return False
    return True


@pytest.mark.parametrize("name", NULLS)
def test_a_null_is_an_error_with_row_and_column(tmp_path: Path, name: str) -> None:
    if name == "fixed" and not lists_of_one_size_may_have_nulls(tmp_path):
        pytest.skip("this Arrow cannot read lists of one size that have nulls")
    table = pa.table({"id": list(range(4)), name: NULLS[name]})
    pq.write_table(table, tmp_path / "a", row_group_size=3)
    data = feedline.open(tmp_path / "a")
    for i in (0, 2, 3):
        assert data[i]["id"] == i
    with pytest.raises(feedline.DatasetError) as caught:
        data[1]
    assert f"a: field '{name}', sample 1: row 1 of row group 0: is null" in str(caught.value)
    assert "fill_nulls" in str(caught.value)


def test_nulls_are_filled(tmp_path: Path) -> None:
    if not lists_of_one_size_may_have_nulls(tmp_path):
        pytest.skip("this Arrow cannot read lists of one size that have nulls")
    pq.write_table(pa.table(NULLS), tmp_path / "a", row_group_size=3)
    fill = {name: 0 if name == "flag" else 9 for name in NULLS}
    got = everything(feedline.open(tmp_path / "a", fill_nulls=fill))
    assert got["number"].tolist() == [1, 9, 3, 4]
    assert got["flag"].tolist() == [True, False, False, True]
    assert got["text_length"].tolist() == [1, 0, 3, 0]
    assert got["words_length"].tolist() == [1, 0, 2, 0]
    assert got["holes"][1].tolist() == [2, 9]
    assert got["fixed"].tolist() == [[1, 2], [9, 9], [5, 6], [7, 8]]
    assert got["code"].tolist() == [1.5, 9, 1.5, 2.5]
    with pytest.raises(feedline.UsageError, match="300"):
        feedline.open(tmp_path / "a", fill_nulls={"fixed": 300})
    with pytest.raises(feedline.UsageError, match="fill_nulls names 'x'"):
        feedline.open(tmp_path / "a", fill_nulls={"x": 0})


def test_members_of_structs(tmp_path: Path) -> None:
    answers = [{"start": i, "texts": [i] * (i % 3), "in": {"deep": i * 0.5}} for i in range(ROWS)]
    pq.write_table(pa.table({"answer": answers}), tmp_path / "a", row_group_size=30)
    got = everything(feedline.open(tmp_path / "a"))
    assert got["answer.start"].tolist() == list(range(ROWS))
    assert got["answer.texts_length"].tolist() == [i % 3 for i in range(ROWS)]
    assert got["answer.in.deep"].tolist() == [i * 0.5 for i in range(ROWS)]
    answers[5] = None  # type: ignore[call-overload]
    pq.write_table(pa.table({"answer": answers}), tmp_path / "b", row_group_size=30)
    with pytest.raises(feedline.DatasetError, match="sample 5: row 5 of row group 0: is null"):
        feedline.open(tmp_path / "b", fields=["answer.start"])[5]


def test_what_cannot_be_a_field_is_told(tmp_path: Path) -> None:
    table = pa.table(
        {
            "x": [1, 2],
            "price": pa.array([1, 2]).cast(pa.decimal128(22, 2)),
            "map": pa.array([[("a", 1)], []], pa.map_(pa.string(), pa.int32())),
            "nested": pa.array([[[1], [2, 3]], []]),
            "tags": pa.array([["a"], ["b", "c"]]),
            "nothing": pa.nulls(2),
        }
    )
    pq.write_table(table, tmp_path / "a")
    listed = {each.name: each.left_out for each in feedline.list_fields(tmp_path / "a")}
    assert listed["x"] == ""
    assert "decimal128(22, 2)" in listed["price"] and "float64" in listed["price"]
    assert "map" in listed["map"]
    assert "lists of what is no number" in listed["nested"]
    assert "lists of what is no number" in listed["tags"]
    assert "nulls alone" in listed["nothing"]
    assert [each.name for each in feedline.open(tmp_path / "a").fields] == ["x"]
    with pytest.raises(feedline.UsageError, match="'price' cannot be a field: it has values of"):
        feedline.open(tmp_path / "a", fields=["price"])
    with pytest.raises(feedline.UsageError, match="'y'"):
        feedline.open(tmp_path / "a", fields=["y"])


def jpeg(seed: int, height: int = 40, width: int = 30) -> bytes:
    from PIL import Image

    pixels = np.random.default_rng(seed).integers(0, 255, (height, width, 3), np.uint8)
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "JPEG")
    return out.getvalue()


def test_images_as_the_hub_stores_them(tmp_path: Path) -> None:
    pytest.importorskip("PIL")
    if not feedline.build_info()["jpeg"]:
        pytest.skip("built without libjpeg")
    files = [jpeg(i) for i in range(30)]
    images = [{"bytes": each, "path": f"{i}.jpg"} for i, each in enumerate(files)]
    table = pa.table({"image": images, "label": list(range(30)), "plain": files})
    pq.write_table(table, tmp_path / "a", row_group_size=7)
    how = feedline.ImageOptions(height=16, width=12)
    got = everything(feedline.open(tmp_path / "a", image=how))
    assert got["image"].shape == (30, 16, 12, 3)
    assert got["label"].tolist() == list(range(30))
    assert np.array_equal(got["image"], got["plain"])
    for i, each in enumerate(files):
        (tmp_path / "c" / "x").mkdir(parents=True, exist_ok=True)
        (tmp_path / "c" / "x" / f"{i:02}.jpg").write_bytes(each)
    folder, _ = feedline.open_image_folder(tmp_path / "c", image=how)
    assert np.array_equal(got["image"], everything(folder)["image"])
    stored = everything(feedline.open_parquet(tmp_path / "a", fields=["image"]))
    for each, row, length in zip(files, stored["image"], stored["image_length"]):
        assert row[:length].tobytes() == each


def test_several_files_shuffled_sharded_resumed(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    first = 0
    for i, rows in enumerate((50, 33, 0, 61)):
        words = [[k] * (k % 5) for k in range(first, first + rows)]
        ids = pa.array(range(first, first + rows), pa.int64())
        table = pa.table({"id": ids, "w": pa.array(words, pa.list_(pa.int32()))})
        name = f"train-{i:05}-of-00004.parquet"
        pq.write_table(table, tmp_path / "data" / name, row_group_size=9)
        first += rows
    data = feedline.open(tmp_path)
    assert len(data) == first
    assert len(feedline.open(tmp_path / "data" / "*.parquet")) == first
    orders = []
    for readers in (1, 4):
        sampler = feedline.shuffle(seed=3, within=4)
        loader = feedline.Loader(data, sampler, batch_size=16, readers=readers)
        seen = []
        for batch in loader:
            arrays = batch.numpy()
            for key, length, row in zip(arrays["id"], arrays["w_length"], arrays["w"]):
                assert length == key % 5
                assert row[:length].tolist() == [key] * length
                seen.append(int(key))
        assert sorted(seen) == list(range(first - first % 16)) or len(set(seen)) == len(seen)
        orders.append(seen)
    assert orders[0] == orders[1]
