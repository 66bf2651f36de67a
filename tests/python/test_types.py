"""Type checkers know what the package has: a program passes their strict modes, mistakes do not."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import feedline

TYPED = Path(__file__).resolve().parent / "typed"
PACKAGE = Path(feedline.__file__).resolve().parents[1]


def mypy(path, folder):
    return [sys.executable, "-m", "mypy", "--strict", f"--cache-dir={folder}", str(path)]


def pyright(path, folder):
    config = {"include": [path.name], "typeCheckingMode": "strict", "extraPaths": [str(PACKAGE)]}
    (folder / path.name).write_text(path.read_text())
    (folder / "pyrightconfig.json").write_text(json.dumps(config))
    return [sys.executable, "-m", "pyright", "-p", str(folder), "--pythonpath", sys.executable]


def check(checker, program, folder):
    if importlib.util.find_spec(checker.__name__) is None:
        pytest.skip(f"{checker.__name__} is not installed")
    return subprocess.run(
        checker(TYPED / program, folder),
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "MYPYPATH": str(PACKAGE) if "site-packages" not in str(PACKAGE) else ""},
        timeout=300,
    )


def test_the_program_runs():
    code = subprocess.run([sys.executable, str(TYPED / "program.py")], timeout=60).returncode
    assert code == 0


@pytest.mark.parametrize("checker", [mypy, pyright])
def test_a_program_passes_strict_type_checking(checker, tmp_path):
    checked = check(checker, "program.py", tmp_path)
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.parametrize("checker", [mypy, pyright])
def test_every_mistake_of_a_program_is_found(checker, tmp_path):
    checked = check(checker, "wrong.py", tmp_path)
    lines = (TYPED / "wrong.py").read_text().splitlines()
    mistakes = [number for number, line in enumerate(lines, 1) if line.startswith("feedline.")]
    assert len(mistakes) == 6
    for number in mistakes:
        assert f"wrong.py:{number}:" in checked.stdout, lines[number - 1]
