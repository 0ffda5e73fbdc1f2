"""What stops a job: a process, a GPU, the network. `at` is the time of the fault, in microseconds."""

INF = float("inf")
KINDS = ("gpu_stuck", "gpu_error", "gpu_lost", "host_stuck", "stopped", "network", "slow_end")


class Fault:
    """gpu_stuck: a kernel that never ends; the other streams of the GPU go on.
    gpu_error: the GPU fails; the host learns of it by its next call and goes no further.
    gpu_lost: as gpu_error, and the host hangs inside the call.
    host_stuck: the main thread holds a lock; the GPU finishes what it has.
    stopped: the whole process stands still and leaves no record.
    network: a transfer of a group of several ranks never ends, and all its members are well.
    slow_end: nothing is wrong (the records are from a job that runs)."""

    def __init__(self, kind, ranks, at, dice):
        self.kind, self.ranks, self.at = kind, ranks, at
        # The watchdog of a process looks ten times a second; that of a failed GPU fails with it.
        self.seen_until = at - dice.uniform(0, 100_000) if kind in ("gpu_error", "gpu_lost", "stopped") else INF
        self.group = None

    def host_stops(self, rank):
        return self.at if rank in self.ranks and self.kind in ("gpu_error", "gpu_lost", "host_stuck", "stopped") else INF

    def host_factor(self, rank):
        return 1.0

    def gpu_stops(self, rank, end, computes):
        if rank not in self.ranks or end <= self.at:
            return False
        return self.kind in ("gpu_error", "gpu_lost") or (self.kind == "gpu_stuck" and computes)

    def network_stops(self, transfer, end):
        return self.kind == "network" and end > self.at and transfer.group is self.group

    def sees(self, rank, end):
        """Whether the process's own watchdog has seen the end of an op."""
        return end < INF and (rank not in self.ranks or end <= self.seen_until)
