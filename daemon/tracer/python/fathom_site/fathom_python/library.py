"""libfathom.so as it is mapped in this process, through ctypes."""
import os

VERSION = 2


def preloaded():
    """True if libfathom.so is named in LD_PRELOAD: a look at a string, nothing is loaded."""
    names = os.environ.get("LD_PRELOAD", "").replace(":", " ").split()
    return any(os.path.basename(name).startswith("libfathom") for name in names)


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
        return lib
    except (AttributeError, OSError):
        return None
