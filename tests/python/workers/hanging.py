"""Programs with workers that hang, for tests that end them."""

import subprocess
import sys
import textwrap
import time
from pathlib import Path


def run(code, folder, **options):
    """Runs a program with workers, which is a file, as spawned workers import it."""
    program = Path(folder) / "program.py"
    program.write_text(textwrap.dedent(code))
    return subprocess.Popen(
        [sys.executable, program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        **options,
    )


def ended(pid, within=20):
    """Whether a process that is no child of this one ends in time."""
    until = time.monotonic() + within
    while time.monotonic() < until:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.01)
    return False
