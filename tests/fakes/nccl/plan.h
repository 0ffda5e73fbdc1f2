// A communicator of the stand-in, and what one kernel of it carries out.
//
// Used by nccl.cc, which makes communicators and puts their ops on streams; executed on a stream's
// thread. Thread-safety: a plan is one thread's. Errors: none.
#ifndef FATHOM_TESTS_FAKES_NCCL_PLAN_H_
#define FATHOM_TESTS_FAKES_NCCL_PLAN_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/fakes/nccl/fake_nccl.h"
#include "tests/fakes/nccl/profiler.h"
#include "tests/fakes/nccl/proxy.h"
#include "tests/fakes/nccl/rendezvous.h"

// A child that is made later, as NCCL does where the call is in a group or must not block.
using Making = std::function<ncclResult_t()>;

struct ncclComm {
  std::vector<Making> makings;  // until its error is asked for
  bool ready = false;
  int device = 0;
  fakes::nccl::Shared* shared = nullptr;
  std::string name;
  int ranks = 0;
  int rank = 0;
  std::uint64_t next = 0;  // collectives so far
  std::uint32_t children = 0;
  std::uint64_t sends[fakes::nccl::kMaxRanks] = {};
  std::uint64_t recvs[fakes::nccl::kMaxRanks] = {};
  void* context = nullptr;
};

namespace fakes::nccl {

struct Op {
  ncclComm* comm;
  Described what;
  bool is_send = false;
  std::uint64_t number = 0;   // of the collective, or of the message to or from that peer
  std::uint64_t ordinal = 0;  // of all ops of this process
  std::size_t bytes = 0;
  cudaStream_t stream = nullptr;
  void* call = nullptr;
  void* task = nullptr;
  void* channels[kChannels] = {};
  std::shared_ptr<RingProxy> proxy;  // of a collective over the network
  bool over = false;
};

using Plan = std::vector<std::shared_ptr<Op>>;

// What one kernel does: all ops at once.
void Execute(const Plan& plan);

}  // namespace fakes::nccl

#endif  // FATHOM_TESTS_FAKES_NCCL_PLAN_H_
