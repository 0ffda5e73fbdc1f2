// A program that loads a library that is linked with NCCL, with a scope of its own.
//
//   hollow_host LIBRARY ops|types|failures|communicators|jumps|quiet|inside
//
// `inside`: LIBRARY is an NCCL whose calls are bound within itself
// (tests/bench/nccl_bench_calls.cc), as where it is linked statically. It ends by _exit, so that
// its ring stays.
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string>

#include "tests/daemon/tracer/nccl/hollow_calls.h"
#include "tests/daemon/tracer/quiet_process.h"

namespace {

using fathom::tracer_test::Allocations;

int Quiet(const HollowCalls& calls) {
  calls.some(2);  // the first event of a thread is the cold path
  if (!fathom::tracer_test::ForbidSystemCalls()) return 3;
  const unsigned long before = Allocations();
  calls.some(20'000);
  const bool none = Allocations() == before;
  const char* said = none ? "no allocation\n" : "allocations\n";
  const ssize_t wrote = write(1, said, strlen(said));
  syscall(SYS_exit_group, none && wrote > 0 ? 0 : 4);
  return 5;
}

int Run(void* library, const std::string& mode) {
  if (mode == "inside") {
    void* comm = reinterpret_cast<void* (*)()>(dlsym(library, "BenchMake"))();
    const auto step = reinterpret_cast<void (*)(void*)>(dlsym(library, "BenchStep"));
    for (int i = 0; i < 3; ++i) step(comm);
    return 0;
  }
  const auto& calls = *static_cast<const HollowCalls*>(dlsym(library, "hollow_calls"));
  if (mode == "ops") return calls.every_op(), 0;
  if (mode == "types") return calls.every_type(), 0;
  if (mode == "failures") return calls.failures(), 0;
  if (mode == "communicators") return calls.communicators(), 0;
  if (mode == "jumps") return calls.jumps(), 0;
  return mode == "quiet" ? Quiet(calls) : 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return fprintf(stderr, "%s\n", dlerror()), 2;
  const int code = Run(library, argv[2]);
  fflush(stdout);
  _exit(code);
}
