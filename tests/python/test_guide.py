"""The code of the guide's page runs."""

import re
from pathlib import Path

import feedline
import pytest

GUIDE = Path(__file__).resolve().parents[2] / "docs/guide"


@pytest.mark.parametrize("page", ["python", "frameworks", "arrays"])
def test_the_code_of_the_guide_runs(page, tmp_path, monkeypatch):
    path = GUIDE / f"{page}.md"
    text = path.read_text()
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) == text.count("```python") > 2
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in blocks:
        line = text[: text.index(block)].count("\n")
        code = compile("\n" * line + block, str(path), "exec")  # errors name the page's line
        try:
            exec(code, names)
        except ModuleNotFoundError as missing:  # the blocks after it need it too
            pytest.skip(f"line {line}: {missing.name} is not installed")
        except feedline.DatasetError as error:
            if "this feedline was built without" in str(error):
                pytest.skip(str(error))
            raise
