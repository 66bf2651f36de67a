"""States of the streams of a `stream_dataset`, from which iterations continue."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Optional

#: Samples from one state that a stream saves to the next one, and how many are kept.
BETWEEN_STATES, MOST_STATES = 64, 64

#: An epoch, and a loader's seed.
Pass = tuple[int, int]


class States:
    """States of streams, by which they go on in an epoch: files in a folder that a program and its
    workers share, removed by the program."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="feedline-streams-"))
        folder, process = self.folder, os.getpid()

        def remove() -> None:
            if os.getpid() == process:  # not a child of fork
                shutil.rmtree(folder, ignore_errors=True)

        weakref.finalize(self, remove)

    def __getstate__(self) -> Path:
        return self.folder

    def __setstate__(self, folder: Path) -> None:
        self.folder = folder

    def file(self, stream: int, of: Pass, number: int) -> Path:
        return self.folder / f"{stream}.{of[0]}.{of[1]}.{number}"

    def keep(self, stream: int, of: Pass, number: int, saved: bytes) -> None:
        unfinished = self.folder / f"{os.getpid()}-{stream}.new"
        unfinished.write_bytes(saved)
        unfinished.replace(self.file(stream, of, number))
        self.file(stream, of, number - MOST_STATES * BETWEEN_STATES).unlink(missing_ok=True)
        if number == BETWEEN_STATES:  # the consumer may still be in the epoch before
            for other in self.folder.glob(f"{stream}.*"):
                if int(other.name.split(".")[1]) < of[0] - 1:
                    other.unlink(missing_ok=True)

    def find(self, stream: int, of: Pass, number: int) -> Optional[tuple[int, bytes]]:
        """The last state up to a sample of a stream, and that sample's number."""
        saved = self.folder.glob(f"{stream}.{of[0]}.{of[1]}.*")
        for at in sorted((int(each.name.split(".")[3]) for each in saved), reverse=True):
            if at <= number:
                try:
                    return at, self.file(stream, of, at).read_bytes()
                except FileNotFoundError:  # the stream has gone on
                    continue
        return None
