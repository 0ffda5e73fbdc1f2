"""Start-up hook of fathom: first on PYTHONPATH, run by Python's own `site`.

Registers an import hook that waits for the modules it knows, then runs the sitecustomize that would
have run without this folder. Does nothing in a process without libfathom.so.
"""
import importlib.machinery
import importlib.util
import os
import sys


def _install():
    try:
        import fathom_python.watch

        fathom_python.watch.install()
    except Exception:  # the tracer's affairs never reach the user's program
        pass


def _run_next():
    here = os.path.dirname(os.path.abspath(__file__))
    path = [p for p in sys.path if os.path.abspath(p or os.curdir) != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", path)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


_install()
_run_next()
