"""The package is whole: version, stubs, no numpy before it is needed."""

import importlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import feedline

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = Path(feedline.__file__).parent


def test_the_version_is_that_of_the_headers():
    header = (ROOT / "include/feedline/version.hpp").read_text()
    assert ".".join(re.findall(r"VERSION_\w+ (\d+)", header)) == feedline.__version__


def test_stubs_name_all_that_there_is():
    stubs = (PACKAGE / "_feedline.pyi").read_text()
    assert (PACKAGE / "py.typed").exists()
    for name in vars(feedline._feedline):
        if not name.startswith("_"):
            assert re.search(rf"(class|def) {name}\b|^{name}: ", stubs, re.MULTILINE), name
    for wanted in (
        "action: Literal['fail', 'skip', 'substitute'] = 'fail'",
        "class Batch(Mapping[str, Tensor]):",
        "def __dlpack__",
        "def next(self, timeout",
    ):
        assert wanted in stubs, wanted


def test_stubs_are_python():
    compile((PACKAGE / "_feedline.pyi").read_text(), "_feedline.pyi", "exec")


def test_the_package_is_not_that_of_the_source_tree():
    assert ROOT / "src" not in PACKAGE.parents


def read_elf(*what):
    """Lines of readelf about the compiled module."""
    if shutil.which("readelf") is None:
        pytest.skip("there is no readelf")
    ran = subprocess.run(
        ["readelf", "--wide", *what, feedline._feedline.__file__],
        capture_output=True, text=True, check=True, env={**os.environ, "LC_ALL": "C"},
    )
    return ran.stdout.splitlines()


def test_the_module_exports_nothing_but_its_initialization():
    symbols = [line.split() for line in read_elf("--dyn-syms")]
    exported = [
        words[7] for words in symbols
        if len(words) >= 8 and words[4] in ("GLOBAL", "WEAK", "UNIQUE") and words[6] != "UND"
    ]
    assert exported == ["PyInit__feedline"]


def test_the_module_can_be_loaded_where_there_is_no_driver_and_no_cuda():
    needed = [line for line in read_elf("--dynamic") if "(NEEDED)" in line]
    assert any("libc.so" in line for line in needed)
    assert not [line for line in needed if "cuda" in line or "nvidia" in line]


def test_the_description_has_absolute_links_or_none(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "src/python"))
    metadata = importlib.import_module("index_metadata")
    text = (ROOT / metadata.PAGE).read_text()
    linked = metadata.description(text, "https://host.example/feedline", "1.2.3")
    assert "(https://host.example/feedline/blob/v1.2.3/docs/guide/options.md#" in linked
    assert "(https://host.example/feedline/blob/v1.2.3/tests/bench/results/" in linked
    targets = re.findall(r"\]\(([^)\s]+)\)", linked)
    assert len(targets) == len(re.findall(r"\]\([^)\s]+\)", text))
    assert all(target.startswith("https://") for target in targets)
    for target in targets:
        path = target.split("/blob/v1.2.3/")[1].split("#")[0]
        assert (ROOT / path).exists(), path
    bare = metadata.description(text, "", "1.2.3")
    assert "](" not in bare and "Loops and frameworks" in bare
    assert metadata.description("```\n[a](b)\n```", "", "1") == "```\n[a](b)\n```"
    monkeypatch.setenv("FEEDLINE_REPOSITORY", "host.example/feedline")
    with pytest.raises(ValueError, match="must begin with https://"):
        metadata.dynamic_metadata("urls", {}, {"version": "1.2.3"})


def test_importing_it_needs_no_numpy():
    code = "import sys, feedline; print('numpy' in sys.modules, feedline.__version__)"
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd="/"
    )
    assert ran.stdout.split() == ["False", feedline.__version__]


def test_a_gpu_that_is_not_there_is_told():
    if feedline.cuda_device_count() > 0:
        pytest.skip("there is a GPU")
    with pytest.raises(feedline.UsageError):
        feedline.make_cuda_device(0)


@pytest.mark.skipif(feedline.cuda_device_count() == 0, reason="there is no GPU")
def test_batches_on_a_gpu_have_their_content(numbered):
    torch = pytest.importorskip("torch")
    device = feedline.make_cuda_device(0)
    loader = feedline.Loader(numbered, feedline.shuffle(seed=1), device, batch_size=64)
    kept = []
    for batch in loader.epoch(0):
        tensors = batch.torch()
        assert tensors["label"].is_cuda
        described = batch["label"].__cuda_array_interface__
        assert described["data"][0] == tensors["label"].data_ptr()
        assert described["stream"] != 0
        assert tensors["label"].tolist() == batch.samples().tolist()
        kept = [*kept[-1:], (batch.samples().tolist(), tensors["row"])]
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for batch in loader.epoch(1, side):
            assert batch["label"].torch().tolist() == batch.samples().tolist()
    for samples, row in kept:
        assert row[:, 1, 3].tolist() == samples
