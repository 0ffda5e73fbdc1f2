"""The phases of a training step in PyTorch, and what makes a training thread wait by itself."""
ITEM = "Tensor.item"
# module → the functions of it that are traced: attribute path, label, long (marked at once)
PHASES = {
    "torch._tensor": (("Tensor.item", ITEM, False),),
    "torch.autograd": (("backward", "backward", False),),
    "torch.cuda": (("synchronize", "torch.cuda.synchronize", False),),
    "torch.nn.parallel.distributed": (("DistributedDataParallel.forward", "forward", False),),
    "torch.distributed.fsdp.fully_sharded_data_parallel": (("FullyShardedDataParallel.forward", "forward", False),),
    "torch.serialization": (("save", "checkpoint (torch.save)", True), ("load", "checkpoint (torch.load)", True)),
    "torch._inductor.compile_fx": (("compile_fx", "compile (torch.compile)", True),),
    "torch.utils.cpp_extension": (("_jit_compile", "compile (torch.utils.cpp_extension)", True),),
    "torch.distributed.checkpoint.state_dict_saver": (
        ("save", "checkpoint (torch.distributed.checkpoint.save)", True),
        ("async_save", "checkpoint (torch.distributed.checkpoint.async_save)", True),
    ),
    "torch.distributed.checkpoint.state_dict_loader": (
        ("load", "checkpoint (torch.distributed.checkpoint.load)", True),
    ),
}
OPTIMIZER = "torch.optim.optimizer"


def patch(lib, name, module):
    """Wraps what PHASES names in a module that was just executed."""
    from . import functions

    for path, label, is_long in PHASES[name]:
        owner = module
        *steps, last = path.split(".")
        for step in steps:
            owner = getattr(owner, step, None)
        if owner is not None:
            short = functions.timed_in_c if label == ITEM else functions.timed
            functions.patch(lib, owner, last, label, functions.bracketed if is_long else short)


class _Steps:
    """Tells of each step of an optimizer that no other one's step contains, with the bytes that it updates."""

    def __init__(self, lib):
        import weakref

        self._lib, self._sizes, self._outermost = lib, weakref.WeakKeyDictionary(), None

    def begin(self, optimizer):
        if self._outermost is None:
            self._outermost = id(optimizer)

    def end(self, optimizer):
        if self._outermost != id(optimizer):
            return
        self._outermost = None
        size = self._sizes.get(optimizer)
        if size is None:
            size = self._sizes[optimizer] = _bytes_of(optimizer)
            self._begin_script()
        self._lib.fathom_step(size)

    def _begin_script(self):
        """What is otherwise done when a process makes its first group."""
        from . import functions, stacks

        try:
            functions.trace_main(self._lib)
        except Exception:
            pass
        stacks.start()


def _bytes_of(optimizer):
    return sum(p.numel() * p.element_size() for group in optimizer.param_groups for p in group["params"])


def watch_optimizer(lib, module):
    """Times every optimizer's step by PyTorch's own hooks (2.0 and later), and tells that it was."""
    from . import functions, library

    before = getattr(module, "register_optimizer_step_pre_hook", None)
    after = getattr(module, "register_optimizer_step_post_hook", None)
    index = lib.fathom_function(b"optimizer.step")
    if before is None or after is None or index == functions.NONE:
        return
    begin, end = library.builtins(lib, index, library.BEGIN, library.END)
    if begin is None:
        return
    steps = _Steps(lib)

    def on_begin(optimizer, *given):
        if functions.is_compiling is None or not functions.is_compiling():
            steps.begin(optimizer)
            begin()

    def on_end(optimizer, *given):
        if functions.is_compiling is None or not functions.is_compiling():
            end()
            steps.end(optimizer)

    before(on_begin)
    after(on_end)
