// What NCCL's proxy threads do when the members of a ring sit on nodes of their own: they pass a
// collective on in steps over the network, and tell the profiler of each.
//
// Used by nccl.cc, a thread a stream. Model: on each channel a rank sends to the next one and
// receives from the one before. A step can be sent when the one before it has been received; it is
// taken by the network when the receiver has room for it, and confirmed when it has arrived. So one
// link that passes nothing on stops the whole ring, each rank at its own step.
// Source: the order of states in NCCL's network transport. Thread-safety: thread-compatible.
#ifndef FATHOM_TESTS_FAKES_NCCL_PROXY_H_
#define FATHOM_TESTS_FAKES_NCCL_PROXY_H_

#include <cstdint>
#include <vector>

#include "tests/fakes/nccl/profiler.h"
#include "tests/fakes/nccl/rendezvous.h"

namespace fakes::nccl {

// Where and on whose behalf. `passes`: steps that still arrive from the rank before; negative: all.
struct RingPlace {
  Shared* shared;
  void* context;
  void* task;
  int ranks, rank;
  std::uint64_t number;  // of the collective
  int passes;
  int pid;  // of the process whose op it is
};

class RingProxy {
 public:
  explicit RingProxy(const RingPlace& place);
  // One look of the proxy thread. True: all steps are done on both sides.
  bool Progress();

 private:
  struct Transfer {
    int channel = 0, peer = 0;
    bool sends = false;
    int posted = 0, gpu = 0, moved = 0, done = 0;
    void* handle = nullptr;
    std::vector<void*> steps;
    Shared::Edge* edge = nullptr;
  };
  enum class Told : std::uint8_t { kPosted, kCredit, kMoved, kGpu };

  Transfer Begin(int channel, bool sends) const;
  void Post(Transfer& transfer);
  void Send(Transfer& transfer, int received);
  void Receive(Transfer& transfer);
  void Finish(Transfer& transfer);
  void Tell(const Transfer& transfer, Told what, int step) const;
  bool Before(const std::atomic<std::uint64_t>& count, int step) const;

  const RingPlace place_;
  std::vector<Transfer> transfers_;  // by channel: send, receive
};

}  // namespace fakes::nccl

#endif  // FATHOM_TESTS_FAKES_NCCL_PROXY_H_
