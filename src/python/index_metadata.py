"""What a package index shows of the project: the description, with absolute links, and its links.

The build asks for it (pyproject.toml). The environment variable FEEDLINE_REPOSITORY is the address
of the repository's pages, such as https://HOST/OWNER/feedline. If it is not set, the description
has the words of links to other documents without the links, which would lead nowhere on an index.
"""

import os
import posixpath
import re
from pathlib import Path

PAGE = "docs/guide/python.md"


def description(text, repository, version):
    """The page's text, with each link to a file of the repository made absolute, or left out."""

    def link(match):
        words, target = match[1], match[2]
        if "://" in target:
            return match[0]
        if not repository:
            return words
        file, mark, section = target.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(PAGE), file)) if file else PAGE
        return f"[{words}]({repository}/blob/v{version}/{path}{mark}{section})"

    parts = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(
        part if part.startswith("```") else re.sub(r"\[([^\]]+)\]\(([^)\s]+)\)", link, part)
        for part in parts
    )


def dynamic_metadata(field, settings, project):
    """What scikit-build-core asks for."""
    repository = os.environ.get("FEEDLINE_REPOSITORY", "").rstrip("/")
    if repository and not repository.startswith("https://"):
        raise ValueError(f"FEEDLINE_REPOSITORY is {repository!r}, and must begin with https://")
    version = project["version"]
    if field == "readme":
        text = description(Path(PAGE).read_text(encoding="utf-8"), repository, version)
        return {"content-type": "text/markdown", "text": text}
    if field != "urls":
        raise ValueError(f"there is no field {field!r} here")
    if not repository:
        return {}
    pages = f"{repository}/blob/v{version}"
    return {
        "Homepage": repository,
        "Documentation": f"{pages}/docs/README.md",
        "Changelog": f"{pages}/CHANGELOG.md",
    }
