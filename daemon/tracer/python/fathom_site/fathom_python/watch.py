"""An import hook that acts when a module of interest has just been executed, and never before."""
import os
import sys

from . import library, phases
from .settings import named

GROUPS = "torch.distributed.distributed_c10d"
LOADER = "torch.utils.data.dataloader"
COMPILER = "torch.compiler"


def install():
    """Registers the hook. Nothing happens where the tracer is absent or FATHOM_DISABLE is set."""
    if os.environ.get("FATHOM_DISABLE", "0") not in ("", "0") or not library.preloaded():
        return
    sys.meta_path.insert(0, _Watcher({GROUPS, LOADER, COMPILER, phases.OPTIMIZER, *phases.PHASES, *(m for m, _ in named())}))


class _Watcher:
    """Answers for no module itself: it lets the other finders find, and wraps the loader they give."""

    def __init__(self, names):
        self._names, self._busy = names, set()

    def find_spec(self, name, path=None, target=None):
        if name not in self._names or name in self._busy:
            return None
        self._busy.add(name)
        try:
            spec = _find(name, path, target)
        finally:
            self._busy.discard(name)
        if spec is not None and spec.loader is not None and hasattr(spec.loader, "exec_module"):
            spec.loader = _Loader(spec.loader, name)
        return spec


def _find(name, path, target):
    for finder in sys.meta_path:
        if isinstance(finder, _Watcher):
            continue
        spec = finder.find_spec(name, path, target) if hasattr(finder, "find_spec") else None
        if spec is not None:
            return spec
    return None


class _Loader:
    """The real loader, and one call after it has executed the module."""

    def __init__(self, real, name):
        self._real, self._name = real, name

    def create_module(self, spec):
        return self._real.create_module(spec)

    def exec_module(self, module):
        # The module must end up with its own loader: pickle, inspect and pkgutil look at it.
        module.__spec__.loader = self._real
        module.__loader__ = self._real
        self._real.exec_module(module)
        _act(self._name, module)


def _act(name, module):
    try:
        lib = library.load()
        if lib is None:
            return
        if name == GROUPS:
            from . import groups, marks

            groups.patch(module, lib)
            marks.watch_gc(lib)
        elif name == LOADER:
            from . import marks

            marks.patch_loader(module, lib)
        elif name == phases.OPTIMIZER:
            phases.watch_optimizer(lib, module)
        elif name in phases.PHASES:
            phases.patch(lib, name, module)
        from . import functions

        if name == COMPILER:
            functions.compiler_is_there(module)
        for wanted, qualname in named():
            if wanted == name:
                functions.trace(lib, module, qualname)
    except Exception:
        pass
