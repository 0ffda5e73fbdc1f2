// What a library that is linked with NCCL does with it: used by hollow_host.cc, which loads it with
// a scope of its own, as Python does with PyTorch.
#ifndef FATHOM_TESTS_DAEMON_TRACER_NCCL_HOLLOW_CALLS_H_
#define FATHOM_TESTS_DAEMON_TRACER_NCCL_HOLLOW_CALLS_H_

struct HollowCalls {
  void (*every_op)();       // each function that moves data, once; prints what NCCL was given
  void (*every_type)();     // an all-reduce of each element type, and of one too many
  void (*failures)();       // calls that NCCL refuses
  void (*communicators)();  // each way to make one, with an op on each; and each way to end one
  void (*some)(int count);  // rounds of a few calls, silently
  void (*jumps)();          // all-reduces; the first and the third are left by longjmp
};

#endif  // FATHOM_TESTS_DAEMON_TRACER_NCCL_HOLLOW_CALLS_H_
