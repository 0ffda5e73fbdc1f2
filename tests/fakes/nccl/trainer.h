// One rank of a training program in miniature: tensor, pipeline, data and expert parallel, on
// libnccl.so.2.
//
// Used by train.cc (the program), and by Python scripts of the tests through the C functions below.
// It knows of no tracer. Rank order: tensor fastest, then pipeline, then data. The communicators'
// unique id goes through a file in FAKE_NCCL_DIR.
// Thread-safety: one thread. Errors: a call that fails ends the process with code 3.
#ifndef FATHOM_TESTS_FAKES_NCCL_TRAINER_H_
#define FATHOM_TESTS_FAKES_NCCL_TRAINER_H_

#include <string>

#include "tests/fakes/nccl/fake_nccl.h"

namespace fakes {

struct Training {
  int tp = 1, pp = 1, dp = 2;
  bool ep = false;
  int graph = 0;  // from this iteration on forward and backward are a graph; 0: never
  int iterations = 100, micro = 2, small = 3;
  std::string fault;
  bool grouped = false;  // the communicators are split in one group
  bool shrink = false;   // in the end that of all ranks is cut short, and shrunk by its last rank
  bool revoke = false;   // in the end the data-parallel one is revoked and shrunk by its last rank
  int overlap = 0;       // buckets, that are reduced on a stream of their own; 0: none
  int rank = -1, at = 0, ms = 0;
};

class Trainer {
 public:
  Trainer(const Training& o, int rank, int world);
  void Iterate(int iteration);
  void End();

 private:
  void Split(int color, ncclComm_t* made);
  void Shrink();
  void Revoke();
  void ForwardAndBackward(int iteration);
  void BackwardBesideBuckets();
  void Compute();
  void Forward();
  void Backward();
  void Layer(const char* kernel, int microseconds);
  void Send(int to);
  void Receive(int from);
  void Reduce();

  const Training o_;
  const int rank_;
  int tp_rank_ = 0, stage_ = 0, replica_ = 0;
  cudaStream_t stream_, side_;
  int throttled_us_ = 0;
  void* graph_ = nullptr;
  ncclComm_t world_ = nullptr, tensor_ = nullptr, pipeline_ = nullptr, data_ = nullptr;
};

}  // namespace fakes

extern "C" {
// A data-parallel trainer of this process (RANK, WORLD_SIZE), and its next iteration.
void* fake_trainer_new();
void fake_trainer_iterate(void* trainer, int iteration);
}

#endif  // FATHOM_TESTS_FAKES_NCCL_TRAINER_H_
