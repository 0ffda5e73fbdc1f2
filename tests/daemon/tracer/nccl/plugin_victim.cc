// A process in which NCCL meets one trap, once the test has mapped the ring:
//
//   plugin_victim - TRAP VERSION
//
// Run under libfathom.so by plugin_traps_test.cc. A trap's name tells where it begins: "alone…" has
// a communicator of one rank, "elsewhere…" contexts that are made on another thread, "unhooked…"
// makes its context without any hooked call. Ends with 1 if a callback reported an error.
#include <stdio.h>
#include <stdlib.h>

#include <string>

#include "tests/daemon/tracer/nccl/plugin_job.h"

int main(int argc, char** argv) {
  using fathom::nccl_side::Job;
  if (argc < 4) return 2;
  const std::string name = argv[2];
  const fathom::nccl_side::Trap trap = fathom::nccl_side::TrapOf(name);
  Job job(atoi(argv[3]));
  if (trap == nullptr || !job.side.found()) return 3;
  static StageComm unhooked = {4, 1, nullptr};
  if (name.starts_with("unhooked")) {
    unhooked.context = job.side.Init(42, 4, 1);
    job.world = &unhooked;
  } else {
    if (name.starts_with("elsewhere")) job.MakeContextsElsewhere();
    job.world = job.Make(name.starts_with("alone") ? 1 : 4);
  }
  printf("ready\n");
  fflush(stdout);
  char line[16];
  if (fgets(line, sizeof(line), stdin) == nullptr) return 2;
  trap(job);
  return job.side.faults() == 0 ? 0 : 1;
}
