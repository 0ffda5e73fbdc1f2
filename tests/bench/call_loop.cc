// Makes the same call many times and nothing else: what `instructions` counts.
//
//   call_loop LIBRARY CALL CALLS
//
// LIBRARY is a copy of the NCCL that does nothing (nccl_bench_calls.cc; CALL is one of its symbols)
// or of the stand-in for PyTorch's Gloo (CALL is anything: an all-reduce from its call to the end
// of its work).
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/fakes/gloo/drive.h"

namespace {

void LoopGloo(const FakeGloo& fake, int calls) {
  void* group = fake.make_group(0, 2);
  for (int i = 0; i < calls; ++i) {
    void* work = fake.allreduce(group, 1000);
    fake.execute(work, false);
    fake.wait(work, false);
    fake.drop_work(work);
  }
}

void LoopNccl(void* library, void* make, const char* name, int calls) {
  void* comm = reinterpret_cast<void* (*)()>(make)();
  const auto call = reinterpret_cast<void (*)(void*)>(dlsym(library, name));
  if (call == nullptr) fprintf(stderr, "%s\n", dlerror()), exit(2);
  for (int i = 0; i < calls; ++i) call(comm);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return fprintf(stderr, "call_loop LIBRARY CALL CALLS\n"), 2;
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return fprintf(stderr, "%s\n", dlerror()), 2;
  const int calls = atoi(argv[3]);
  if (void* make = dlsym(library, "BenchMake")) {
    LoopNccl(library, make, argv[2], calls);
  } else if (void* fake = dlsym(library, "fake_gloo")) {
    LoopGloo(*static_cast<const FakeGloo*>(fake), calls);
  } else {
    return fprintf(stderr, "%s is neither\n", argv[1]), 2;
  }
  return 0;
}
