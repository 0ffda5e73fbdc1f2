"""Marks for what a training thread does besides communicating: collect garbage, wait for data."""
import collections
import gc
import itertools
import time

from .functions import standing_for

# abi::MarkKind of daemon/abi/event_record.h
GC_BEGIN, GC_END, LOADER_BEGIN, LOADER_END = 1, 2, 3, 4

OLDEST_GENERATION = 2
SHORT_NS = 1_000_000  # collections of the young generations below this leave no mark


def watch_gc(lib):
    """Marks collections of the oldest generation, and any that takes 1 ms or longer.

    CPython runs at most one collection at a time in a process, so one pair of variables is enough.
    """
    clock, begin, end, span = time.monotonic_ns, lib.fathom_mark_begin, lib.fathom_mark_end, lib.fathom_mark_span
    started, pair = 0, 0

    def on_gc(phase, info):
        nonlocal started, pair
        try:
            generation = info["generation"]
            if phase == "start":
                if generation >= OLDEST_GENERATION:
                    pair = begin(GC_BEGIN, generation)
                else:
                    started = clock()
            elif generation >= OLDEST_GENERATION:
                end(GC_END, info["collected"], pair)
            elif clock() - started >= SHORT_NS:
                span(GC_BEGIN, started, generation, GC_END, info["collected"])
        except Exception:
            pass

    gc.callbacks.append(on_gc)


MOST_LEAVES = 16  # of a batch that are looked at
DEEPEST = 3


def elements_of(batch, tensor):
    """Elements of the largest tensor in a batch; 0 where none is seen.

    Nothing is asked that might have a mind of its own: tensors and dictionaries of exactly these types, lists and
    tuples as Python itself reads them, and the dictionary within a UserDict (as tokenizers give).
    """
    most, left, level = 0, MOST_LEAVES, [batch]
    for _ in range(DEEPEST + 1):
        inner = []
        for value in level:
            kind = type(value)
            if kind is tensor:
                most = max(most, value.numel())
            elif isinstance(value, tuple):
                inner.extend(tuple.__getitem__(value, slice(left)))
            elif kind is list:
                inner.extend(value[:left])
            elif kind is dict:
                inner.extend(itertools.islice(value.values(), left))
            elif isinstance(value, collections.UserDict):
                inner.append(value.__dict__.get("data"))
            left -= 1
            if left <= 0:
                return most
        level = inner
    return most


def patch_loader(module, lib):
    """Marks the time the caller spends in `next()` of a DataLoader's iterator, and how much it got."""
    base = module._BaseDataLoaderIter
    real, begin, end = base.__next__, lib.fathom_mark_begin, lib.fathom_mark_end
    tensor = getattr(getattr(module, "torch", None), "Tensor", None)

    @standing_for(real)
    def __next__(self):
        pair = begin(LOADER_BEGIN, 0)
        elements = 0
        try:
            batch = real(self)
            try:
                elements = elements_of(batch, tensor)
            except Exception:
                pass
            return batch
        finally:
            end(LOADER_END, elements, pair)

    base.__next__ = __next__
