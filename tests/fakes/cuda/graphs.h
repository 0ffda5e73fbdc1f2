// Captures and graphs of the fake driver.
//
// Used by driver.cc, and by other simulators through fake_cuda_capture: their streams are not ours,
// so what is captured from them is kept as functions that a launch of the graph calls.
//
// Model: a stream is captured from begin to end; what is put on it then becomes a node. Ids of
// captures are unique in the process. An executable graph is a copy.
// Thread-safety: thread-safe; a stream is captured by one thread at a time.
#ifndef FATHOM_TESTS_FAKES_CUDA_GRAPHS_H_
#define FATHOM_TESTS_FAKES_CUDA_GRAPHS_H_

#include <cstdint>
#include <vector>

namespace fake_cuda {

struct Node {
  void (*run)(void* user, void* stream);
  void* user;  // lives as long as the process
};

struct Graph {
  std::uint32_t kernels = 0;
  std::int64_t busy_ns = 0;  // of our own streams
  std::vector<Node> nodes;   // of others'
};

// `graph` is filled from now on; owned by whoever ends the capture.
void BeginCapture(void* stream);
// Null if the stream was not being captured.
Graph* EndCapture(void* stream);
// 0 if it is not.
std::uint64_t CaptureId(void* stream);
Graph* CaptureOf(void* stream);

}  // namespace fake_cuda

extern "C" {
// True if `stream` is being captured; then `run`, unless it is null, is part of the graph.
bool fake_cuda_capture(void* stream, void (*run)(void* user, void* stream), void* user);
}

#endif  // FATHOM_TESTS_FAKES_CUDA_GRAPHS_H_
