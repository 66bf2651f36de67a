"""The code of the guide's page runs."""

import re
from pathlib import Path

import feedline
import pytest

GUIDE = Path(__file__).resolve().parents[2] / "docs/guide/python.md"


def test_the_code_of_the_guide_runs(tmp_path, monkeypatch):
    text = GUIDE.read_text()
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) == text.count("```python") > 4
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in blocks:
        line = text[: text.index(block)].count("\n")
        code = compile("\n" * line + block, str(GUIDE), "exec")  # errors name the page's line
        try:
            exec(code, names)
        except feedline.DatasetError as error:
            if "this feedline was built without" in str(error):
                pytest.skip(str(error))
            raise
