"""The faults of the jobs beside this file: those of FATHOM_DATA_DIR/torch_jobs/faults.py."""
import importlib.util
import os
import pathlib

HERE = pathlib.Path(__file__).resolve()
DATA = pathlib.Path(os.environ.get("FATHOM_DATA_DIR", HERE.parents[5] / "shared/data"))


def _load():
    spec = importlib.util.spec_from_file_location("data_faults", DATA / "torch_jobs" / "faults.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_faults = _load()
Batches, Fault, Progress, arguments = _faults.Batches, _faults.Fault, _faults.Progress, _faults.arguments
