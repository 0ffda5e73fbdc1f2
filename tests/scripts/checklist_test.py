#!/usr/bin/env python3
"""Every test that docs/operations/checklist.md names must be there.

    checklist_test.py SOURCE_DIR

A name is `Suite.Test`, `Test` alone, `test_method` of Python, a CTest entry, or a file below tests.
An ellipsis ends a shortened one.
"""
import pathlib
import re
import sys


def known(tests):
    """All names that tests go by, and the paths of their files."""
    names, paths = set(), [p.relative_to(tests.parent).as_posix() for p in tests.rglob("*")]
    for file in tests.rglob("*"):
        if file.suffix == ".cc":
            for suite, test in re.findall(r"^TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)", file.read_text(), re.M):
                names |= {f"{suite}.{test}", test, suite}
        elif file.suffix == ".py":
            names |= set(re.findall(r"^\s+def (test_\w+)", file.read_text(), re.M))
        elif file.name == "CMakeLists.txt":
            names |= set(re.findall(r"(?:add_test\(NAME|fathom_test\()\s*(\w+)", file.read_text()))
        names |= {file.stem, file.name}
    return names, paths


def is_test_name(word):
    return bool(re.fullmatch(r"[A-Z][A-Za-z]*(Test|Case)\.\w+|[A-Z][a-z]+[A-Z]\w{12,}|test_\w+|\w+_test|\w+\.test\.mjs|tests/\S+", word))


def main(source):
    names, paths = known(pathlib.Path(source) / "tests")
    page = (pathlib.Path(source) / "docs/operations/checklist.md").read_text()
    words = [(w.rstrip("…"), w.endswith("…")) for w in re.findall(r"`([^`]+)`", page)]
    words = [(w, cut) for w, cut in words if is_test_name(w)]
    missing = [w for w, cut in words if not (
        any(n.startswith(w) for n in names) if cut else w in names or any(p.startswith(w) for p in paths))]
    print("\n".join(f"no test is called {w}" for w in missing) or f"all {len(words)} tests of the checklist are there")
    return 1 if missing or len(words) < 60 else 0


sys.exit(main(sys.argv[1]))
