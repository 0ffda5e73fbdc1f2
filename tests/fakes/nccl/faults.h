// The faults of the stand-in's fabric, as the environment has them (fake_nccl.h).
//
// Used by nccl.cc. Each is read once. Thread-safety: thread-safe. Errors: what cannot be read is no
// fault.
#ifndef FATHOM_TESTS_FAKES_NCCL_FAULTS_H_
#define FATHOM_TESTS_FAKES_NCCL_FAULTS_H_

#include <cstdint>

namespace fakes::nccl {

struct Fault {
  int first = -1, second = -1, factor = 1;
  std::uint64_t after = 0;
};

// Steps of the ring that pass the link before they get stuck.
inline constexpr int kStuckLinkPasses = 2;

// RANK; 0 where there is none.
int Process();
const Fault& SlowLink();
const Fault& Stuck();
const Fault& StuckLink();
// Whether each rank is on a node of its own.
bool OverNetwork();

}  // namespace fakes::nccl

#endif  // FATHOM_TESTS_FAKES_NCCL_FAULTS_H_
