"""libfathom.so as it is mapped in this process, through ctypes."""
VERSION = 6


def load():
    """The functions of the library that is preloaded here, or None.

    PyDLL keeps the interpreter lock: the calls take well under a microsecond.
    """
    try:
        import ctypes  # not at start-up: most processes never load it

        lib = ctypes.PyDLL(None)
        lib.fathom_python_version.restype = ctypes.c_int
        if lib.fathom_python_version() != VERSION:
            return None
        u64, u32_array = ctypes.c_uint64, ctypes.POINTER(ctypes.c_uint32)
        lib.fathom_group_begin.argtypes = [ctypes.c_char_p, ctypes.c_char_p, u32_array, ctypes.c_uint32]
        lib.fathom_group_begin.restype = None
        lib.fathom_start.argtypes = []
        lib.fathom_start.restype = None
        lib.fathom_step.argtypes = [u64]
        lib.fathom_step.restype = None
        lib.fathom_group_end.argtypes = []
        lib.fathom_group_end.restype = None
        lib.fathom_mark_begin.argtypes = [u64, u64]
        lib.fathom_mark_begin.restype = u64
        lib.fathom_mark_end.argtypes = [u64, u64, u64]
        lib.fathom_mark_end.restype = None
        lib.fathom_mark_span.argtypes = [u64, ctypes.c_int64, u64, u64, u64]
        lib.fathom_mark_span.restype = None
        lib.fathom_function.argtypes = [ctypes.c_char_p]
        lib.fathom_function.restype = ctypes.c_uint32
        lib.fathom_python_builtin.argtypes = [ctypes.c_uint32, ctypes.c_uint32]
        lib.fathom_python_builtin.restype = ctypes.c_void_p  # ctypes dies of a null py_object
        lib.fathom_python_watch.argtypes = [ctypes.py_object, ctypes.c_uint32]
        lib.fathom_python_watch.restype = ctypes.c_int
        return lib
    except (AttributeError, OSError):
        return None


# What fathom_python_builtin makes.
CALL, BEGIN, END, ON_START, ON_RETURN, METHOD = range(6)


def builtins(lib, function, *wanted):
    """Builtin functions that time calls natively, or None for each where this Python cannot have them.

    They live for ever: the reference that the library hands over is never given back.
    """
    import ctypes

    made = [lib.fathom_python_builtin(which, function) for which in wanted]
    if not all(made):
        return (None,) * len(made)
    return tuple(ctypes.cast(one, ctypes.py_object).value for one in made)
