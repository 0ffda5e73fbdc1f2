"""The ops of c10d as PyTorch's dispatcher knows them, and kernels put before the real ones.

Whoever communicates, Python, DDP's reducer or a functional collective, comes through these ops, for whatever
backend. torch.library is the public way to put a kernel of one's own before a real one, and to take it away again.
"""
import torch
from torch._C._distributed_c10d import Work
from torch.distributed import ProcessGroup

# The first argument holds what the op gives; what it takes is the same, or the second argument.
IN_PLACE = ("broadcast_", "allreduce_", "allreduce_coalesced_", "reduce_", "recv_")
APART = ("allgather_", "_allgather_base_", "allgather_coalesced_", "allgather_into_tensor_coalesced_", "gather_",
         "scatter_", "reduce_scatter_", "_reduce_scatter_base_", "reduce_scatter_tensor_coalesced_", "alltoall_",
         "alltoall_base_")
TAKES_ONLY = ("send",)
NOTHING = ("barrier", "monitored_barrier_")
ANSWERED = IN_PLACE + APART + TAKES_ONLY + NOTHING
UNANSWERED = ("recv_any_source_",)  # a Work made in Python cannot tell its source

BROADCAST, SEND, RECEIVE = "broadcast_", "send", "recv_"


def flat(value):
    """The tensors in an argument: one, a list of them, a list of lists."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [tensor for part in value for tensor in flat(part)]
    return []


def _plain(tensor):
    """A dense one of the CPU: of one with gaps Gloo writes what lies between, which is not in its elements."""
    if tensor.device.type != "cpu" or tensor.layout != torch.strided:
        return False
    span = 1 + sum((size - 1) * step for size, step in zip(tensor.shape, tensor.stride()))
    return tensor.numel() in (0, span)


class Call:
    """One call of an op: what it takes and gives, and the line of calls that has an order of its own.

    ValueError: the op cannot be answered from a record.
    """

    def __init__(self, op, args):
        if op not in ANSWERED:
            raise ValueError(f"{op} cannot be answered from a record")
        self.op, self.args = op, args
        apart = op in APART
        self.group = ProcessGroup.unbox(args[2 if apart else 1])
        rest = args[3 if apart else 2:]
        self.line = self.group.group_name
        if op in (SEND, RECEIVE):
            self.line += f"/{op}/{rest[0]}/{rest[1]}"
        root = op == BROADCAST and rest[0] == self.group.rank()  # who is it has what the op gives
        waits = op == RECEIVE or op == BROADCAST and not root
        self.takes = [] if waits or op in NOTHING else flat(args[1 if apart else 0])
        self.gives = [] if root or op in TAKES_ONLY + NOTHING else flat(args[0])
        if not all(map(_plain, flat(args[0]) + self.takes)):
            raise ValueError(f"{op} of tensors that are not dense ones of the CPU cannot be answered from a record")

    def answer(self, work):
        """What the op's kernel returns, with `work` for its Work."""
        returns = len(schema(self.op).returns)
        return None if returns == 0 else work.boxed() if returns == 1 else (self.args[0], work.boxed())


def schema(op):
    return getattr(torch.ops.c10d, op).default._schema


def work_of(result):
    """The Work in what an op's kernel returned."""
    boxed = result[-1] if isinstance(result, tuple) else result
    return Work.unbox(boxed)


def interpose(call):
    """Puts call(op, real, keys, args) before every op. Returns what takes it away; it is gone, too, when that is let go.

    The place is the dispatcher's BackendSelect: every call comes by it, for c10d it is empty, and the kernels of the
    backends lie right below. They are called by redispatch, which lets go of Python's lock; a kernel that is called
    with it held waits for ever where a thread of Gloo lets go of a tensor that Python knows.
    """
    library = torch.library.Library("c10d", "IMPL")
    for op in ANSWERED + UNANSWERED:
        library.impl(op, _kernel(call, op), "BackendSelect", with_keyset=True)
    return library._destroy


def _kernel(call, op):
    overload = getattr(torch.ops.c10d, op).default
    below = torch._C._dispatch_keyset_full_after(torch._C.DispatchKey.BackendSelect)

    def real(keys, args):
        return overload.redispatch(keys & below, *args)

    return lambda keys, *args: call(op, real, keys, args)
