"""Calls a function of this module many times: what `instructions` counts; or times it.

    traced_functions.py LIBFAKE_GLOO traced|untraced CALLS
    traced_functions.py LIBFAKE_GLOO ns [MODULE]

`ns` prints by how many nanoseconds a call of the traced function is dearer than one of the other, in
the least disturbed of 500 batches of 1,500 each; MODULE (torch, say) is imported first.
FATHOM_FUNCTIONS names `traced_functions:traced`. The group wakes the tracer up.
"""
import ctypes
import importlib
import sys
import time


def traced():
    pass


def untraced():
    pass


class Gloo(ctypes.Structure):
    _fields_ = [("make_group", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_int, ctypes.c_int))]


def least_ns(call, batches=500, calls=1500):
    best, each = float("inf"), range(calls)
    for _ in range(batches):
        begin = time.perf_counter_ns()
        for _ in each:
            call()
        best = min(best, time.perf_counter_ns() - begin)
    return best / calls


def main(library, what, *more):
    if what == "ns" and more:
        importlib.import_module(more[0])
    import traced_functions  # as a module, so that it is wrapped when it has been imported

    Gloo.in_dll(ctypes.CDLL(library), "fake_gloo").make_group(0, 2)
    if what == "ns":
        bare = least_ns(traced_functions.untraced)
        print("%.0f" % (least_ns(traced_functions.traced) - bare))
        return
    call = getattr(traced_functions, what)
    for _ in range(int(more[0])):
        call()


if __name__ == "__main__":
    main(*sys.argv[1:])
