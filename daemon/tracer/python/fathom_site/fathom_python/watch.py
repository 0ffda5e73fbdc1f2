"""What is done when a module of interest has just been executed. Loaded with the first of them, and by fathom_shadow,
which acts otherwise."""
import sys

from . import functions, library, phases
from .settings import named

GROUPS = "torch.distributed.distributed_c10d"
LOADER = "torch.utils.data.dataloader"
COMPILER = "torch.compiler"
MODULES = {GROUPS, LOADER, COMPILER, phases.OPTIMIZER, *phases.PHASES}  # sitecustomize names them too


def spec_of(finder, name, path, target, act=None):
    """What the finders beside `finder` find, its loader wrapped: it calls act(name, module) once it has executed."""
    spec = _find(finder, name, path, target)
    if spec is not None and spec.loader is not None and hasattr(spec.loader, "exec_module"):
        spec.loader = _Loader(spec.loader, name, act or _act)
    return spec


def _find(ours, name, path, target):
    for finder in sys.meta_path:
        if finder is ours:
            continue
        spec = finder.find_spec(name, path, target) if hasattr(finder, "find_spec") else None
        if spec is not None:
            return spec
    return None


class _Loader:
    """The real loader in all else (runpy asks for code, inspect for source), and one call after it has executed."""

    def __init__(self, real, name, act):
        self._real, self._name, self._act = real, name, act

    def __getattr__(self, name):
        if name == "_real":  # of one that copy or pickle is just making
            raise AttributeError(name)
        return getattr(self._real, name)

    def create_module(self, spec):
        return self._real.create_module(spec)

    @functions.unseen
    def exec_module(self, module):
        # The module must end up with its own loader: pickle, inspect and pkgutil look at it.
        module.__spec__.loader = self._real
        module.__loader__ = self._real
        self._real.exec_module(module)
        self._act(self._name, module)


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
        if name == COMPILER:
            functions.compiler_is_there(module)
        for wanted, qualname in named():
            if wanted == name:
                functions.trace(lib, module, qualname)
    except Exception:
        pass
