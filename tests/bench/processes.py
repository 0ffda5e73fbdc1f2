"""What the benches of whole processes share: one run's output and what it cost, and a virtual
environment with a peer in it. Used by tables, torchfrtrace and many_ranks."""
import ctypes
import os
import subprocess
import time
import venv
from typing import NamedTuple

PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h


class Cost(NamedTuple):
    seconds: float  # by the clock
    cpu: float      # seconds on the cores
    peak_mb: float


def timed(command, right=(0, 2), errors=False):
    """Output (with what goes to stderr, if `errors`) and Cost of one process. Ends the bench where the
    exit code is none of `right`.

    A process begins with the peak of the one that started it, and Python's would hide that of a
    small one. So a shell forks it and leaves it to this process; then it is let go."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1) != 0:
        raise OSError(ctypes.get_errno(), "prctl")
    (read, write), (gate, opener) = os.pipe(), os.pipe()
    script = f'(read _ <&{gate}; exec "$@" {gate}<&-) >&{write} {"2>&1" if errors else ""} {write}>&- & echo $!'
    shell = subprocess.run(["sh", "-c", script, "sh", *map(str, command)], stdout=subprocess.PIPE,
                           pass_fds=[write, gate], check=True)
    begin = time.monotonic()
    for end in (opener, gate, write):
        os.close(end)
    with open(read, "rb") as pipe:
        output = pipe.read()
    _, status, usage = os.wait4(int(shell.stdout), 0)
    seconds = time.monotonic() - begin
    if os.waitstatus_to_exitcode(status) not in right:
        raise SystemExit(f"{command[0]} failed: {os.waitstatus_to_exitcode(status)}")
    return output, Cost(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def python_with(folder, packages):
    """The Python of a virtual environment in `folder`, made with these packages if it is not there."""
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *packages], check=True)
    return python
