"""In a joiner: runs the script as a rank of a job that is not there, every collective answered from a record.

No group connects to anybody: a backend of PyTorch that does nothing stands in for the real one, and refuses what
has no answer; the rendezvous is a store in this process. At the border of the recorded iteration the joiner tells
what it has come to, in FOLDER/rank-N.joiner.json, and waits there, warm, until it is ended.
"""
import functools
import json
import os
import sys
import threading
import time

import torch
from torch._C._distributed_c10d import FakeProcessGroup, HashStore, _create_work_from_future

from . import ops
from .border import Border, weights_of
from .record_file import Reader, path_of, sum_of
from .settings import END
from .sockets import network_sockets
from .start import say

BACKEND = "fathom_shadow"


def watch(module, settings):
    os.environ["TORCH_DIST_INIT_BARRIER"] = "0"  # the others never come
    if not os.environ.get("RANK", "").isdigit():
        raise ValueError("RANK does not say which rank's record is meant")
    rank = int(os.environ["RANK"])
    reader = Reader(path_of(settings.folder, rank))
    joiner = Joiner(settings, reader, rank)
    module.rendezvous = lambda *args, **kwargs: iter([(HashStore(), rank, joiner.world_size)])
    module.Backend.register_backend(BACKEND, _silent, devices=["cpu", "cuda"])
    real = module._new_process_group_helper

    @functools.wraps(real)
    def _new_process_group_helper(group_size, group_rank, ranks, backend, *args, **kwargs):
        joiner.start()
        made = real(group_size, group_rank, ranks, BACKEND, *args, **kwargs)
        if made[0] in module._world.pg_map:  # who asks is told what the script said
            module._world.pg_map[made[0]] = (backend, module._world.pg_map[made[0]][1])
        return made

    module._new_process_group_helper = _new_process_group_helper


def _silent(store, rank, size, timeout):
    options = FakeProcessGroup.Options()
    options.error_on_collective = True
    return FakeProcessGroup._create_internal(rank, size, options)


class Joiner:
    """Thread-safe: ops are called by any thread."""

    def __init__(self, settings, reader, rank):
        self._settings, self._reader, self._rank = settings, reader, rank
        self._lock = threading.Lock()
        self._next = {}  # by line of calls
        self._answered = self._equal = 0
        self._began = time.monotonic()
        self._interposed = None
        index = reader.index
        if index["rank"] != rank:
            raise ValueError(f"the record is one of rank {index['rank']}")
        self.world_size = index["world_size"]

    def start(self):
        if self._interposed is None:
            self._interposed = ops.interpose(self._call)  # for as long as it is held
            Border(self._reader.index["iterations"], self._end)

    def _call(self, op, real, keys, args):
        try:
            call = ops.Call(op, args)
            entry = self._entry(call)
            self._fill(call, entry)
        except Exception as error:
            self._tell(state="diverged", why=str(error))
            raise RuntimeError(f"fathom: the shadow iteration cannot go on: {error}") from error
        future = torch.futures.Future()
        future.set_result(call.gives or call.takes)
        return call.answer(_create_work_from_future(future))

    def _entry(self, call):
        """What was recorded of this call."""
        same = sum_of(call.takes)
        with self._lock:
            place = self._next.get(call.line, 0)
            calls = self._reader.index["calls"].get(call.line, [])
            if place >= len(calls):
                raise ValueError(f"call {place} of group {call.line} ({call.op}) is not in the record")
            entry = calls[place]
            if entry["op"] != call.op:
                raise ValueError(f"call {place} of group {call.line} is {call.op}, the record has {entry['op']}")
            self._next[call.line] = place + 1
            self._answered += 1
            self._equal += same == entry["takes"]
        return entry

    def _fill(self, call, entry):
        if len(entry["gives"]) != len(call.gives):
            raise ValueError(f"{call.op} of group {call.line} gives {len(call.gives)} tensors, "
                             f"the record has {len(entry['gives'])}")
        for tensor, told in zip(call.gives, entry["gives"]):
            if list(tensor.shape) != told[1] or str(tensor.dtype) != "torch." + told[0]:
                raise ValueError(f"{call.op} of group {call.line} gives {tensor.dtype} {list(tensor.shape)}, "
                                 f"the record has {told[0]} {told[1]}")
            tensor.data.copy_(self._reader.tensor(told))  # unseen by autograd, as a real backend writes

    def _end(self, optimizer):
        index = self._reader.index
        self._tell(state="warm", weights_equal=weights_of(optimizer) == index["weights"])
        if self._settings.then == END:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(0)
        threading.Event().wait()

    def _tell(self, **what):
        index = self._reader.index
        told = {"rank": self._rank, "iterations": index["iterations"], "answered": self._answered,
                "recorded": sum(map(len, index["calls"].values())), "inputs_equal": self._equal,
                "network_sockets": network_sockets(), "seconds": round(time.monotonic() - self._began, 3),
                "recorded_seconds": round(index["seconds"], 3), **what}
        path = os.path.join(self._settings.folder, f"rank-{self._rank}.joiner.json")
        with open(path + ".part", "w") as file:
            json.dump(told, file)
        os.replace(path + ".part", path)
        say(f"shadow iteration of rank {self._rank}: {json.dumps(told)}")
