#!/usr/bin/env python3
"""The systemd units parse and are as closed as they promise, by systemd's own measure (0 best, 10 worst); for what is
open of the agent's, docs/security.md has a reason each.

    systemd_units_test.py SOURCE_DIR        skips (77) without systemd-analyze
"""
import pathlib
import re
import shutil
import subprocess
import sys

MOST = {"fathom-collector": 2.0, "fathom-cordon": 2.0, "fathomd": 2.8}


def points(page):
    """What of the agent's exposure docs/security.md gives reasons for."""
    text = page.read_text().replace("\\|", "|")  # as Markdown writes one inside a table
    return set(re.findall(r"^\| `([^`]+)` \| [\d.]+ \|", text, re.M))


def check(units, page):
    for name, most in MOST.items():
        unit = units / f"{name}.service"
        text = unit.read_text()
        for needed in (r"^Type=notify$", r"^NotifyAccess=main$", r"^WatchdogSec=\d+$", r"^Restart=on-failure$",
                       r"^RestrictAddressFamilies=.*\bAF_UNIX\b"):
            if not re.search(needed, text, re.M):
                yield f"{unit.name}: no line {needed}; the daemon speaks to the manager over AF_UNIX"
        ran = subprocess.run(["systemd-analyze", "security", "--offline=true", "--no-pager", str(unit)],
                             capture_output=True, text=True)
        found = re.search(r"exposure level for \S+: ([\d.]+)", ran.stdout)
        if not found:
            yield f"{unit.name}: {ran.stderr.strip() or ran.stdout[-200:]}"
        elif float(found.group(1)) > most:
            yield f"{unit.name}: exposure {found.group(1)} is above {most}"
        if name == "fathomd":
            open_ones = set(re.findall(r"^✗ (\S+)", ran.stdout, re.M))
            for each in open_ones ^ points(page):
                yield f"{unit.name}: {each}: docs/security.md and systemd differ on whether it is open"
        for line in ran.stderr.splitlines():
            if "Unknown" in line or "Failed to parse" in line:
                yield f"{unit.name}: {line}"


def main(source):
    if not shutil.which("systemd-analyze"):
        print("skipped: no systemd-analyze")
        return 77
    root = pathlib.Path(source)
    found = list(check(root / "deploy/systemd", root / "docs/security.md"))
    print("\n".join(found) if found else "systemd units: sound and closed")
    return 1 if found else 0


sys.exit(main(sys.argv[1]))
