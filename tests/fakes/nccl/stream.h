// A stand-in for a CUDA stream: a thread that carries out ops and compute in the order given.
//
// Used by nccl.cc. A plan is what one NCCL call, or one group of them, launches on a stream: its
// ops begin together, and it is over when all are.
// Thread-safety: thread-safe. Ownership: streams live until the process ends.
#ifndef FATHOM_TESTS_FAKES_NCCL_STREAM_H_
#define FATHOM_TESTS_FAKES_NCCL_STREAM_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>

struct FakeStream {
 public:
  FakeStream();
  void Put(std::function<void()> work);
  void Synchronize();

 private:
  void Run();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> work_;
  std::uint64_t put_ = 0;
  std::uint64_t done_ = 0;
};

namespace fakes::nccl {

// The GPU's clock: that of the wall, off by some ms, differently on each process.
std::uint64_t GpuNs();
void SleepFor(std::int64_t ns);

}  // namespace fakes::nccl

#endif  // FATHOM_TESTS_FAKES_NCCL_STREAM_H_
