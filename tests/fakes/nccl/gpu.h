// The GPU of the training program in miniature: kernels with names on the streams of the stand-in
// for NCCL.
//
// Used by trainer.cc. Where the CUDA stand-ins are built (tests/fakes/cuda) kernels go through
// cudaLaunchKernel and waits through cudaStreamSynchronize, as in a real program; the driver hands
// them to the stream's thread. Where they are not, they go to the stream at once.
// Units: µs. Thread-safety: one thread a stream.
#ifndef FATHOM_TESTS_FAKES_NCCL_GPU_H_
#define FATHOM_TESTS_FAKES_NCCL_GPU_H_

#include <cstdint>

namespace fakes {

// `name` must live as long as the program.
void Launch(void* stream, const char* name, std::int64_t microseconds);
void Synchronize(void* stream);
// `stream` goes on when what was launched on `other` so far is over, by an event, as PyTorch does.
void WaitFor(void* stream, void* other);

// CUDA graphs; without the stand-ins there are none: ends the process.
void BeginGraph(void* stream);
// What was launched since, as an executable graph.
void* EndGraph(void* stream);
void LaunchGraph(void* graph, void* stream);
void DestroyGraph(void* graph);

}  // namespace fakes

#endif  // FATHOM_TESTS_FAKES_NCCL_GPU_H_
