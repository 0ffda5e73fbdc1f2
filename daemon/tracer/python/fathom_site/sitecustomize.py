"""Start-up hook of fathom: first on PYTHONPATH, run by Python's own `site`.

Registers a finder that waits for the modules it knows, then runs the sitecustomize that would have run
without this folder. Every Python process of a job runs this, most of them for nothing: so it is one file,
and imports only what Python has loaded by then. Does nothing in a process without libfathom.so.
"""
import os
import sys

try:
    from _frozen_importlib import module_from_spec
    from _frozen_importlib_external import PathFinder
except ImportError:  # not CPython
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

# What fathom_python.watch acts after, besides the modules of FATHOM_FUNCTIONS. A test compares.
MODULES = frozenset((
    "torch._tensor", "torch.autograd", "torch.compiler", "torch.cuda",
    "torch.distributed.checkpoint.state_dict_loader", "torch.distributed.checkpoint.state_dict_saver",
    "torch.distributed.distributed_c10d", "torch.distributed.fsdp.fully_sharded_data_parallel",
    "torch.nn.parallel.distributed", "torch.optim.optimizer", "torch.serialization", "torch.utils.data.dataloader",
    "torch._inductor.compile_fx", "torch.utils.cpp_extension",
))
HERE = os.path.dirname(os.path.abspath(__file__))


class _Finder:
    """Stands before the other finders. A module that it does not know costs one look into a set."""

    def __init__(self, names):
        self._names, self._busy = names, set()

    def find_spec(self, name, path=None, target=None):
        if name not in self._names or name in self._busy:
            return None
        self._busy.add(name)
        try:
            watch = _watch()
            return None if watch is None else watch.spec_of(self, name, path, target)
        finally:
            self._busy.discard(name)


def _watch():
    try:
        if "fathom_python" not in sys.modules:  # found wherever sys.path has gone since
            _execute(PathFinder.find_spec("fathom_python", [HERE]))
        from fathom_python import watch

        return watch
    except Exception:  # its folder may be gone by now
        return None


def _execute(spec):
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)


def _install():
    try:
        if os.environ.get("FATHOM_DISABLE", "0") not in ("", "0"):
            return
        preloaded = os.environ.get("LD_PRELOAD", "").replace(":", " ").split()
        if not any(os.path.basename(name).startswith("libfathom") for name in preloaded):
            return
        names = MODULES
        if os.environ.get("FATHOM_FUNCTIONS"):
            from fathom_python.settings import named

            names = MODULES.union(module for module, _ in named())
        sys.meta_path.insert(0, _Finder(names))
    except Exception:  # the tracer's affairs never reach the user's program
        pass


def _shadow():
    """Starts what daemon/shadow does, where it is asked for. True: this process stands in for a rank, untraced."""
    asked = os.environ.get("FATHOM_SHADOW", "")
    if not asked:
        return False
    replays = asked.startswith("replay")
    try:
        from fathom_shadow import start

        start.watch()
    except Exception as error:
        print(f"fathom: no shadow iteration: {error}", file=sys.stderr)
        if replays:  # it would join the running job
            os._exit(1)
    return replays


def _run_next():
    path = [p for p in sys.path if os.path.abspath(p or os.curdir) != HERE]
    spec = PathFinder.find_spec("sitecustomize", path)
    if spec is not None and spec.loader is not None:
        _execute(spec)


if not _shadow():
    _install()
_run_next()
