"""The recorded part of tests/truth/run: `fathom analyze` on recordings of real jobs whose truth lies
beside them, one process each, and the what-if figures of a real job against its authors' own.

right      exactly the faulty ranks convicted, each for a cause that the truth allows; silence where
           nothing is wrong; of an imbalance by design the stage, and no device
class      the right class of problem on a group that holds the faulty ranks, and the report says
           which signal is missing to tell more
abstained  nobody innocent is accused, but not all of the faulty are convicted
wrong      all else: an innocent rank, be it as a lead; another cause; a word about a healthy job

A figure of the what-if analysis is wrong when it is further from the published one than its goal.
"""
import json
import os
import pathlib
import re
import resource
import subprocess
import time

from judgement import convictions, ranks_of

CAUSES = {"comm_hang": "communication_hang", "noncomm_hang": "noncommunication_hang"}
CLASSES = {"link_slow": "communication_slow", "communication_hang": "communication_hang"}
NOBODY_ALONE = ("group", "stage", "job")  # entities that accuse no rank by itself
WITHIN_SLOWDOWN, WITHIN_PARTS, WITHIN_SHARES = 0.01, 0.02, 0.02  # of S, of its parts, of M_W and M_S
OUTCOMES = ("right", "class", "abstained", "wrong")


def truth_of(folder):
    """(faulty ranks, causes that are right) as the recording's truth.json tells them."""
    truth = json.loads((folder / "truth.json").read_text())
    also = truth.get("verdict_also_right", [])
    causes = {truth["verdict"], *([also] if isinstance(also, str) else also)} - {"none"}
    return frozenset(truth["culprit_ranks"]), {CAUSES.get(c, c) for c in causes}


def truth_of_injection(log):
    """The same of dumps whose faults were injected and logged: locks of Python's interpreter."""
    ranks = {int(r) for r in re.findall(r"^Rank (\d+), fault_type: LOCK_GIL$", log.read_text(), re.MULTILINE)}
    if not ranks:
        raise SystemExit(f"{log}: no injected fault is told")
    return frozenset(ranks), {"noncommunication_hang"}


def judge_imbalance(verdicts, stage):
    if not verdicts:
        return "abstained"
    one = verdicts[0]
    whole = len(verdicts) == 1 and one["cause"] == "imbalance" and one["entity"]["type"] == "stage"
    return "right" if whole and (not stage or ranks_of(one) == stage) else "wrong"


def judge_recording(culprits, causes, report, stage=frozenset()):
    """One of OUTCOMES. `stage`: the ranks of the stage that has more work, where that is known."""
    verdicts = report["verdicts"]
    if not causes:
        return "wrong" if verdicts else "right"
    if causes == {"imbalance"}:
        return judge_imbalance(verdicts, stage)
    if any(ranks_of(v) - culprits for v in verdicts if v["entity"]["type"] not in NOBODY_ALONE):
        return "wrong"
    convicted = convictions(verdicts)
    if not convicted:
        return "abstained"
    groups = [v for v in convicted if v["entity"]["type"] in NOBODY_ALONE]
    if groups:
        fair = all(v["class"] in {CLASSES.get(c) for c in causes} and culprits <= ranks_of(v) for v in groups)
        named = any(a["missing"] for a in report["abstained"])
        return ("class" if named else "abstained") if fair and len(groups) == len(convicted) else "wrong"
    if any(v["cause"] not in causes for v in convicted):
        return "wrong"
    return "right" if frozenset().union(*map(ranks_of, convicted)) == culprits else "abstained"


def cpu_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def analyze(options, path):
    """The report, and how many ms the whole process took, by the clock and on the cores."""
    command = [pathlib.Path(options.build) / "fathom", "analyze", path, "-o", "json", "--exit-zero", "--quiet"]
    if getattr(options, "config", None):
        command += ["--config", options.config]
    if getattr(options, "against", None):
        command += ["--against", options.against]
    began, before = time.monotonic(), cpu_of_children()
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 0:
        raise SystemExit(f"fathom analyze {path} failed: {done.stderr}")
    return json.loads(done.stdout), 1e3 * (time.monotonic() - began), 1e3 * (cpu_of_children() - before)


def ranks_in_words(ranks):
    text = ", ".join(map(str, sorted(ranks)))
    return f"rank {text}" if len(ranks) == 1 else f"ranks {text}"


def expected_in_words(culprits, causes, stage):
    if not causes:
        return "nothing"
    who = ranks_in_words(culprits) if culprits else f"stage of {ranks_in_words(stage)}" if stage else "a stage"
    return f"{' or '.join(sorted(causes))}, {who}"


def said_in_words(report):
    words = [f"{v['grade']} {v['cause']}, {'' if v['entity']['type'] == 'rank' else v['entity']['type'] + ' of '}"
             f"{ranks_in_words(ranks_of(v))}" for v in report["verdicts"]]
    return "; ".join(words) or "nothing"


def recordings(data):
    """(name, path, faulty ranks, causes, ranks of the stage with more work) of each that is there."""
    found = [(folder.name, folder, *truth_of(folder), frozenset())
             for kind in ("torch_gloo", "torch_nccl") for folder in sorted((data / kind).glob("*"))
             if (folder / "truth.json").exists()]
    hung = data / "flight_recorder" / "lock_gil"
    if hung.is_dir():
        found.append((hung.name, hung, *truth_of_injection(hung / "fault_injection.log"), frozenset()))
    trace = data / "ndtimeline" / "trace-ST.parquet"
    if trace.exists():
        shape = dict(line.split(": ") for line in (trace.parent / "meta-ST.yaml").read_text().splitlines() if ": " in line)
        world, stages = int(shape["world_size"]), int(shape["pp_size"])
        last = frozenset(range(world - world // stages, world))  # its authors: the last stage has more work
        found.append((trace.name, trace, frozenset(), {"imbalance"}, last))
    return found


def figures(what_if, folder):
    """(name, ours, published, how far apart, goal, met) of each figure that its authors published."""
    def published(name):
        return json.loads((folder / name).read_text())
    result = published("result-ST.json")
    rows = [("S", what_if["slowdown"], result["blocking_slowdown"], WITHIN_SLOWDOWN)]
    for part, key, name in (("replica", "dp_rank", "index"), ("stage", "stage", "index"), ("kind", "optype", "name")):
        theirs = result[f"blocking_decompose_by_{key}"]
        ours = {str(one[name]): one["slowdown"] for one in what_if["only"][part]}
        if ours.keys() != theirs.keys():
            raise SystemExit(f"parts by {part} differ: {sorted(ours)} and {sorted(theirs)}")
        rows += [(f"{part} {one}", ours[one], theirs[one], WITHIN_PARTS) for one in theirs]
    out = [(name, a, b, abs(a / b - 1), goal, abs(a / b - 1) <= goal) for name, a, b, goal in rows]
    for name, ours, file, key in (("M_W", "worst_workers_share", "mw-ST.json", "Mw"),
                                  ("M_S", "last_stage_share", "ms-ST.json", "Ms")):
        a, b = what_if[ours], published(file)[key]
        out.append((name, a, b, abs(a - b), WITHIN_SHARES, abs(a - b) <= WITHIN_SHARES))
    return out


def print_figures(rows):
    print("\n| what if, trace-ST.parquet | fathom | published | apart | goal | |\n|---|---|---|---|---|---|")
    for name, ours, theirs, apart, goal, met in rows:
        unit = (f"{apart:.5f}", f"{goal}") if name.startswith("M_") else (f"{apart:.5%}", f"{goal:.0%}")
        print(f"| {name} | {ours:.5f} | {theirs:.5f} | {unit[0]} | {unit[1]} | {'met' if met else 'missed'} |")


def run(options):
    """Prints both tables; the exit code."""
    data = pathlib.Path(options.data)
    found = recordings(data)
    if not found:
        print(f"skipped: no recordings in {data}; name the folder with --data")
        return 77
    count, figures_wrong, results = dict.fromkeys(OUTCOMES, 0), 0, []
    print("| recording | expected | said | | ms | ms of CPU |\n|---|---|---|---|---|---|")
    for name, path, culprits, causes, stage in found:
        report, ms, cpu = analyze(options, path)
        outcome = judge_recording(culprits, causes, report, stage)
        missing = "; ".join(a["missing"] for a in report["abstained"])
        count[outcome] += 1
        told = f"class; missing: {missing}" if outcome == "class" else outcome
        print(f"| {name} | {expected_in_words(culprits, causes, stage)} | {said_in_words(report)} | {told} | {ms:.0f} "
              f"| {cpu:.0f} |", flush=True)
        results.append({"recording": name, "outcome": outcome, "ms": ms, "cpu_ms": cpu, "report": report})
    for result in results:
        if result["recording"] == "trace-ST.parquet":
            rows = figures(result["report"]["what_if"], data / "ndtimeline")
            figures_wrong = sum(not met for *_, met in rows)
            print_figures(rows)
    print(f"\n{len(found)} recordings: {', '.join(f'{n} {o}' for o, n in count.items())}; "
          f"figures that miss their goal: {figures_wrong}; load {os.getloadavg()[0]:.0f}")
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))
    return 1 if count["wrong"] or figures_wrong else 0
