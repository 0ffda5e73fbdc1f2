#!/usr/bin/env python3
"""docs/metrics.md must list exactly what the real collector, agent and cordon export, with the right types.

    metrics_page_test.py BINARY_DIR METRICS_PAGE
"""
import re
import subprocess
import sys
import tempfile
import urllib.request

ROW = re.compile(r"^\| `(fathom_[a-z0-9_]+)` \| (counter|gauge|histogram) \|", re.M)
TYPE = re.compile(r"^# TYPE (fathom_[a-z0-9_]+) (\w+)", re.M)


def started(command, word):
    """The process and the address after `word` in its ready line."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    for line in process.stdout:
        found = re.search(word + r"=([0-9.]+:\d+)", line)
        if found:
            return process, found.group(1), line
    raise SystemExit(f"{command[0]} ended without a ready line")


def exported(address):
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=20) as answer:
        return dict(TYPE.findall(answer.read().decode()))


def differences(part, listed, live):
    for name in sorted(set(listed) | set(live)):
        if listed.get(name) != live.get(name):
            yield f"{part}: {name}: page says {listed.get(name)}, scrape says {live.get(name)}"


def main(binaries, page):
    collector_part, rest = open(page).read().split("## Agent")
    agent_part, cordon_part = rest.split("## Cordon")
    with tempfile.TemporaryDirectory() as folder:
        collector, http, line = started(
            [f"{binaries}/fathom-collector", "--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0",
             "--store", ":memory:"], "http")
        grpc = re.search(r"grpc=([0-9.]+:\d+)", line).group(1)
        agent, agent_http, _ = started(
            [f"{binaries}/fathomd", "--collector", grpc, "--http", "127.0.0.1:0", "--shm-dir",
             f"{folder}/rings"], "http")
        cordon, cordon_http, _ = started(
            [f"{binaries}/fathom-cordon", "--collector", f"http://{http}", "--http", "127.0.0.1:0", "--audit",
             f"{folder}/audit.jsonl"], "http")
        try:
            found = list(differences("collector", dict(ROW.findall(collector_part)), exported(http)))
            found += differences("agent", dict(ROW.findall(agent_part)), exported(agent_http))
            found += differences("cordon", dict(ROW.findall(cordon_part)), exported(cordon_http))
        finally:
            for process in (cordon, agent, collector):
                process.terminate()
            for process in (cordon, agent, collector):
                process.wait(timeout=20)
    print("\n".join(found) if found else "docs/metrics.md equals the live scrape")
    return 1 if found else 0


sys.exit(main(*sys.argv[1:3]))
