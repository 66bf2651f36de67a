"""feedline's loader in DLIO (samples/dlio), tried with DLIO itself."""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import feedline

SAMPLE = pathlib.Path(__file__).resolve().parents[3] / "samples" / "dlio"

# A loader that also writes what it delivered: for each batch the sums of its samples' bytes.
RECORDING = """
import json, os
from feedline_dlio import FeedlineDataLoader

class RecordingLoader(FeedlineDataLoader):
    def next(self):
        seen = []
        for batch in super().next():
            values = batch[self._loader.dataset.fields[0].name].numpy().astype("int64")
            seen.append(values.reshape(len(values), -1).sum(axis=1).tolist())
            yield batch
        path = os.path.join(os.environ["RECORDED"], f"{self._args.my_rank}-{self._epochs}.json")
        with open(path, "w") as out:
            json.dump(seen, out)
"""


def has_dlio():
    found = subprocess.run(
        [sys.executable, "-c", "import dlio_benchmark.main"], capture_output=True, text=True
    )
    return found.returncode == 0, found.stderr.strip().splitlines()[-1:]


@pytest.fixture(scope="module")
def dlio():
    works, why = has_dlio()
    if not works:
        pytest.skip(f"DLIO (dlio-benchmark, mpi4py, an MPI library) cannot be imported: {why}")

    def run(folder, **settings):
        (folder / "recording.py").write_text(RECORDING)
        options = {
            "workflow.generate_data": "True",
            "workflow.checkpoint": "False",
            "dataset.data_folder": str(folder / "data"),
            "dataset.num_samples_per_file": 1,
            "train.epochs": 2,
            "train.computation_time": 0.001,
            "reader.read_threads": 2,
            "reader.data_loader_classname": "recording.RecordingLoader",
            "reader.data_loader_sampler": "index",
            "output.folder": str(folder / "out"),
            **settings,
        }
        command = [sys.executable, "-c", "from dlio_benchmark.main import main; main()"]
        command += ["workload=unet3d_h100", f"hydra.run.dir={folder}/hydra"]
        command += [f"++workload.{name}={value}" for name, value in options.items()]
        paths = [str(SAMPLE), str(folder), os.path.dirname(os.path.dirname(feedline.__file__))]
        paths += [os.environ.get("PYTHONPATH", "")]
        return subprocess.run(
            command,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "RECORDED": str(folder)},
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=300,
        )

    return run


@pytest.mark.parametrize("form", ["npz", "npy", "jpeg", "hdf5"])
def test_dlio_trains_with_each_sample_once_an_epoch(dlio, tmp_path, form):
    settings = {
        "dataset.format": form,
        "dataset.num_files_train": 12,
        "dataset.record_length_bytes": 4096,
        "dataset.record_length_bytes_stdev": 1024 if form in ("npz", "npy") else 0,
        "dataset.record_length_bytes_resize": 1024,
        "reader.batch_size": 1 if form in ("npz", "npy") else 3,
    }
    ran = dlio(tmp_path, **settings)
    assert ran.returncode == 0, ran.stderr
    files = sorted((tmp_path / "data" / "train").glob(f"*.{form}"))
    assert len(files) == 12
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert len(summary["metric"]["train_au_percentage"]) == 2
    if form in ("npz", "npy"):
        arrays = [np.load(file)["x"] if form == "npz" else np.load(file) for file in files]
        wanted = sorted(int(array.astype("int64").sum()) for array in arrays)
    for epoch in (1, 2):
        batches = json.loads((tmp_path / f"0-{epoch}.json").read_text())
        sums = sorted(sum(batches, []))
        assert len(sums) == 12
        if form in ("npz", "npy"):
            assert sums == wanted
    first, second = (tmp_path / f"0-{epoch}.json" for epoch in (1, 2))
    assert first.read_text() != second.read_text()  # another shuffle


def test_a_step_takes_a_batch_of_arrays_that_differ(dlio, tmp_path):
    settings = {
        "dataset.format": "npz",
        "dataset.num_files_train": 12,
        "dataset.record_length_bytes": 4096,
        "dataset.record_length_bytes_stdev": 1024,
        "dataset.record_length_bytes_resize": 1024,
        "reader.batch_size": 3,
    }
    ran = dlio(tmp_path, **settings)
    assert ran.returncode == 0, ran.stderr
    assert len(json.loads((tmp_path / "0-1.json").read_text())) == 4  # steps


def test_several_samples_an_archive_are_refused(dlio, tmp_path):
    settings = {
        "dataset.format": "npz",
        "dataset.num_files_train": 4,
        "dataset.num_samples_per_file": 2,
        "dataset.record_length_bytes": 1024,
        "dataset.record_length_bytes_stdev": 0,
        "reader.batch_size": 2,
    }
    ran = dlio(tmp_path, **settings)
    assert ran.returncode != 0
    assert "set dataset.num_samples_per_file to 1" in ran.stdout + ran.stderr
