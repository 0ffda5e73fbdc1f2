// What a test asks of libfake_gloo.so, through dlsym: it plays the part of a job's Python code.
//
// Used by tests/daemon/tracer/preload (victim.cc) and tests/bench/tracer. Each call goes the way of
// the real one: through a vtable or the PLT of the library.
#ifndef FATHOM_TESTS_FAKES_GLOO_DRIVE_H_
#define FATHOM_TESTS_FAKES_GLOO_DRIVE_H_

#include <cstdint>

// A table of functions, so that one dlsym gets all.
struct FakeGloo {
  void* (*make_group)(int rank, int size);
  void (*drop_group)(void* group);
  void* (*allreduce)(void* group, std::int64_t numel);  // the work
  void* (*broadcast)(void* group, std::int64_t numel, int root);
  void (*monitored_barrier)(void* group);
  void (*execute)(void* work, bool throws);  // as a worker thread would
  bool (*wait)(void* work, bool throws);
  void (*drop_work)(void* work);
  void (*finalize_backward)();
  // What the next op of the group does instead of succeeding. Thrown values come back as the
  // result.
  void (*fail_next)(void* group, int what);
  int (*fork_next)(void* group, std::int64_t numel);  // forks inside an allreduce; as fork()
  void (*stop_next)(void* group);
};

extern "C" const FakeGloo fake_gloo;

#endif  // FATHOM_TESTS_FAKES_GLOO_DRIVE_H_
