// Which capture a stream's work goes into, asked of the driver.
//
// Used by graph_calls.cc, and by daemon/tracer/interpose/nccl where a communication op is called.
//
// Model: the driver is asked only while a capture goes on that was seen to begin, by
// cuStreamGetCaptureInfo_v2 (since CUDA 11.3), which changes nothing. The legacy stream and the
// special handles cannot be captured, and are not asked about.
// Thread-safety: thread-safe. Errors: 0, too, where the driver has no such function, or refuses.
// Cost: one load while nothing is captured; the process's first capture looks the driver's function
// up, which takes the loader's locks.
#ifndef FATHOM_DAEMON_TRACER_INTERPOSE_CUDA_STREAM_CAPTURE_H_
#define FATHOM_DAEMON_TRACER_INTERPOSE_CUDA_STREAM_CAPTURE_H_

#include <atomic>
#include <cstdint>

namespace fathom::tracer {

// CUDA's own signature.
using GetCaptureInfo = int (*)(void* stream, int* status, std::uint64_t* id, void* graph,
                               void* dependencies, void* count);

extern std::atomic<std::uint32_t> open_captures __attribute__((visibility("hidden")));

void NoteCaptureBegan();
void NoteCaptureEnded();

// The id of the capture that `stream` belongs to, unique in the process; 0: of none.
std::uint64_t FindCapture(std::uint64_t stream);
inline std::uint64_t CaptureOfStream(std::uint64_t stream) {
  return open_captures.load(std::memory_order_relaxed) == 0 ? 0 : FindCapture(stream);
}

}  // namespace fathom::tracer

#endif  // FATHOM_DAEMON_TRACER_INTERPOSE_CUDA_STREAM_CAPTURE_H_
