#!/usr/bin/env python3
"""Counts phrases of the old dialect in comments, messages, documents and names of tests.

prose_test.py SOURCE                fails if a folder has more than prose_allowed.txt says, or fewer
prose_test.py SOURCE --lower        lowers the numbers in prose_allowed.txt to those of today
prose_test.py SOURCE --list PREFIX  lists what it finds in files whose path begins with PREFIX; `.`
                                    stands for the files of the root

prose_patterns.txt has the phrases, each with a plain form. A folder that is not in
prose_allowed.txt may have none of them.
"""

import re
import sys
from collections import Counter
from pathlib import Path

sys.dont_write_bytecode = True  # the tree of the sources stays as it is
from prose_samples import OLD, OLD_PAGES, PLAIN, PLAIN_PAGES, SENTENCES
from prose_text import prose_of

HERE = Path(__file__).resolve().parent
ALLOWED = HERE / "prose_allowed.txt"
CODE = (".hpp", ".cpp", ".cu", ".cuh")
HISTORY = ("CHANGELOG.md", "docs/decisions/archive/")  # stays as it was written
TAG = re.compile(r"@(?:t?param(?:\[\w+\])?\s+\S+|returns?)\s+")


def patterns():
    found = []
    for line in (HERE / "prose_patterns.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            where, rest = line.split(" | ", 1)
            regex, plain = rest.rsplit(" | ", 1)
            if where not in ("start", "any"):
                sys.exit(f"prose_patterns.txt: neither start nor any: {line}")
            found.append((where, re.compile(regex, re.I), regex, plain))
    return found


def without_code(text):
    """Text in backticks becomes one quote, which stands for a name; so do names of parameters and
    the addresses of links."""
    text = re.sub(r"`[^`]*`", "`", text)
    text = re.sub(r"\]\([^)]*\)", "]`", text)
    return re.sub(r"(@t?param(?:\[\w+\])?\s+)\S+", r"\1`", text)


def findings(prose, known):
    """(line, phrase, plain form) of prose (line, text, where)."""
    for line, text, where in prose:
        shown = without_code(text)
        starts = [tag.end() for tag in TAG.finditer(shown)]
        if not shown.startswith(("@", "- ")):
            starts.append(0)
        for kind, regex, _, plain in known:
            if kind == "any":
                hits = [hit.group() for hit in regex.finditer(shown)]
            elif where == "start":
                begun = [regex.match(shown, start) for start in starts]
                hits = [hit.group() for hit in begun if hit]
            else:
                hits = []
            for hit in hits:
                yield line, hit.strip(), plain


def scan(source, known):
    """{top folder: [(path, line, phrase, plain form)]}; files of the root are in '.'."""
    paths = [str(path.relative_to(source)) for top in ("include", "src", "tests", "samples", "docs")
             for path in (source / top).rglob("*")] + [path.name for path in source.glob("*.md")]
    found, files = {"include": []}, 0
    for path in sorted(paths):
        if not path.endswith(CODE + (".md",)) or path.startswith(HISTORY):
            continue
        files += 1
        text = (source / path).read_text(encoding="utf-8")
        top = path.split("/")[0] if "/" in path else "."
        found.setdefault(top, []).extend(
            (path,) + hit for hit in findings(prose_of(path, text), known))
    if files < 200:
        sys.exit(f"only {files} files found under {source}: this test looks in the wrong place")
    return found


def read_allowed():
    lines = [line.split() for line in ALLOWED.read_text().splitlines()]
    return {line[0]: int(line[1]) for line in lines if line and line[0] != "#"}


def write_allowed(counts):
    kept = [line for line in ALLOWED.read_text().splitlines() if line.startswith("#")]
    kept += [f"{top} {count}" for top, count in counts.items() if count != 0]
    ALLOWED.write_text("\n".join(kept) + "\n")


def check_itself(known):
    """The check sees what it is there for, and nothing else."""
    old = OLD + ["/// " + now for now, _ in SENTENCES]
    plain = PLAIN + ["/// " + then for _, then in SENTENCES]
    for samples, name, wanted in ((old, "x.hpp", True), (plain, "x.hpp", False),
                                  (OLD_PAGES, "x.md", True), (PLAIN_PAGES, "x.md", False)):
        for sample in samples:
            hits = [hit[1] for hit in findings(prose_of("include/" + name, sample), known)]
            if bool(hits) != wanted:
                sys.exit(f"the check finds {hits or 'nothing'} in: {sample}")
    test = 'TEST_CASE("waits anew") { use("waits anew"); }'
    if len(list(findings(prose_of("tests/x_test.cpp", test), known))) != 1:
        sys.exit("of tests' strings the names alone count")


def main():
    source = Path(sys.argv[1])
    known = patterns()
    check_itself(known)
    found = scan(source, known)
    if sys.argv[2:3] == ["--list"]:
        for hit in sorted(hit for hits in found.values() for hit in hits):
            if hit[0].startswith(sys.argv[3]) or sys.argv[3] == "." and "/" not in hit[0]:
                print(f"{hit[0]}:{hit[1]}: {hit[2]!r}: {hit[3]}")
        return
    counts = {top: len(hits) for top, hits in found.items()}
    allowed = read_allowed()
    if sys.argv[2:3] == ["--lower"]:
        write_allowed({top: min(limit, counts.get(top, 0)) for top, limit in allowed.items()})
        return
    faults = []
    for top in sorted(set(counts) | set(allowed)):
        count, limit = counts.get(top, 0), allowed.get(top, 0)
        if count > limit:
            faults.append(f"{top}: {count} phrases, {limit} allowed. Those in lines that you wrote "
                          f"are new: prose_test.py {source} --list {top}")
            faults += [f"  {hit[0]}:{hit[1]}: {hit[2]!r}: {hit[3]}" for hit in found[top][:40]
                       if limit == 0]
        elif count < limit:
            faults.append(f"{top}: {count} phrases, fewer than the {limit} in prose_allowed.txt. "
                          f"Lower its number: prose_test.py {source} --lower")
    print(", ".join(f"{top} {counts[top]}" for top in sorted(counts)))
    most = Counter(hit[2].lower() for hits in found.values() for hit in hits).most_common(8)
    print("most frequent: " + ", ".join(f"{phrase!r} {count}" for phrase, count in most))
    if faults:
        sys.exit("FAILED: phrases of the old dialect (tests/conventions/prose_patterns.txt):\n  " +
                 "\n  ".join(faults))


main()
