"""Waits for torch.distributed, then makes this process record or replay. Loaded by sitecustomize.

A record that cannot be made leaves the job as it is and says so on stderr. A joiner that cannot replay ends: it
would join the running job as a second process of the same rank.
"""
import os
import sys

from .settings import Settings, replays

GROUPS = "torch.distributed.distributed_c10d"


class _Finder:
    """Stands before the other finders, until the one module that it waits for has been found."""

    def find_spec(self, name, path=None, target=None):
        if name != GROUPS:
            return None
        sys.meta_path.remove(self)
        for finder in list(sys.meta_path):
            spec = finder.find_spec(name, path, target) if hasattr(finder, "find_spec") else None
            if spec is not None:
                _follow(spec)
                return spec
        return None


def _follow(spec):
    """Has `begin` called once the module has been executed."""
    execute = spec.loader.exec_module

    def exec_module(module):
        del spec.loader.exec_module
        execute(module)
        begin(module)

    spec.loader.exec_module = exec_module


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
