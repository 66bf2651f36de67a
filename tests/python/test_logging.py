"""The library's log lines are records of Python's logger 'feedline'."""

import logging
import os
import subprocess
import sys
import threading

import pytest

import feedline


class Kept(logging.Handler):
    def __init__(self):
        super().__init__()
        self.records = []
        self.came = threading.Event()

    def emit(self, record):
        self.records.append(record)
        self.came.set()


@pytest.fixture
def log():
    kept, logger = Kept(), logging.getLogger("feedline")
    before = logger.level
    logger.addHandler(kept)
    yield kept
    logger.removeHandler(kept)
    logger.setLevel(before)


def test_lines_reach_handlers_with_their_levels(log, monkeypatch):
    logging.getLogger("feedline").setLevel(logging.DEBUG)
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    feedline.sequential()  # any function looks at the logger's level
    feedline.Shard.from_environment()
    assert log.came.wait(30)
    (record,) = log.records
    assert (record.name, record.levelno) == ("feedline", logging.DEBUG)
    assert record.getMessage() == "shard: rank 1 of 2, as torchrun says (RANK, WORLD_SIZE)"


def run(code, **env):
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "RANK": "1", "WORLD_SIZE": "2", **env},
    )


def test_lines_logged_just_before_the_end_are_not_lost():
    ran = run(
        "import logging, feedline\n"
        "logging.basicConfig(level=logging.DEBUG)\n"
        "feedline.sequential(), feedline.Shard.from_environment()\n"
    )
    assert ran.returncode == 0
    assert "DEBUG:feedline:shard: rank 1 of 2" in ran.stderr


def test_without_a_configuration_details_are_not_shown():
    ran = run("import feedline; feedline.Shard.from_environment()")
    assert (ran.returncode, ran.stderr) == (0, "")


def test_a_handler_that_raises_ends_no_program():
    ran = run(
        "import logging, feedline\n"
        "class Raising(logging.Handler):\n"
        "    def emit(self, record):\n"
        "        raise ValueError(3)\n"
        "logging.getLogger('feedline').addHandler(Raising())\n"
        "logging.getLogger('feedline').setLevel(logging.DEBUG)\n"
        "feedline.sequential(), feedline.Shard.from_environment()\n"
    )
    assert ran.returncode == 0
    assert "ValueError: 3" in ran.stderr


def test_a_child_of_fork_logs_without_the_thread():
    ran = run(
        "import logging, feedline, os\n"
        "logging.getLogger('feedline').setLevel(logging.DEBUG)\n"
        "feedline.sequential(), feedline.Shard.from_environment()\n"
        "child = os.fork()\n"
        "feedline.sequential(), feedline.Shard.from_environment()\n"
        "if child: print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    assert (ran.stdout, ran.returncode) == ("0\n", 0)
