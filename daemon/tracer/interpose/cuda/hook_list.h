// The CUDA functions that the tracer hooks: the one list behind wrappers, exports and docs.
//
// Expanded by runtime_shims.cc and driver_shims.cc, and by tests/daemon/tracer/cuda, which compare
// every line with the headers of the toolkit. deploy/scripts/hook_table reads it as text and writes
// the names into daemon/tracer/exports.map and docs/tracer/hooks.md.
//
//   runtime: X(what it counts as, name, parameters, arguments)
//   driver:  X(what it counts as, name for cuGetProcAddress, name for the linker, CUDA version
//   since
//            which this signature stands, parameters, arguments)
//
// The lists whose name holds PTSZ or PTDS give two functions a line: the plain one and the one for
// per-thread default streams, `name_ptsz` or `name_ptds`, there since CUDA 7.0.
// Types are spelt as the machine sees them, so that no CUDA header is needed: handles are pointers,
// enums are int, device addresses 64 bits. A function whose last parameters came or went between
// CUDA 11 and 13 takes the longest form; the extra words are passed on and not looked at.
#ifndef FATHOM_DAEMON_TRACER_INTERPOSE_CUDA_HOOK_LIST_H_
#define FATHOM_DAEMON_TRACER_INTERPOSE_CUDA_HOOK_LIST_H_

#include <cstddef>
#include <cstdint>

namespace fathom::tracer {

// dim3, cudaPitchedPtr and cudaExtent.
struct CudaDim3 {
  unsigned x, y, z;
};
struct CudaPitchedPtr {
  void* ptr;
  std::size_t pitch, xsize, ysize;
};
struct CudaExtent {
  std::size_t width, height, depth;
};
using CudaAddress = std::uint64_t;  // CUdeviceptr

}  // namespace fathom::tracer

// clang-format off
#define FATHOM_CUDA_RUNTIME_PTSZ(X) \
  X(kLaunch, cudaLaunchKernel, (const void* f, CudaDim3 grid, CudaDim3 block, void** a, std::size_t shared, void* stream), (f, grid, block, a, shared, stream)) \
  X(kLaunch, __cudaLaunchKernel, (void* f, CudaDim3 grid, CudaDim3 block, void** a, std::size_t shared, void* stream), (f, grid, block, a, shared, stream)) \
  X(kLaunch, cudaLaunchKernelExC, (const void* config, const void* f, void** a), (config, f, a)) \
  X(kLaunch, cudaLaunchCooperativeKernel, (const void* f, CudaDim3 grid, CudaDim3 block, void** a, std::size_t shared, void* stream), (f, grid, block, a, shared, stream)) \
  X(kGraphLaunch, cudaGraphLaunch, (void* graph, void* stream), (graph, stream)) \
  X(kInstantiate, cudaGraphInstantiateWithParams, (void* exec, void* graph, void* params), (exec, graph, params)) \
  X(kBeginCapture, cudaStreamBeginCapture, (void* stream, int mode), (stream, mode)) \
  X(kBeginCapture, cudaStreamBeginCaptureToGraph, (void* stream, void* graph, const void* nodes, const void* edges, std::size_t count, int mode), (stream, graph, nodes, edges, count, mode)) \
  X(kEndCapture, cudaStreamEndCapture, (void* stream, void* graph), (stream, graph)) \
  X(kCopy, cudaMemcpyAsync, (void* to, const void* from, std::size_t bytes, int kind, void* stream), (to, from, bytes, kind, stream)) \
  X(kCopy, cudaMemcpyToSymbolAsync, (const void* to, const void* from, std::size_t bytes, std::size_t offset, int kind, void* stream), (to, from, bytes, offset, kind, stream)) \
  X(kCopy, cudaMemcpyFromSymbolAsync, (void* to, const void* from, std::size_t bytes, std::size_t offset, int kind, void* stream), (to, from, bytes, offset, kind, stream)) \
  X(kCopy, cudaMemcpy2DAsync, (void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width, std::size_t height, int kind, void* stream), (to, to_pitch, from, from_pitch, width, height, kind, stream)) \
  X(kCopy, cudaMemcpy3DAsync, (const void* params, void* stream), (params, stream)) \
  X(kCopy, cudaMemcpy3DPeerAsync, (const void* params, void* stream), (params, stream)) \
  X(kCopy, cudaMemcpyBatchAsync, (void* to, void* from, void* sizes, std::size_t count, void* attributes, void* indexes, std::size_t attribute_count, void* w8, void* w9), (to, from, sizes, count, attributes, indexes, attribute_count, w8, w9)) \
  X(kMemset, cudaMemsetAsync, (void* at, int value, std::size_t bytes, void* stream), (at, value, bytes, stream)) \
  X(kMemset, cudaMemset2DAsync, (void* at, std::size_t pitch, int value, std::size_t width, std::size_t height, void* stream), (at, pitch, value, width, height, stream)) \
  X(kMemset, cudaMemset3DAsync, (CudaPitchedPtr at, int value, CudaExtent extent, void* stream), (at, value, extent, stream)) \
  X(kEvent, cudaEventRecord, (void* event, void* stream), (event, stream)) \
  X(kEvent, cudaEventRecordWithFlags, (void* event, void* stream, unsigned flags), (event, stream, flags)) \
  X(kStreamWait, cudaStreamWaitEvent, (void* stream, void* event, unsigned flags), (stream, event, flags)) \
  X(kSyncStream, cudaStreamSynchronize, (void* stream), (stream))

#define FATHOM_CUDA_RUNTIME_PTDS(X) \
  X(kBlockingCopy, cudaMemcpy, (void* to, const void* from, std::size_t bytes, int kind), (to, from, bytes, kind)) \
  X(kBlockingCopy, cudaMemcpyToSymbol, (const void* to, const void* from, std::size_t bytes, std::size_t offset, int kind), (to, from, bytes, offset, kind)) \
  X(kBlockingCopy, cudaMemcpyFromSymbol, (void* to, const void* from, std::size_t bytes, std::size_t offset, int kind), (to, from, bytes, offset, kind)) \
  X(kBlockingCopy, cudaMemcpy2D, (void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width, std::size_t height, int kind), (to, to_pitch, from, from_pitch, width, height, kind)) \
  X(kBlockingCopy, cudaMemcpy3D, (const void* params), (params)) \
  X(kBlockingCopy, cudaMemcpy3DPeer, (const void* params), (params)) \
  X(kMemset, cudaMemset, (void* at, int value, std::size_t bytes), (at, value, bytes)) \
  X(kMemset, cudaMemset2D, (void* at, std::size_t pitch, int value, std::size_t width, std::size_t height), (at, pitch, value, width, height)) \
  X(kMemset, cudaMemset3D, (CudaPitchedPtr at, int value, CudaExtent extent), (at, value, extent))

#define FATHOM_CUDA_RUNTIME_PLAIN(X) \
  X(kBlockingCopy, cudaMemcpyPeer, (void* to, int to_device, const void* from, int from_device, std::size_t bytes), (to, to_device, from, from_device, bytes)) \
  X(kCopy, cudaMemcpyPeerAsync, (void* to, int to_device, const void* from, int from_device, std::size_t bytes, void* stream), (to, to_device, from, from_device, bytes, stream)) \
  X(kSyncDevice, cudaDeviceSynchronize, (void), ()) \
  X(kSyncEvent, cudaEventSynchronize, (void* event), (event)) \
  X(kInstantiate, cudaGraphInstantiate, (void* exec, void* graph, void* w3, void* w4, std::size_t w5), (exec, graph, w3, w4, w5)) \
  X(kInstantiate, cudaGraphInstantiateWithFlags, (void* exec, void* graph, unsigned long long flags), (exec, graph, flags)) \
  X(kUpdateGraph, cudaGraphExecUpdate, (void* exec, void* graph, void* w3, void* w4), (exec, graph, w3, w4)) \
  X(kDestroy, cudaGraphExecDestroy, (void* exec), (exec)) \
  X(kDestroyGraph, cudaGraphDestroy, (void* graph), (graph)) \
  X(kCreate, cudaStreamCreate, (void* stream), (stream)) \
  X(kCreate, cudaStreamCreateWithFlags, (void* stream, unsigned flags), (stream, flags)) \
  X(kCreate, cudaStreamCreateWithPriority, (void* stream, unsigned flags, int priority), (stream, flags, priority)) \
  X(kCreate, cudaEventCreate, (void* event), (event)) \
  X(kCreate, cudaEventCreateWithFlags, (void* event, unsigned flags), (event, flags))

#define FATHOM_CUDA_DRIVER_PTSZ(X) \
  X(kLaunch, cuLaunchKernel, cuLaunchKernel, 4000, (void* f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void* stream, void** a, void** extra), (f, gx, gy, gz, bx, by, bz, shared, stream, a, extra)) \
  X(kLaunch, cuLaunchKernelEx, cuLaunchKernelEx, 11060, (const void* config, void* f, void** a, void** extra), (config, f, a, extra)) \
  X(kLaunch, cuLaunchCooperativeKernel, cuLaunchCooperativeKernel, 9000, (void* f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void* stream, void** a), (f, gx, gy, gz, bx, by, bz, shared, stream, a)) \
  X(kGraphLaunch, cuGraphLaunch, cuGraphLaunch, 10000, (void* graph, void* stream), (graph, stream)) \
  X(kInstantiate, cuGraphInstantiateWithParams, cuGraphInstantiateWithParams, 12000, (void* exec, void* graph, void* params), (exec, graph, params)) \
  X(kBeginCapture, cuStreamBeginCapture, cuStreamBeginCapture_v2, 10010, (void* stream, int mode), (stream, mode)) \
  X(kBeginCapture, cuStreamBeginCaptureToGraph, cuStreamBeginCaptureToGraph, 12030, (void* stream, void* graph, const void* nodes, const void* edges, std::size_t count, int mode), (stream, graph, nodes, edges, count, mode)) \
  X(kEndCapture, cuStreamEndCapture, cuStreamEndCapture, 10000, (void* stream, void* graph), (stream, graph)) \
  X(kCopy, cuMemcpyAsync, cuMemcpyAsync, 4000, (CudaAddress to, CudaAddress from, std::size_t bytes, void* stream), (to, from, bytes, stream)) \
  X(kCopy, cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2, 3020, (CudaAddress to, const void* from, std::size_t bytes, void* stream), (to, from, bytes, stream)) \
  X(kCopy, cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2, 3020, (void* to, CudaAddress from, std::size_t bytes, void* stream), (to, from, bytes, stream)) \
  X(kCopy, cuMemcpyDtoDAsync, cuMemcpyDtoDAsync_v2, 3020, (CudaAddress to, CudaAddress from, std::size_t bytes, void* stream), (to, from, bytes, stream)) \
  X(kCopy, cuMemcpyPeerAsync, cuMemcpyPeerAsync, 4000, (CudaAddress to, void* to_context, CudaAddress from, void* from_context, std::size_t bytes, void* stream), (to, to_context, from, from_context, bytes, stream)) \
  X(kCopy, cuMemcpy2DAsync, cuMemcpy2DAsync_v2, 3020, (const void* copy, void* stream), (copy, stream)) \
  X(kCopy, cuMemcpy3DAsync, cuMemcpy3DAsync_v2, 3020, (const void* copy, void* stream), (copy, stream)) \
  X(kCopy, cuMemcpyBatchAsync, cuMemcpyBatchAsync, 12080, (void* to, void* from, void* sizes, std::size_t count, void* attributes, void* indexes, std::size_t attribute_count, void* failed, void* stream), (to, from, sizes, count, attributes, indexes, attribute_count, failed, stream)) \
  X(kCopy, cuMemcpyBatchAsync, cuMemcpyBatchAsync_v2, 13000, (void* to, void* from, void* sizes, std::size_t count, void* attributes, void* indexes, std::size_t attribute_count, void* stream), (to, from, sizes, count, attributes, indexes, attribute_count, stream)) \
  X(kMemset, cuMemsetD8Async, cuMemsetD8Async, 3020, (CudaAddress at, unsigned char value, std::size_t n, void* stream), (at, value, n, stream)) \
  X(kMemset, cuMemsetD16Async, cuMemsetD16Async, 3020, (CudaAddress at, unsigned short value, std::size_t n, void* stream), (at, value, n, stream)) \
  X(kMemset, cuMemsetD32Async, cuMemsetD32Async, 3020, (CudaAddress at, unsigned value, std::size_t n, void* stream), (at, value, n, stream)) \
  X(kMemset, cuMemsetD2D8Async, cuMemsetD2D8Async, 3020, (CudaAddress at, std::size_t pitch, unsigned char value, std::size_t width, std::size_t height, void* stream), (at, pitch, value, width, height, stream)) \
  X(kMemset, cuMemsetD2D32Async, cuMemsetD2D32Async, 3020, (CudaAddress at, std::size_t pitch, unsigned value, std::size_t width, std::size_t height, void* stream), (at, pitch, value, width, height, stream)) \
  X(kEvent, cuEventRecord, cuEventRecord, 2000, (void* event, void* stream), (event, stream)) \
  X(kEvent, cuEventRecordWithFlags, cuEventRecordWithFlags, 11010, (void* event, void* stream, unsigned flags), (event, stream, flags)) \
  X(kStreamWait, cuStreamWaitEvent, cuStreamWaitEvent, 3020, (void* stream, void* event, unsigned flags), (stream, event, flags)) \
  X(kSyncStream, cuStreamSynchronize, cuStreamSynchronize, 2000, (void* stream), (stream))

#define FATHOM_CUDA_DRIVER_PTDS(X) \
  X(kBlockingCopy, cuMemcpy, cuMemcpy, 4000, (CudaAddress to, CudaAddress from, std::size_t bytes), (to, from, bytes)) \
  X(kBlockingCopy, cuMemcpyHtoD, cuMemcpyHtoD_v2, 3020, (CudaAddress to, const void* from, std::size_t bytes), (to, from, bytes)) \
  X(kBlockingCopy, cuMemcpyDtoH, cuMemcpyDtoH_v2, 3020, (void* to, CudaAddress from, std::size_t bytes), (to, from, bytes)) \
  X(kBlockingCopy, cuMemcpyDtoD, cuMemcpyDtoD_v2, 3020, (CudaAddress to, CudaAddress from, std::size_t bytes), (to, from, bytes)) \
  X(kBlockingCopy, cuMemcpyPeer, cuMemcpyPeer, 4000, (CudaAddress to, void* to_context, CudaAddress from, void* from_context, std::size_t bytes), (to, to_context, from, from_context, bytes)) \
  X(kBlockingCopy, cuMemcpy2D, cuMemcpy2D_v2, 3020, (const void* copy), (copy)) \
  X(kBlockingCopy, cuMemcpy2DUnaligned, cuMemcpy2DUnaligned_v2, 3020, (const void* copy), (copy)) \
  X(kBlockingCopy, cuMemcpy3D, cuMemcpy3D_v2, 3020, (const void* copy), (copy)) \
  X(kMemset, cuMemsetD8, cuMemsetD8_v2, 3020, (CudaAddress at, unsigned char value, std::size_t n), (at, value, n)) \
  X(kMemset, cuMemsetD16, cuMemsetD16_v2, 3020, (CudaAddress at, unsigned short value, std::size_t n), (at, value, n)) \
  X(kMemset, cuMemsetD32, cuMemsetD32_v2, 3020, (CudaAddress at, unsigned value, std::size_t n), (at, value, n))

#define FATHOM_CUDA_DRIVER_PLAIN(X) \
  X(kSyncDevice, cuCtxSynchronize, cuCtxSynchronize, 2000, (void), ()) \
  X(kSyncDevice, cuCtxSynchronize, cuCtxSynchronize_v2, 13000, (void* context), (context)) \
  X(kSyncEvent, cuEventSynchronize, cuEventSynchronize, 2000, (void* event), (event)) \
  X(kInstantiate, cuGraphInstantiateWithFlags, cuGraphInstantiateWithFlags, 11040, (void* exec, void* graph, unsigned long long flags), (exec, graph, flags)) \
  X(kUpdateGraph, cuGraphExecUpdate, cuGraphExecUpdate, 10020, (void* exec, void* graph, void* node, void* result), (exec, graph, node, result)) \
  X(kUpdateGraph, cuGraphExecUpdate, cuGraphExecUpdate_v2, 12000, (void* exec, void* graph, void* result), (exec, graph, result)) \
  X(kDestroy, cuGraphExecDestroy, cuGraphExecDestroy, 10000, (void* exec), (exec)) \
  X(kDestroyGraph, cuGraphDestroy, cuGraphDestroy, 10000, (void* graph), (graph)) \
  X(kCreate, cuStreamCreate, cuStreamCreate, 2000, (void* stream, unsigned flags), (stream, flags)) \
  X(kCreate, cuStreamCreateWithPriority, cuStreamCreateWithPriority, 5050, (void* stream, unsigned flags, int priority), (stream, flags, priority)) \
  X(kCreate, cuEventCreate, cuEventCreate, 2000, (void* event, unsigned flags), (event, flags)) \
  X(kCreate, cuCtxCreate, cuCtxCreate_v2, 3020, (void* context, unsigned flags, int device), (context, flags, device)) \
  X(kCreate, cuCtxCreate, cuCtxCreate_v3, 11040, (void* context, void* affinity, int count, unsigned flags, int device), (context, affinity, count, flags, device)) \
  X(kCreate, cuCtxCreate, cuCtxCreate_v4, 12050, (void* context, void* params, unsigned flags, int device), (context, params, flags, device)) \
  X(kCreate, cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, 7000, (void* context, int device), (context, device))
// clang-format on

#endif  // FATHOM_DAEMON_TRACER_INTERPOSE_CUDA_HOOK_LIST_H_
