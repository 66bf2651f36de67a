"""The prose of a file, for prose_test.py: (line, text, "start" or "any") of each paragraph.

A phrase that may not begin a comment is looked for in "start" alone.
"""

import re
from collections import namedtuple

TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<raw>[A-Za-z_]*)\(.*?\)(?P=raw)"'
    r'|(?:"(?:[^"\\\n]|\\.)*"\s*)+|\'(?:[^\'\\\n]|\\.)\'', re.S)
TEST_NAME = re.compile(r"(?:TEST_CASE|SECTION)(?:_METHOD\(\s*\w+,|\()\s*$")

Comment = namedtuple("Comment", "line column alone marker body")


def follows(before, comment):
    """Whether a comment continues that of the line before."""
    return before is not None and comment.alone and comment.line == before.line + 1 and (
        comment.column, comment.marker) == (before.column, before.marker)


def comment_paragraphs(comments):
    """(line, text) of paragraphs; a tag (@param) and an item of a list begin one. No code."""
    paragraphs, before, is_open, is_tag = [], None, False, False
    for comment in comments:
        text = comment.body.strip()
        if not text or not follows(before, comment):
            is_open = is_tag = False
        before = comment
        is_code = comment.body.startswith("     ") and not is_tag and comment.marker != "///<"
        if not text or is_code or text.startswith(("|", "NOLINT", "clang-format")):
            is_open = False
            continue
        if text.startswith(("@", "- ")):
            is_open, is_tag = False, True
        if not is_open:
            paragraphs.append((comment.line, [text]))
        else:
            paragraphs[-1][1].append(text)
        is_open = True
    return [(line, " ".join(texts)) for line, texts in paragraphs]


def code_prose(text, names_only):
    """Comments of C++, and strings that have words; or of strings the names of tests alone."""
    comments = []
    for token in TOKEN.finditer(text):
        word = token.group()
        line = text.count("\n", 0, token.start()) + 1
        begin = text.rfind("\n", 0, token.start()) + 1
        if word.startswith("//"):
            marker = re.match("///<|///|//", word).group()
            comments.append(Comment(line, token.start() - begin,
                                    not text[begin:token.start()].strip(), marker,
                                    word[len(marker):]))
        elif word.startswith("/*"):
            yield line, " ".join(word[2:-2].split()), "start"
        elif word.startswith('"') and " " in word:
            if not names_only or TEST_NAME.search(text[max(0, token.start() - 80):token.start()]):
                yield line, re.sub(r'"\s*"', "", word.strip())[1:-1], "any"
    for line, paragraph in comment_paragraphs(comments):
        yield line, paragraph, "start"


def page_prose(text):
    """Paragraphs of Markdown, which may begin as they like; lines of tables. No blocks of code."""
    is_code, paragraphs, is_open = False, [], False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            is_code = not is_code
        if is_code or not line.strip() or line.startswith(("    ", "```")):
            is_open = False
            continue
        if not is_open or line.startswith(("|", "#", "- ")):
            paragraphs.append((number, []))
        paragraphs[-1][1].append(line.strip())
        is_open = not line.startswith(("|", "#"))
    return [(number, " ".join(lines), "any") for number, lines in paragraphs]


def prose_of(path, text):
    """Of tests' strings only the names of tests: messages that they expect are the library's."""
    if path.endswith(".md"):
        return page_prose(text)
    return code_prose(text, path.startswith("tests/"))
