"""How versions of PyTorch, NCCL and ROCm print the same event: names, and which arguments stand where."""

NEWEST = {"allreduce": "AllReduce_Sum_bf16_RING_LL", "_allgather_base": "AllGather_RING_LL",
          "_reduce_scatter_base": "ReduceScatter_Sum_bf16_RING_LL"}
OLDEST = {"allreduce": "AllReduce_RING_LL_Sum_float", "_allgather_base": "AllGather_RING_LL_Sum_int8_t",
          "_reduce_scatter_base": "ReduceScatter_RING_LL_Sum_float"}
C10D = {"allreduce": "allreduce_", "_allgather_base": "_allgather_base_", "_reduce_scatter_base":
        "_reduce_scatter_base_", "all_to_allv": "alltoall_base_", "send": "send", "recv": "recv_"}
HIP = {"cudaLaunchKernel": "hipLaunchKernel", "cudaLaunchKernelExC": "hipExtLaunchKernel",
       "cudaMemcpyAsync": "hipMemcpyWithStream", "cudaStreamWaitEvent": "hipStreamWaitEvent",
       "cudaGraphLaunch": "hipGraphLaunch", "cudaDeviceSynchronize": "hipDeviceSynchronize"}
MATMUL_OF_ROCM = "Cijk_Ailk_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT256x256x64_MI16x16x1"


class Dialect:
    """PyTorch 2.5 and later with NCCL 2.23 and later."""
    tells_parameters = True    # record_param_comms bears the op, its group and its sizes
    tells_sequence = True

    def nccl(self, op):
        return f"ncclDevKernel_{NEWEST.get(op, 'SendRecv')}(ncclDevKernelArgsStorage<4096ul>)"

    def kernel(self, name):
        return name

    def runtime(self, name, gemm):
        return name

    def launch_args(self, correlation, grid):
        return {"cbid": 211, "correlation": correlation}

    def device_args(self, device, stream, correlation, grid, threads):
        return {"device": device, "context": 1, "stream": stream, "correlation": correlation,
                "grid": [grid, 1, 1], "block": [threads, 1, 1], "registers per thread": 64}


class Middle(Dialect):
    """PyTorch 2.1 to 2.4: no sequence; NCCL before 2.23."""
    tells_sequence = False

    def nccl(self, op):
        return f"ncclDevKernel_{NEWEST.get(op, 'SendRecv')}(ncclDevComm*, unsigned long, ncclWork*)"


class Generic(Dialect):
    """Kernels that NCCL was built without: one for all."""

    def nccl(self, op):
        return "ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)"


class Oldest(Dialect):
    """PyTorch 1.13 and 2.0: kernels and calls tell no group; the call is `c10d::…`, around it nothing."""
    tells_parameters = tells_sequence = False

    def nccl(self, op):
        return f"ncclKernel_{OLDEST.get(op, 'SendRecv_RING_SIMPLE_Sum_int8_t')}(ncclWorkElem)"


class Rocm(Dialect):
    """ROCm: HIP's names, grids on the launch only, RCCL's kernel for all."""

    def nccl(self, op):
        return "ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)"

    def kernel(self, name):
        return MATMUL_OF_ROCM if "gemm" in name else name

    def runtime(self, name, gemm):
        return "hipExtModuleLaunchKernel" if gemm else HIP[name]

    def launch_args(self, correlation, grid):
        given = {"cid": 211, "correlation": correlation, "stream": "0x7f3c58000000"}
        if grid:
            given.update({"grid": [grid, 1, 1], "block": [256, 1, 1], "shared memory": 0})
        return given

    def device_args(self, device, stream, correlation, grid, threads):
        return {"device": device, "stream": stream, "correlation": correlation, "kind": "Dispatch Kernel"}


DIALECTS = {"newest": Dialect(), "middle": Middle(), "generic": Generic(), "oldest": Oldest(), "rocm": Rocm()}
