#!/usr/bin/env python3
"""The alert rules are sound, fire where they should, and each has its runbook.

    alert_rules_test.py SOURCE_DIR        skips (77) without promtool
"""
import pathlib
import re
import shutil
import subprocess
import sys

HEADINGS = ("## Meaning", "## Impact", "## Diagnosis", "## Mitigation")


def check(source):
    rules = source / "deploy/prometheus/fathom.rules.yml"
    for verb, file in (("check", rules), ("test", rules.parent / "alerts_test.yml")):
        ran = subprocess.run(["promtool", verb, "rules", str(file)], capture_output=True, text=True)
        if ran.returncode != 0:
            yield f"promtool {verb} rules: {ran.stdout}{ran.stderr}"
    alerts = re.findall(r"- alert: (\w+)", rules.read_text())
    tested = re.findall(r"alertname: (\w+)\n\s+exp_alerts:\n", (rules.parent / "alerts_test.yml").read_text())
    listed = (source / "docs/operations/runbooks/README.md").read_text()
    metrics = (source / "docs/metrics.md").read_text()
    for alert in alerts:
        page = source / f"docs/operations/runbooks/{alert}.md"
        if not page.is_file() or any(heading not in page.read_text() for heading in HEADINGS):
            yield f"{alert}: no whole runbook page"
        if f"runbooks/{alert}" not in rules.read_text() or f"({alert}.md)" not in listed:
            yield f"{alert}: its runbook is not linked"
        if alert not in tested:
            yield f"{alert}: no test in which it fires"
    for name in sorted(set(re.findall(r"\bfathom_[a-z_]+", rules.read_text()))):
        if f"`{name}`" not in metrics:
            yield f"{name}: not a metric of docs/metrics.md"


def main(source):
    if not shutil.which("promtool"):
        print("skipped: no promtool (Debian: prometheus)")
        return 77
    found = list(check(pathlib.Path(source)))
    print("\n".join(found) if found else "alert rules: sound, tested, with runbooks")
    return 1 if found else 0


sys.exit(main(sys.argv[1]))
