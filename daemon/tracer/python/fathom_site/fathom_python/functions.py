"""Marks for Python functions: the phases of a training step, and those that the user names.

A call of 0.1 ms or longer leaves a begin and an end, both written when it is over. Shorter calls
are added up, and told as one stretch that ends with the last of them.
"""
import functools
import inspect
import sys
import types

from . import library
from .settings import named

# abi::MarkKind of daemon/abi/event_record.h
FUNCTION_BEGIN, FUNCTION_END = 5, 6
NONE = 0xFFFFFFFF

SUSPENDING = 0x20 | 0x80 | 0x200  # inspect.CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR
# What a wrapper can stand for: all else may have more to it than calls (a cache, a state).
WRAPPABLE = (types.FunctionType, types.MethodType, types.BuiltinFunctionType, types.MethodDescriptorType)

# What `warnings` and `logging` take for the import system, and do not count as a caller: so a warning that is
# raised for the caller of a wrapped function names that caller. Their _is_internal_frame looks for both words;
# coverage passes over a file in brackets.
PASSED_OVER = "<fathom: importlib_bootstrap>"

is_compiling = None  # asks Dynamo; None while torch.compiler is not there


def unseen(wrapper):
    """`wrapper`, whose frame is nobody's caller."""
    wrapper.__code__ = wrapper.__code__.replace(co_filename=PASSED_OVER)
    return wrapper


def standing_for(real):
    """What makes a wrapper of `real` look like it: functools.wraps, and more where that does not suffice."""

    def dress(wrapper):
        wrapper = unseen(functools.wraps(real)(wrapper))
        try:
            wrapper.__signature__ = inspect.signature(real)  # getfullargspec does not ask __wrapped__
        except (TypeError, ValueError):
            pass  # written in C
        return wrapper

    return dress


def timed(lib, label, real):
    """`real` in a wrapper that tells how long its calls take."""
    index = lib.fathom_function(label.encode())
    call, = library.builtins(lib, index, library.CALL) if index != NONE else (None,)
    if call is None:
        return real

    @standing_for(real)
    def traced(*args, **kwargs):
        # Dynamo takes this as true: the compiled graph is the one without us
        if is_compiling is not None and is_compiling():
            return real(*args, **kwargs)
        return call(real, args, kwargs)

    return traced


def timed_in_c(lib, label, real):
    """`real`, a method that is written in C and takes no arguments, as another such method of its type.

    No frame of ours then: a warning that C raises is told of the line of Python that called (PyErr_WarnEx).
    """
    if not isinstance(real, types.MethodDescriptorType):
        return timed(lib, label, real)
    index = lib.fathom_function(label.encode())
    make, = library.builtins(lib, index, library.METHOD) if index != NONE else (None,)
    made = make(real.__objclass__, real, real.__name__) if make is not None else None
    return real if made is None else made


def bracketed(lib, label, real):
    """`real` in a wrapper that marks its begin at once: for what is long and may hang."""
    index = lib.fathom_function(label.encode())
    if index == NONE:
        return real
    begin, end = lib.fathom_mark_begin, lib.fathom_mark_end

    @standing_for(real)
    def traced(*args, **kwargs):
        pair = begin(FUNCTION_BEGIN, index)
        try:
            return real(*args, **kwargs)
        finally:
            end(FUNCTION_END, index, pair)

    return traced


def starting(lib, label, real):
    """`real` as bracketed() has it, with the tracer on from then: who calls it is a rank of a job."""
    traced = bracketed(lib, label, real)
    start = lib.fathom_start

    @standing_for(real)
    def started(*args, **kwargs):
        start()
        return traced(*args, **kwargs)

    return started


def patch(lib, owner, name, label, wrap=timed):
    """Puts a wrapper in place of `owner.name`, a function or a method. False: nothing such there.

    A method that is inherited is wrapped in the class that has it: put into `owner` it would go
    before those of other classes that come between the two.
    """
    holder, real = _found(owner, name)
    kind = type(real) if type(real) in (staticmethod, classmethod) else None
    function = real.__func__ if kind else real
    if type(function) not in WRAPPABLE or suspends(function) or hasattr(function, "_fathom"):
        return False
    if not isinstance(function, types.FunctionType):
        if isinstance(holder, type) and not isinstance(function, types.MethodDescriptorType):
            return False  # no method: a wrapper would make it one
        holder = owner  # the class that has it is written in C and cannot be changed
    traced = wrap(lib, label, function)
    if traced is function:
        return False
    if isinstance(traced, types.FunctionType):
        traced._fathom = True
    setattr(holder, name, kind(traced) if kind else traced)
    return True


def _found(owner, name):
    """Where the name is found, and what stands there, bound to nothing; None: it is not there."""
    if not isinstance(owner, type):
        return owner, getattr(owner, name, None)
    for holder in owner.__mro__:
        if name in holder.__dict__:
            return holder, holder.__dict__[name]
    return owner, None


def suspends(function):
    """True for generators and coroutines: between their begin and their end others run."""
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    return bool(getattr(code, "co_flags", 0) & SUSPENDING)


def trace(lib, module, qualname):
    """Traces a function of an imported module; once, wherever it is called from."""
    *path, name = qualname.split(".")
    owner = module
    for step in path:
        owner = getattr(owner, step, None)
    label = "%s:%s" % (module.__name__, qualname)
    function = getattr(owner, name, None)
    function = getattr(function, "__func__", function)
    if isinstance(function, types.FunctionType) and hasattr(sys, "monitoring"):
        return not suspends(function) and _Monitor.of(lib).add(function.__code__, label)
    del function  # which would count
    if owner is None or _is_held_elsewhere(owner, name):
        return False
    return patch(lib, owner, name, label)


def _is_held_elsewhere(owner, name):
    """True if others than its module or class have this function too: in a table, as a default, as a callback.

    They would keep it without the wrapper, and could not pickle it any more: pickle tells a function by its name,
    and minds that another one has it.
    """
    holder, real = _found(owner, name)
    kind = type(real)
    del real
    if kind not in (types.FunctionType, staticmethod, classmethod):
        return False
    alone = (lambda: None) if kind is types.FunctionType else kind(lambda: None)
    space = {name: alone}
    del alone
    return _references(holder.__dict__, name) > _references(space, name)


def _references(space, name):
    function = space[name]
    function = getattr(function, "__func__", function)
    return sys.getrefcount(function)


def trace_main(lib):
    """Functions of the script itself: they are there when the first process group is made."""
    main = sys.modules.get("__main__")
    spec = getattr(main, "__spec__", None)
    for module, qualname in named():
        if main is not None and module in ("__main__", getattr(spec, "name", None)):
            trace(lib, main, qualname)


def compiler_is_there(compiler):
    """Wrappers made before it, too, ask torch.compiler from here on."""
    global is_compiling
    # The one that Dynamo alone answers with yes says a plain no: it is a third as dear.
    is_compiling = getattr(compiler, "is_dynamo_compiling", None) or getattr(compiler, "is_compiling", None)


class _Monitor:
    """sys.monitoring on the code objects that are traced, and on no other (Python 3.12 and later).

    A call that ends by an exception is not told: that event cannot be had for single functions.
    """

    _one = None

    @classmethod
    def of(cls, lib):
        if cls._one is None:
            cls._one = cls(lib)
        return cls._one

    def __init__(self, lib):
        self._lib, self._codes, self._tool = lib, set(), None
        on_start, on_return = library.builtins(lib, 0, library.ON_START, library.ON_RETURN)
        if on_start is None:
            return
        for tool in (3, 4):  # without a meaning of their own
            try:
                sys.monitoring.use_tool_id(tool, "fathom")
            except ValueError:
                continue
            self._tool = tool
            events = sys.monitoring.events
            sys.monitoring.register_callback(tool, events.PY_START, on_start)
            sys.monitoring.register_callback(tool, events.PY_RETURN, on_return)
            return

    def add(self, code, label):
        if self._tool is None or code in self._codes:
            return False
        index = self._lib.fathom_function(label.encode())
        if index == NONE or not self._lib.fathom_python_watch(code, index):
            return False
        self._codes.add(code)  # and thereby kept
        events = sys.monitoring.events
        sys.monitoring.set_local_events(self._tool, code, events.PY_START | events.PY_RETURN)
        return True
