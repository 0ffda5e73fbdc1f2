"""Writes GPU traces as PyTorch's profiler prints them, for tests/bench/tables and many_ranks: one file
a rank, a host that launches ahead of its device, a compute stream and a stream of NCCL."""
import gzip
import json
import random
from pathlib import Path

HOST, COMPUTE, NCCL = 4242, 7, 20
KERNELS = ["ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn",
           "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>",
           "void at::native::layer_norm_kernel<float>(int, float, float const*, float*)"]


class Rank:
    def __init__(self, number, ranks, out, digits):
        self.number, self.ranks, self.out, self.digits = number, ranks, out, digits
        self.random = random.Random(number)
        self.host = self.device = self.nccl = 1000.0
        self.ids = 10
        self.sequence = 0
        self.first = True

    def event(self, category, name, thread, begin, duration, args):
        pid = HOST if thread == HOST else self.number
        self.out.write("" if self.first else ",\n")
        self.first = False
        json.dump({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": thread,
                   "ts": round(begin, self.digits), "dur": round(duration, self.digits), "args": args},
                  self.out, indent=2)

    def launch(self):
        self.ids += 1
        self.event("cuda_runtime", "cudaLaunchKernel", HOST, self.host, 4.5,
                   {"External id": self.ids, "cbid": 211, "correlation": self.ids})
        self.host += 5
        return self.ids

    def kernel(self, name, stream, begin, duration, correlation, more=None):
        self.event("kernel", name, stream, begin, duration,
                   {"External id": correlation, "queued": 0, "device": self.number, "context": 1,
                    "stream": stream, "correlation": correlation, "registers per thread": 64,
                    "shared memory": 0, "grid": [128, 1, 1], "block": [256, 1, 1], **(more or {})})

    def compute(self, index):
        begin = self.host
        self.host += 4
        correlation = self.launch()
        self.event("cpu_op", "aten::linear", HOST, begin, self.host + 3 - begin,
                   {"External id": correlation, "Ev Idx": correlation,
                    "Input Dims": [[192, 192], [192, 192], []],
                    "Input type": ["float", "float", ""]})
        self.host += 4
        start = max(self.device + self.random.uniform(0.8, 2), self.host + 3)
        length = self.random.uniform(10, 40)
        self.kernel(KERNELS[index % len(KERNELS)], COMPUTE, start, length, correlation)
        self.device = start + length

    def reduce(self):
        self.sequence += 1
        begin = self.host
        self.host += 5
        correlation = self.launch()
        members = list(range(self.ranks))
        meta = {"Collective name": "allreduce", "In msg nelems": 1 << 20, "Out msg nelems": 1 << 20,
                "Group size": self.ranks, "dtype": "Float", "Process Group Name": "0",
                "Process Group Description": "default_pg", "Process Group Ranks": str(members),
                "Seq": self.sequence}
        self.event("cpu_op", "record_param_comms", HOST, begin, self.host + 2 - begin,
                   {"External id": correlation, **meta})
        start = max(self.nccl + 2, self.device + 3)
        self.kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                    NCCL, start, 90.0, correlation, meta)
        self.nccl = start + 90

    def step(self, number, kernels):
        begin = self.host
        self.ids += 1
        start = max(self.device + 1, self.host + 3)
        self.event("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", COMPUTE, start, 50,
                   {"External id": 1, "device": self.number, "context": 1, "stream": COMPUTE,
                    "correlation": self.ids, "bytes": 600000, "memory bandwidth (GB/s)": 12.0})
        self.event("cuda_runtime", "cudaMemcpyAsync", HOST, self.host, 6.0,
                   {"External id": 1, "correlation": self.ids})
        self.host += 7
        self.device = start + 50
        for index in range(kernels):
            self.compute(index)
            if index % 50 == 49:
                self.reduce()
        self.device = max(self.device, self.nccl)
        self.host = max(self.host, self.device + 20)
        self.event("user_annotation", f"ProfilerStep#{number}", HOST, begin, self.host - begin, {})


def write_job(folder, ranks, steps, kernels, zipped=False, digits=3, world=0):
    """Returns the bytes of JSON. `digits`: of the times in µs; 3 as PyTorch writes them. `world`: of
    the job, where that is more than the ranks that are written."""
    folder, world = Path(folder), max(world, ranks)
    folder.mkdir(parents=True, exist_ok=True)
    size = 0
    for number in range(ranks):
        path = folder / f"rank{number}.json"
        with open(path, "w", encoding="utf-8") as out:
            head = {"schemaVersion": 1, "deviceProperties": [], "distributedInfo": {
                "backend": "nccl", "rank": number, "world_size": world, "pg_config": [{
                    "pg_name": "0", "pg_desc": "default_pg", "pg_size": world,
                    "ranks": list(range(world))}]}, "baseTimeNanoseconds": 1790857026000000000}
            out.write(json.dumps(head, indent=2)[:-2] + ',\n  "traceEvents": [\n')
            rank = Rank(number, world, out, digits)
            for step in range(steps):
                rank.step(step, kernels)
            out.write("\n]}\n")
        size += path.stat().st_size
        if zipped:
            with open(path, "rb") as plain, gzip.open(f"{path}.gz", "wb", 6) as out:
                out.write(plain.read())
            path.unlink()
    return size
