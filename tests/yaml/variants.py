"""Other forms of a YAML file: some that mean the same and must be taken, some that are broken and must be refused."""
import copy
import json

import yaml


def same(documents):
    """Name → text."""
    return {"written anew": yaml.safe_dump_all(documents, sort_keys=False),
            # With a mark before the first of several: kubectl takes what begins with a brace for one document.
            "as JSON": "\n".join(("---\n" if len(documents) > 1 else "") + json.dumps(d) for d in documents)}


def broken(documents):
    """Name → text. Each is broken in its last document, where a reader that stops early would not see it."""
    *before, last = documents

    def with_last(changed):
        return yaml.safe_dump_all([*before, changed], sort_keys=False)

    surplus, other = copy.deepcopy(last), copy.deepcopy(last)
    surplus["surplus"] = "nobody knows this key"
    key = [k for k in other if k not in ("apiVersion", "kind", "backend", "rule_files")][-1]
    other[key] = "a text" if isinstance(other[key], (dict, list)) else {"a": "map"}
    return {"unreadable": with_last(last) + "\n  - : [\n", "a key that is none": with_last(surplus),
            f"{key} of another type": with_last(other)}
