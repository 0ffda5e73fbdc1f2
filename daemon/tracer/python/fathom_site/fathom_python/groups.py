"""Tells the tracer the name, description and members of a process group while it is being made."""
import ctypes
import inspect

from . import functions, stacks


def patch(module, lib):
    """Wraps torch.distributed's _new_process_group_helper, around whose call groups are constructed."""
    real = module._new_process_group_helper
    signature = inspect.signature(real)

    @functions.standing_for(real)
    def _new_process_group_helper(*args, **kwargs):
        keep = _announce(lib, signature, args, kwargs)
        _trace_script(lib)
        stacks.start()
        try:
            return real(*args, **kwargs)
        finally:
            if keep is not None:
                lib.fathom_group_end()

    module._new_process_group_helper = _new_process_group_helper
    functions.patch(lib, module, "init_process_group", "communicator (init_process_group)", functions.starting)
    _mark_new_group(module, lib)


def _mark_new_group(module, lib):
    """Marks calls of new_group that all ranks must make; those for members alone tell of no other rank."""
    real = getattr(module, "new_group", None)
    if real is None:
        return
    marked = functions.bracketed(lib, "communicator (new_group)", real)
    signature = inspect.signature(real)

    @functions.standing_for(real)
    def new_group(*args, **kwargs):
        try:
            local = signature.bind(*args, **kwargs).arguments.get("use_local_synchronization")
        except TypeError:
            local = True
        return (real if local else marked)(*args, **kwargs)

    module.new_group = new_group


def _trace_script(lib):
    try:
        functions.trace_main(lib)
    except Exception:
        pass


def _announce(lib, signature, args, kwargs):
    """Announces the group; what is returned must live as long as the announcement."""
    try:
        given = signature.bind(*args, **kwargs).arguments
        name = str(given.get("group_name") or "").encode()
        description = str(given.get("group_desc") or "").encode()
        ranks = [int(r) for r in given.get("global_ranks_in_group") or ()]
        members = (ctypes.c_uint32 * len(ranks))(*ranks)
        lib.fathom_group_begin(name, description, members, len(ranks))
        return name, description, members
    except Exception:
        return None
