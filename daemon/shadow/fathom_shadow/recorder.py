"""In a running rank: keeps what each collective gave, from the first group on until an iteration's border.

The job's results are those without it. An op's Work is followed by a Work that is done when the results have been
kept, which is before anybody who waits can change them; nothing is waited for that the job does not wait for. What
goes wrong here ends the record, not the job. After the border the real kernels are back and nothing of this runs.
"""
import atexit
import functools
import os
import threading
import time

import torch
from torch._C._distributed_c10d import PythonCallbackWork, _create_work_from_future

from . import ops
from .border import Border, weights_of
from .record_file import Writer, path_of, sum_of
from .start import say


def watch(module, settings):
    """Begins with the first group of the process, the default one, in which it has its rank."""
    real = module._new_process_group_helper

    begun = False

    @functools.wraps(real)
    def _new_process_group_helper(group_size, group_rank, *args, **kwargs):
        nonlocal begun
        try:
            if not begun and (settings.ranks is None or group_rank in settings.ranks):
                Recorder(settings, group_rank, group_size)
        except Exception as error:
            say(f"nothing is recorded for a shadow iteration: {error}")
        begun = True
        return real(group_size, group_rank, *args, **kwargs)

    module._new_process_group_helper = _new_process_group_helper


class Recorder:
    """Thread-safe: ops are called by any thread, and are over on threads of the backend."""

    def __init__(self, settings, rank, world_size):
        os.makedirs(settings.folder, exist_ok=True)
        self._path = path_of(settings.folder, rank)
        self._writer = Writer(self._path)
        self._lock = threading.Lock()
        self._pending = 0  # results that are not there yet
        self._index = {"version": 1, "torch": torch.__version__, "rank": rank, "world_size": world_size,
                       "iterations": settings.iterations, "weights": None, "seconds": 0, "calls": {}}
        self._began = time.monotonic()
        atexit.register(self._give_up, "the process ends before the border of its iteration")
        self._border = Border(settings.iterations, self._end)
        self._remove = ops.interpose(self._call)

    def _call(self, op, real, keys, args):
        kept = self._enter(op, args)
        result = real(keys, args)
        return result if kept is None else self._follow(*kept, result)

    def _enter(self, op, args):
        """The call and its entry; None: it is not recorded."""
        if self._writer is None or self._index["weights"] is not None:
            return None
        try:
            call = ops.Call(op, args)
            entry = {"op": op, "takes": sum_of(call.takes), "gives": []}
            with self._lock:
                self._index["calls"].setdefault(call.line, []).append(entry)
                self._pending += bool(call.gives)
            return (call, entry) if call.gives else None
        except Exception as error:
            self._give_up(error)
            return None

    def _follow(self, call, entry, result):
        """`result` with a Work in it that is done once the results have been kept."""
        try:
            work = ops.work_of(result)
            future = _future_of(work)
            if future is None:
                return call.answer(PythonCallbackWork(lambda timeout: self._waited(work, timeout, call, entry)))

            def over(future):
                value = future.value()
                self._keep(call, entry)
                return value

            return call.answer(_create_work_from_future(future.then(over)))
        except Exception as error:
            self._give_up(error)
            return result

    def _waited(self, work, timeout, call, entry):
        done = work.wait(timeout)
        self._keep(call, entry)
        return done

    def _keep(self, call, entry):
        try:
            with self._lock:
                if self._writer is None or entry["gives"]:
                    return
                entry["gives"] = [self._writer.append(tensor) for tensor in call.gives]
                self._pending -= 1
                self._close_if_over()
        except Exception as error:
            self._give_up(error)

    def _end(self, optimizer):
        self._remove()
        try:
            if self._writer is None:
                return
            weights = weights_of(optimizer)
            with self._lock:
                self._index.update(weights=weights, seconds=time.monotonic() - self._began)
                self._close_if_over()
        except Exception as error:
            self._give_up(error)

    def _close_if_over(self):
        if self._index["weights"] is not None and self._pending == 0:
            self._writer.close(self._index)
            self._writer = None

    def _give_up(self, error):
        with self._lock:
            writer, self._writer = self._writer, None
        if writer is None:
            return
        say(f"the record {self._path} is given up: {error}")
        try:
            writer.drop()
        except OSError:
            pass


def _future_of(work):
    """None: it has none, and its results are there when it was waited for (Gloo's receives, its reduce-scatter)."""
    try:
        return work.get_future()
    except RuntimeError:
        return None
