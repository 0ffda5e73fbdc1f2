#!/usr/bin/env python3
"""docs/operations/cordon.md must list every setting of fathom-cordon with the default that holds.

    settings_page_test.py BINARY_DIR PAGE
"""
import re
import subprocess
import sys

ROW = re.compile(r"^\| `(\w+)` \| ([^|]*?) ?\|", re.M)


def main(binaries, page):
    printed = subprocess.run([f"{binaries}/fathom-cordon", "--print-config"], capture_output=True, text=True, check=True,
                             env={}).stdout
    live = {name: "" if value == '""' else value.strip("[]") for name, value in re.findall(r"^(\w+): ?(.*)$", printed, re.M)}
    section = open(page).read().split("## Settings")[1].split("\n## ")[0]
    listed = {name: value.strip() for name, value in ROW.findall(section)}
    listed["groups"] = live["groups"]  # more than a line; explained by an example
    found = [f"{name}: page says {listed.get(name)!r}, the program {live.get(name)!r}"
             for name in sorted(set(live) | set(listed)) if listed.get(name) != live.get(name)]
    print("\n".join(found) if found else f"{page} lists all {len(live)} settings")
    return 1 if found else 0


sys.exit(main(*sys.argv[1:]))
