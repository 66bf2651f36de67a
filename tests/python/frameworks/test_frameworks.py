"""Training by frameworks: killed, and resumed by another number of ranks, nothing changes."""

import dataclasses
import importlib.util
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import feedline

LOOPS = Path(__file__).resolve().parent / "loops"
EPOCHS, GLOBAL_BATCH, SAMPLES = 3, 8, 96
STEPS = EPOCHS * SAMPLES // GLOBAL_BATCH


def launch(loop, folder, ranks, kill_at=0):
    """A loop on some ranks under torchrun; whether it ended well."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    ran = subprocess.run(
        [sys.executable, "-m", "torch.distributed.run", f"--nproc-per-node={ranks}"]
        + [f"--master-port={port}", str(LOOPS / f"{loop}_loop.py"), str(folder)]
        + [f"--kill-at={kill_at}"],
        env={**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
        timeout=300,
    )
    words = ran.stderr[:3000] + " … " + ran.stderr[-3000:]  # a rank's own come first
    assert (ran.returncode == 0) == (kill_at == 0), words
    assert kill_at == 0 or "exitcode  : -9 " in ran.stderr, words  # by no fault of its own
    return ran


def trained_on(folder):
    """Samples of each step's global batch, in the order of ranks; those of the last run to take
    the step."""
    steps = {}
    for rank in range(4):
        path = folder / f"rank{rank}.txt"
        for line in path.read_text().splitlines() if path.exists() else ():
            step, world, *samples = map(int, line.split())
            runs = steps.setdefault(step, {})
            if rank == 0:
                runs.pop(world, None)
            runs[world] = [*runs.get(world, []), *samples]
    return steps


def expected():
    order = feedline.shuffle(seed=11)
    samples = np.concatenate([order.indices(SAMPLES, epoch) for epoch in range(EPOCHS)])
    return samples.astype(int).reshape(STEPS, GLOBAL_BATCH).tolist()


@pytest.mark.parametrize(
    ("loop", "package"),
    [
        ("lightning", "lightning"),
        ("accelerate", "accelerate"),
        ("transformers", "transformers"),
        ("torchtitan", "torch"),
    ],
)
def test_a_run_that_is_killed_goes_on_with_other_numbers_of_ranks(loop, package, tmp_path):
    for needed in ("torch", package):
        if importlib.util.find_spec(needed) is None:
            pytest.skip(f"{needed} is not installed")
    import torch

    launch(loop, tmp_path, ranks=2, kill_at=7)  # goes on after step 5, in the first epoch
    launch(loop, tmp_path, ranks=1, kill_at=22)  # goes on after step 20, in the second
    launch(loop, tmp_path, ranks=4)
    steps = trained_on(tmp_path)
    assert sorted(steps) == list(range(1, STEPS + 1))
    wanted = expected()
    for step, runs in steps.items():
        for world, samples in runs.items():
            assert samples == wanted[step - 1], f"step {step} by {world} ranks"
    assert set(steps[6]) == {2, 1} and set(steps[21]) == {1, 4} and set(steps[STEPS]) == {4}

    whole = tmp_path / "whole"
    whole.mkdir()
    launch(loop, whole, ranks=1)
    found = torch.load(tmp_path / "parameters.pt")
    never_killed = torch.load(whole / "parameters.pt")
    for name, value in never_killed.items():
        assert torch.equal(found[name], value), name


def test_ranks_of_accelerate_share_a_plain_loader_and_metrics_have_no_repeats(tmp_path):
    pytest.importorskip("torch")
    pytest.importorskip("accelerate")
    ran = launch("metrics", tmp_path, ranks=2)
    assert "UserWarning: feedline.Loader: rank 0 of 2" in ran.stderr
    assert "feedline.Loader: rank 1 of 2" not in ran.stderr
    first, second = (json.loads((tmp_path / f"taken{rank}.json").read_text()) for rank in (0, 1))
    assert [a + b for a, b in zip(first, second)] == np.arange(SAMPLES).reshape(12, 8).tolist()
    seen, synchronized = json.loads((tmp_path / "seen.json").read_text())
    assert seen == list(range(13)) and synchronized == [True, True]


def test_a_loader_made_before_lightning_starts_its_ranks_is_shared(tmp_path):
    pytest.importorskip("torch")
    pytest.importorskip("lightning")
    ran = subprocess.run(
        [sys.executable, str(LOOPS / "lightning_script.py"), str(tmp_path)],
        env={**os.environ, "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stderr[:3000] + " … " + ran.stderr[-3000:]
    ranks = [(tmp_path / f"seen{rank}.txt").read_text().split() for rank in (0, 1)]
    first, second = (np.array(list(map(int, each))).reshape(-1, 4) for each in ranks)
    wanted = expected()[: 2 * SAMPLES // GLOBAL_BATCH]
    assert np.concatenate([first, second], axis=1).tolist() == wanted


def test_a_data_module_evaluates_each_sample_once():
    lightning = pytest.importorskip("lightning.pytorch")
    import feedline.lightning

    seen = {"validation": [], "test": []}

    class Module(lightning.LightningModule):
        def validation_step(self, batch, index):
            seen["validation"] += batch["y"].tolist()

        def test_step(self, batch, index):
            seen["test"] += batch["y"].tolist()

    numbers = feedline.make_memory_dataset({"y": np.arange(21)})
    data = feedline.lightning.DataModule(val=numbers, test=numbers, global_batch=4, drop_last=True)
    trainer = lightning.Trainer(
        accelerator="cpu", devices=1, logger=False, enable_progress_bar=False
    )
    trainer.validate(Module(), data, verbose=False)
    trainer.test(Module(), data, verbose=False)
    assert seen == {"validation": list(range(21)), "test": list(range(21))}


def test_torchtitan_builds_a_loader_from_a_config():
    dataloader = pytest.importorskip("torchtitan.components.dataloader")
    import feedline.torchtitan

    class Tokens(feedline.torchtitan.DataLoader):
        @dataclasses.dataclass(kw_only=True, slots=True)
        class Config(dataloader.BaseDataLoader.Config):
            seed: int = 0

        def __init__(self, config, *, dp_rank, dp_world_size, local_batch_size, **_):
            tokens = np.arange(40).reshape(10, 4)
            dataset = feedline.make_memory_dataset({"input": tokens, "target": tokens + 1})
            super().__init__(
                dataset,
                dp_rank=dp_rank,
                dp_world_size=dp_world_size,
                local_batch_size=local_batch_size,
                sampler=feedline.shuffle(seed=config.seed),
            )

    loader = Tokens.Config(seed=4).build(
        dp_rank=1, dp_world_size=2, tokenizer=None, seq_len=4, local_batch_size=2
    )
    assert isinstance(loader, dataloader.BaseDataLoader)
    inputs, labels = next(iter(loader))
    assert (inputs["input"] + 1 == labels).all()
    assert (inputs["input"][:, 0] // 4).tolist() == (
        feedline.shuffle(seed=4).indices(10, 0, 2, 2).tolist()
    )


def test_workers_of_a_dataloader_that_are_spawned_hold_a_dataset():
    data = pytest.importorskip("torch.utils.data")
    dataset = feedline.make_memory_dataset({"x": np.arange(20).reshape(10, 2)})
    loader = data.DataLoader(dataset, batch_size=5, num_workers=2, multiprocessing_context="spawn")
    seen = [batch["x"][:, 0].tolist() for batch in loader]
    assert seen == [[0, 2, 4, 6, 8], [10, 12, 14, 16, 18]]
