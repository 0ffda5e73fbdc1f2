"""Waits for torch.distributed, then makes this process record or replay. Loaded by sitecustomize.

A record that cannot be made leaves the job as it is and says so on stderr. A joiner that cannot replay ends: it
would join the running job as a second process of the same rank.
"""
import os
import sys

from fathom_python import watch as modules

from .settings import Settings, replays


class _Finder:
    """Stands before the other finders, until the one module that it waits for is asked for."""

    def find_spec(self, name, path=None, target=None):
        if name != modules.GROUPS:
            return None
        sys.meta_path.remove(self)
        return modules.spec_of(self, name, path, target, lambda _, module: begin(module))


def watch():
    sys.meta_path.insert(0, _Finder())


def say(text):
    print(f"fathom: {text}", file=sys.stderr, flush=True)


def begin(module):
    """`module`: torch.distributed.distributed_c10d, just executed."""
    try:
        settings = Settings()
        if settings.mode == "record":
            from . import recorder

            recorder.watch(module, settings)
        else:
            from . import joiner

            joiner.watch(module, settings)
    except Exception as error:
        if replays():
            say(f"no shadow iteration: {error}")
            os._exit(1)
        say(f"nothing is recorded for a shadow iteration: {error}")
