// The CUDA side of a training job in miniature: a library that calls the runtime by name.
//
// Built twice (job.cc), against each of the two fake runtimes, and loaded with local scope by
// victim.cc, as Python loads PyTorch. It knows nothing of the tracer.
#ifndef FATHOM_TESTS_DAEMON_TRACER_CUDA_JOB_H_
#define FATHOM_TESTS_DAEMON_TRACER_CUDA_JOB_H_

// A table of functions, so that one dlsym gets all.
struct CudaJob {
  void (*step)();  // 100 kernels, 3 copies, 2 memsets, an event and a wait for it
  void (*launch)(int n);
  void (*capture)();         // 10 kernels into a graph, which is launched 5 times
  void (*spoilt_capture)();  // 10 kernels into one that fails, then 7 launches
  void (*passed_capture)();  // 10 kernels into one that another thread ends, then 7 launches
  void (*waits)();           // one of each way to block on the GPU, 20 ms for the first
  void (*synchronize)();     // the default stream
  void (*stall)();           // more kernels than the queue takes
  unsigned long long (*launches)();  // as this job's own runtime counted them
  bool (*sees_own_scope)();
};

extern "C" const CudaJob cuda_job;

#endif  // FATHOM_TESTS_DAEMON_TRACER_CUDA_JOB_H_
