"""Marks for what a training thread does besides communicating: collect garbage, wait for data."""
import gc
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


def patch_loader(module, lib):
    """Marks the time the caller spends in `next()` of a DataLoader's iterator."""
    base = module._BaseDataLoaderIter
    real, begin, end = base.__next__, lib.fathom_mark_begin, lib.fathom_mark_end

    @standing_for(real)
    def __next__(self):
        pair = begin(LOADER_BEGIN, 0)
        try:
            return real(self)
        finally:
            end(LOADER_END, 0, pair)

    base.__next__ = __next__
