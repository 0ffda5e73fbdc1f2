"""Calls a function of this module many times: what `instructions` counts.

    traced_functions.py LIBFAKE_GLOO traced|untraced CALLS

FATHOM_FUNCTIONS names `traced_functions:traced`. The group wakes the tracer up.
"""
import ctypes
import sys


def traced():
    pass


def untraced():
    pass


class Gloo(ctypes.Structure):
    _fields_ = [("make_group", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_int, ctypes.c_int))]


if __name__ == "__main__":
    import traced_functions  # as a module, so that it is wrapped when it has been imported

    Gloo.in_dll(ctypes.CDLL(sys.argv[1]), "fake_gloo").make_group(0, 2)
    call = getattr(traced_functions, sys.argv[2])
    for _ in range(int(sys.argv[3])):
        call()
