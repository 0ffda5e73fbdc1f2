"""The border of an iteration: the end of an optimizer's step, the outermost where one calls another."""
import hashlib

from .record_file import bytes_of


def watch(act):
    """Calls act(optimizer) at the end of every step. Returns what stops it."""
    from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

    steps = []

    def before(optimizer, args, kwargs):
        steps.append(id(optimizer))

    def after(optimizer, args, kwargs):
        if id(optimizer) in steps:
            del steps[steps.index(id(optimizer)):]  # with those whose step ended by an exception
        if not steps:
            act(optimizer)

    hooks = register_optimizer_step_pre_hook(before), register_optimizer_step_post_hook(after)
    return lambda: [hook.remove() for hook in hooks]


class Border:
    """Calls act(optimizer) once, after the given number of steps of the optimizer that stepped first."""

    def __init__(self, iterations, act):
        self._left, self._act, self._first = iterations, act, None
        self._stop = watch(self._step)

    def _step(self, optimizer):
        self._first = self._first or id(optimizer)
        if id(optimizer) != self._first:
            return
        self._left -= 1
        if self._left == 0:
            self._stop()
            self._act(optimizer)


def weights_of(optimizer):
    """SHA-256 of all that the optimizer updates, in its order."""
    total = hashlib.sha256()
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            local = parameter.to_local() if hasattr(parameter, "to_local") else parameter
            data, _owner = bytes_of(local)
            total.update(data)
    return total.hexdigest()
