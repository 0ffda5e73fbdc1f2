"""How near what a program or server says it holds is to the YAML that it was given.

    text   similarity of their lines, 0 to 1 (difflib), after both were written anew by one writer
    keys   how many of the values in the YAML stand in what is held, at the same place, with the same value

In `keys` a value of WILDCARD stands for any, and a list of things with names is compared by names.
"""
import difflib

import yaml

WILDCARD = "*"


def lines(document):
    return yaml.safe_dump(document, sort_keys=True, width=10_000).splitlines()


def text_score(shipped, held):
    return difflib.SequenceMatcher(None, lines(shipped), lines(held), autojunk=False).ratio()


def place(item, index):
    name = item.get("name") or item.get("alert") or item.get("record") or item.get("job_name") if isinstance(item, dict) else None
    return f"[{name or index}]"


def leaves(value, at=""):
    """Path → value, of every value that is no map and no list."""
    if isinstance(value, dict) and value:
        return {k: v for key, part in value.items() for k, v in leaves(part, f"{at}.{key}").items()}
    if isinstance(value, list) and value:
        return {k: v for i, part in enumerate(value) for k, v in leaves(part, at + place(part, i)).items()}
    return {at: value}


def key_score(shipped, held):
    """(found, wanted, the first path that is missing or other)."""
    wanted, there = leaves(shipped), leaves(held)
    found, missing = 0, ""
    for path, value in wanted.items():
        other = there.get(path)
        if path in there and (value == WILDCARD or other == WILDCARD or str(value) == str(other)):
            found += 1
        else:
            missing = missing or path
    return found, len(wanted), missing
