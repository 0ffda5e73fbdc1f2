"""What a job on one GPU shared by all its ranks can show: --fault KIND --rank R --from-iteration N.

NCCL refuses two ranks on one GPU of one host, so each rank is told to be a host of its own (NCCL_HOSTID).
The ranks take turns on the GPU: a rank that computes more takes the time of all, and only its own host,
launches and kernels tell whose it was.
"""
import argparse
import gc
import os
import signal
import time

import torch
import torch.distributed as dist

KINDS = ("none", "slow-compute", "slow-python", "gc", "dataloader", "stop", "loop", "mismatch")


def arguments(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--fault", choices=KINDS, default="none")
    parser.add_argument("--rank", type=int, default=1, help="the faulty rank")
    parser.add_argument("--from-iteration", type=int, default=20, help="first faulty iteration, from 0")
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=0.1, help="delay of slow-python and dataloader, per iteration")
    parser.add_argument("--repeats", type=int, default=100, help="extra matrix products of slow-compute, per iteration")
    parser.add_argument("--objects", type=int, default=1_500_000, help="live Python objects of gc")
    parser.add_argument("--stray-sync", action="store_true",
                        help="all ranks wait for the GPU before each backward pass, as where a print(loss) was left in")
    parser.add_argument("--profile", default="", help="folder for a Kineto trace of each rank, of the last five iterations")
    return parser


def start():
    """Joins the job over NCCL; the GPU is number 0 for everybody."""
    os.environ.update(NCCL_HOSTID=f"truth-{os.environ['RANK']}", NCCL_SOCKET_IFNAME="lo", NCCL_IB_DISABLE="1",
                      NCCL_MAX_CTAS="2")
    torch.cuda.set_device(0)
    dist.init_process_group("nccl", device_id=torch.device("cuda", 0))
    torch.manual_seed(1)


class Fault:
    def __init__(self, args):
        self.args = args
        self.mine = dist.get_rank() == args.rank
        self.iteration = 0
        self.told = False
        self.matrix = torch.randn(4096, 4096, device="cuda", dtype=torch.bfloat16)
        self.heap = [{"id": i} for i in range(args.objects)] if self.mine and args.fault == "gc" else None

    def now(self, kind):
        due = self.mine and self.args.fault == kind and self.iteration >= self.args.from_iteration
        if due and not self.told:
            self.told = True
            print("the fault begins", flush=True)
        return due

    def read_batch(self):
        if self.now("dataloader"):
            time.sleep(self.args.seconds)

    def extra_compute(self):
        if self.now("slow-compute"):
            for _ in range(self.args.repeats):
                torch.mm(self.matrix, self.matrix)

    def before_step(self):
        if self.now("slow-python"):
            log_metrics_to_remote(self.args.seconds)
        if self.now("gc"):
            gc.collect()
        if self.now("stop"):
            os.kill(os.getpid(), signal.SIGSTOP)
        if self.now("loop"):
            wait_for_flag()

    def mean(self, value):
        """The mean of value over all ranks; with `mismatch` the faulty rank calls another collective."""
        value = value.detach().reshape(1).clone()
        if self.now("mismatch"):
            dist.all_gather([torch.zeros_like(value) for _ in range(dist.get_world_size())], value)
        else:
            dist.all_reduce(value)
        return value.item() / dist.get_world_size()


class Batches(torch.utils.data.Dataset):
    def __init__(self, fault, *shape):
        self.fault, self.shape = fault, shape

    def __len__(self):
        return self.fault.args.iterations

    def __getitem__(self, iteration):
        self.fault.read_batch()
        generator = torch.Generator().manual_seed(1_000_003 * dist.get_rank() + iteration)
        return torch.randint(0, 512, self.shape, generator=generator)


class Progress:
    """A line every 10 iterations on rank 0."""

    def __init__(self):
        self.start = time.perf_counter()

    def show(self, iteration, loss):
        if dist.get_rank() == 0 and iteration % 10 == 9:
            now = time.perf_counter()
            print(f"iteration {iteration + 1}: loss {loss:.3f}, {100 * (now - self.start):.1f} ms an iteration", flush=True)
            self.start = now


class Profiler:
    """PyTorch's profiler over the last five iterations, where a folder is given."""

    def __init__(self, args):
        self.folder, self.last, self.profile = args.profile, args.iterations, None

    def step(self, iteration):
        """Called before each iteration, and once after the last."""
        if not self.folder:
            return
        from torch.profiler import ProfilerActivity, profile
        if iteration == self.last - 5:
            self.profile = profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])
            self.profile.start()
        elif iteration == self.last:
            torch.cuda.synchronize()
            self.profile.stop()
            self.profile.export_chrome_trace(f"{self.folder}/rank{dist.get_rank()}.json")
        elif self.profile is not None:
            self.profile.step()


def log_metrics_to_remote(seconds):
    time.sleep(seconds)


def wait_for_flag():
    flags = {}
    while "ready" not in flags:
        pass
