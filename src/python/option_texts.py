"""Writes the Python module of the options' texts, which come from the comments of the headers.

    option_texts.py OUTPUT HEADER...
"""

import re
import sys
from pathlib import Path


def texts_of(header: str) -> "dict[str, dict[str, str]]":
    """Struct -> member -> its comment."""
    found: "dict[str, dict[str, str]]" = {}
    structs = re.findall(r"^struct (\w+) \{\n(.*?)^\};", header, re.MULTILINE | re.DOTALL)
    for struct, body in structs:
        members: "dict[str, str]" = {}
        above: "list[str]" = []
        for line in body.splitlines():
            comment = re.fullmatch(r"  /// ?(.*)", line)
            member = re.match(r"  [\w:<>, ]+ (\w+)( = .*?|\{.*?\})?;\s*(?:///<\s*(.*))?$", line)
            if comment:
                above.append(comment[1])
            elif member and "(" not in line.partition("=")[0]:
                text = " ".join([*above, member[3] or ""]).strip()
                members[member[1]] = " ".join(text.split())
                above = []
            else:
                above = []
        found[struct] = members
    return found


def main(output: str, *headers: str) -> None:
    options: "dict[str, dict[str, str]]" = {}
    for header in headers:
        options.update(texts_of(Path(header).read_text(encoding="utf-8")))
    Path(output).write_text(
        '"""Generated from the headers\' comments: struct -> option -> what it means."""\n\n'
        f"OPTIONS: dict[str, dict[str, str]] = {options!r}\n",
        encoding="utf-8",
    )


main(*sys.argv[1:])
