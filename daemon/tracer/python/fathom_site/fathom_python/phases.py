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


def watch_optimizer(lib, module):
    """Times every optimizer's step by PyTorch's own hooks (2.0 and later)."""
    from . import functions, library

    before = getattr(module, "register_optimizer_step_pre_hook", None)
    after = getattr(module, "register_optimizer_step_post_hook", None)
    index = lib.fathom_function(b"optimizer.step")
    if before is None or after is None or index == functions.NONE:
        return
    begin, end = library.builtins(lib, index, library.BEGIN, library.END)
    if begin is None:
        return

    def on_begin(*given):
        if functions.is_compiling is None or not functions.is_compiling():
            begin()

    def on_end(*given):
        if functions.is_compiling is None or not functions.is_compiling():
            end()

    before(on_begin)
    after(on_end)
