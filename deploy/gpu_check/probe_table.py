"""Runs fathom-probe-cuda twice, as it is and with flipped bits, and prints what came out as a table.

    probe_table.py FOLDER [--seconds S]

Writes FOLDER/probes.jsonl, flipped.jsonl and smi.csv (what nvidia-smi said of clock, power and heat
meanwhile). Exit code: 0 all was done and every flipped bit was found, 1 not.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import time

PREFIXES = [(1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1, ""), (1e-3, "m"), (1e-6, "u"), (1e-9, "n")]
SMI = "timestamp,clocks.sm,clocks.mem,power.draw,temperature.gpu,clocks_event_reasons.active,pstate"
CHECKED = ("gpu_gemm", "gpu_blas", "gpu_memory_pattern", "gpu_host", "gpu_peers")


def scaled(value, unit):
    if unit in ("ratio", "1"):
        return f"{value:.4g}" + ("" if unit == "1" else " ratio")
    factor, prefix = next(((f, p) for f, p in PREFIXES if abs(value) >= f), (1, ""))
    return f"{value / factor:.4g} {prefix}{'Hz' if unit == '1/s' else unit}"


def run(folder, name, options):
    begin = time.monotonic()
    done = subprocess.run([folder / "fathom-probe-cuda", *options], capture_output=True, text=True, timeout=300)
    (folder / f"{name}.jsonl").write_text(done.stdout)
    print(f"\n{name}: exit code {done.returncode}, {time.monotonic() - begin:.1f} s {done.stderr[:2000]}")
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


def print_figures(result):
    print(f"{result['probe']}: {result['outcome']} in {result['seconds']:.2f} s, digest "
          f"{result.get('digest', '-')} {result.get('reason', '')}")
    for figure in result["figures"]:
        spread = figure.get("spread", 0) / figure["value"] if figure["value"] else 0
        print(f"    {figure['name']:24} {figure.get('where', ''):20} {scaled(figure['value'], figure['unit']):>16}"
              f"   spread {100 * spread:6.3f} %   slices {figure.get('slices', 1)}")


def print_smi(path):
    rows = [line.split(", ") for line in path.read_text().splitlines()[1:]]
    busy = [row for row in rows if len(row) >= 6]
    clocks = [float(row[1].split()[0]) for row in busy if row[1].split()[0].isdigit()]
    power = [float(row[3].split()[0]) for row in busy if row[3][0].isdigit()]
    reasons = sorted({row[5] for row in busy})
    if clocks and power:
        print(f"\nnvidia-smi meanwhile: clock {min(clocks):.0f} to {max(clocks):.0f} MHz, median "
              f"{statistics.median(clocks):.0f}; power {min(power):.0f} to {max(power):.0f} W; reasons {reasons}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--seconds", default="")
    args = parser.parse_args()
    options = ["--seconds", args.seconds] if args.seconds else []
    smi = args.folder / "smi.csv"
    try:
        watch = subprocess.Popen(["nvidia-smi", f"--query-gpu={SMI}", "--format=csv", "-lms", "100"],
                                 stdout=smi.open("w"), stderr=subprocess.DEVNULL)
    except OSError:
        watch = None
    code, lines = run(args.folder, "probes", options)
    if watch:
        watch.terminate()
        watch.wait()
    for line in lines:
        print_figures(line["result"]) if "result" in line else print(json.dumps(line))
    if watch:
        print_smi(smi)
    if code == 77:
        return 77
    wrong = [line["result"]["probe"] for line in lines if line.get("result", {}).get("outcome") in ("faulty", "killed")]
    names = [line["result"]["probe"] for line in lines
             if "result" in line and line["result"]["outcome"] == "done" and line["result"]["probe"].startswith(CHECKED)]
    _, flipped = run(args.folder, "flipped", ["--flip", "--seconds", "2", "--probes", ",".join(names)])
    missed = []
    for line in flipped:
        if "result" not in line:
            continue
        result = line["result"]
        print(f"    {result['probe']:22} {result['outcome']:8} {result.get('reason', '')}")
        if result["outcome"] != "faulty":
            missed.append(result["probe"])
    print(f"\nwrong without a flip: {wrong or 'none'}; flips that were missed: {missed or 'none'}")
    return 1 if wrong or missed else 0


sys.exit(main())
