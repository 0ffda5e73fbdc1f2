"""The hang part of tests/truth/run: real jobs that hang, and real jobs that only look like it.

A hang is right when a conviction names exactly the faulty rank with exactly the expected cause while
the job hangs, and no conviction ever names another rank or another cause. A confuser is right when
nobody is convicted of a hang; a lead (a hypothesis) may stand while it lasts. A process that was
stopped and goes on may be called stopped, if that verdict closes. A conviction is a verdict graded
established or supported.
"""
import os
import pathlib
import time

from judgement import convictions, ranks_of
from traced_job import TracedJob

JOBS = pathlib.Path(__file__).resolve().parent / "jobs"
STUCK = "noncommunication_hang"
# Script, event, the one cause that is right.
HANGS = (
    ("ddp", "stop", "process_stopped"), ("ddp", "loop", STUCK), ("ddp", "mismatch", "mismatch"),
    ("tensor_data", "stop", "process_stopped"), ("tensor_data", "loop", STUCK),
    ("tensor_data", "mismatch", "mismatch"), ("pipeline", "stop", "process_stopped"),
    ("pipeline", "loop", STUCK), ("hang", "lock", STUCK), ("hang", "gil", STUCK), ("hang", "sleep", STUCK),
    ("hang", "size", "mismatch"), ("hang", "skip", "mismatch"), ("hang", "order", "mismatch"),
    ("hang", "first-op", STUCK), ("hang", "group", STUCK), ("hang", "heartbeat", STUCK),
    ("hang", "exit", "process_dead"), ("hang", "kill", "process_dead"),
    *(("ways_to_hang", event, STUCK) for event in ("monitored", "waitpid", "fifo", "store")),
    ("ways_to_hang", "worker", "dataloader"),
    *(("ways_to_hang", event, "mismatch") for event in (
        "except-barrier", "root", "object", "ahead", "new-group", "alike", "wrong-peer", "send-more", "swapped")))
CONFUSERS = (
    ("hang", "none"), ("hang", "checkpoint"), ("hang", "save"), ("hang", "evaluation"), ("hang", "pause"),
    ("hang", "input"), ("hang", "loader"), ("hang", "first-step"), ("hang", "join"), ("hang", "compile"),
    ("hang", "slow-save"), ("hang", "late-init"), ("hang", "late-group"),
    ("hang", "beats"), ("hang", "heartbeat-stops"))
HANG_CLASSES = ("communication_hang", "noncommunication_hang")
FROM_ITERATION = 60
# Judged late: before there is a rhythm from twice the start-up floor on; a rank that rests (asleep, waiting for a
# process of its own or for a socket) after ten times the usual patience, some 60 s. Until then they are leads.
LATE = ("first-op", "sleep", "waitpid", "store")
LATE_SECONDS = 100


def scenarios(names, confusers=True):
    """(script, event, cause) rows, of a confuser without one; `names` picks events or SCRIPT/EVENT, empty all."""
    rows = [*HANGS, *((script, event, None) for script, event in CONFUSERS if confusers)]
    return [row for row in rows if not names or row[1] in names or f"{row[0]}/{row[1]}" in names]


def ranks_in(text, world):
    """The ranks of a list like 0,2; of an empty one all of the job. A rank that the job lacks is an error."""
    ranks = [int(r) for r in text.split(",")] if text else list(range(world))
    if not all(0 <= r < world for r in ranks):
        raise SystemExit(f"--ranks {text}: the job has ranks 0 to {world - 1}")
    return ranks


def command(options, script, event, rank, world):
    torchrun = [options.python, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(world)]
    if script in ("hang", "ways_to_hang"):
        job = [*torchrun, str(JOBS / f"{script}.py"), "--happens", event, "--rank", str(rank), "--from-iteration",
               str(FROM_ITERATION), "--iterations", str(2 * FROM_ITERATION)]
        return [*job, "--seconds", str(options.confuser_seconds)] if script == "hang" else job
    return [*torchrun, str(pathlib.Path(options.data) / "torch_jobs" / f"{script}.py"), "--fault", event, "--rank",
            str(rank), "--from-iteration", str(FROM_ITERATION), "--iterations", str(4 * FROM_ITERATION)]


def marker(script):
    return r"^event " if script in ("hang", "ways_to_hang") else rf"^iteration {FROM_ITERATION}:"


def hang_convictions(verdicts):
    return [v for v in convictions(verdicts) if v.get("class") in HANG_CLASSES]


def names_fault(verdict, rank, cause):
    """A conviction of exactly this rank, of exactly this cause."""
    return verdict in convictions([verdict]) and ranks_of(verdict) == {rank} and verdict.get("cause") == cause


def judge_hang(rank, cause, ever):
    accused = convictions(ever)
    if not all(names_fault(v, rank, cause) for v in accused):
        return "wrong", False
    return ("right", True) if accused else ("abstained", False)


def judge_confuser(event, rank, final, ever):
    accused = hang_convictions([*ever, *final])
    allowed = [v for v in accused if event == "pause" and ranks_of(v) == {rank} and v["cause"] == "process_stopped"]
    if len(allowed) != len(accused):
        return "wrong", False
    still_open = [v for v in final if v.get("class") in HANG_CLASSES and not v.get("until")]
    return ("wrong" if still_open else "right"), True


def run(options, script, event, cause, rank, world):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("FATHOM_")}
    environment.update(OMP_NUM_THREADS="1", PYTHONUNBUFFERED="1")
    # The agent takes py-spy from its PATH; where it is installed, it is beside Python.
    environment["PATH"] = f"{pathlib.Path(options.python).parent}{os.pathsep}{environment['PATH']}"
    job = TracedJob(pathlib.Path(options.build) / "fathom", command(options, script, event, rank, world),
                    f"{script}-{event}-{rank}", environment, marker(script))
    began, load = time.monotonic(), os.getloadavg()[0]
    try:
        seconds = max(options.seconds, LATE_SECONDS) if event in LATE else options.seconds
        job.watch(lambda v: cause is not None and names_fault(v, rank, cause), seconds, cause is not None)
    finally:
        job.close()
    if job.url is None:
        raise RuntimeError(f"{job.name} was not traced:\n{''.join(job.log)}")
    ever = [*job.ever, *job.final]
    outcome, cause_right = judge_hang(rank, cause, ever) if cause else judge_confuser(event, rank, job.final, job.ever)
    delay = job.first_right - job.fault_time if job.first_right and job.fault_time else None
    return {"script": script, "fault": event if cause else "none", "event": event, "rank": rank, "run": 0,
            "outcome": outcome, "cause_right": cause_right, "seconds": delay, "exit_code": job.process.returncode,
            "verdicts": job.final, "ever": ever, "log": "".join(job.log), "lasted": time.monotonic() - began,
            "world": world, "load": load}
