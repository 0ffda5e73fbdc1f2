"""How a demo tells of what it does: stages with the time, how one fails, and what a signal does to it.

Used by the demos of the cordon, of the recovery and of several collectors.
"""
import signal
import time

SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


class Failed(Exception):
    """A stage did not do what it says."""


def say(text=""):
    print(text, flush=True)


class Stages:
    def __init__(self):
        self.began = time.monotonic()

    def stage(self, name):
        say(f"\n== {name}  [{time.monotonic() - self.began:.0f} s]")


def _interrupt(number, _frame):
    raise KeyboardInterrupt(signal.Signals(number).name)


def end_by_signals():
    """From now on each of SIGNALS raises KeyboardInterrupt, so that what was begun is ended."""
    for number in SIGNALS:
        signal.signal(number, _interrupt)
