#include "tests/fakes/nccl/trainer.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/fakes/nccl/gpu.h"

namespace fakes {
namespace {

constexpr std::size_t kActivations = 32 << 10;
constexpr std::size_t kGradients = 512 << 10;
constexpr int kBadShapesUs = 600;
constexpr unsigned kAfterSyncUs = 250;  // with what the sleep adds some 2.7 % of 12 ms
constexpr int kForwardUs = 30'000, kBackwardUs = 60'000, kOptimizerUs = 5'000;  // with overlap
constexpr int kForEver = 2'000'000'000;                                         // µs

void Check(ncclResult_t result, const char* what) {
  if (result == ncclSuccess) return;
  fprintf(stderr, "fake_train: %s failed with %d\n", what, result);
  exit(3);
}
#define CHECK(call) Check(call, #call)

// With blocking = 0 the parent says when its children are made.
void Await(ncclResult_t result, const char* what, ncclComm_t parent) {
  if (result != ncclInProgress) return Check(result, what);
  do {
    CHECK(ncclCommGetAsyncError(parent, &result));
  } while (result == ncclInProgress);
  Check(result, what);
}

// Rank 0 makes the id and leaves it in a file; the others read it.
ncclUniqueId ShareId(int rank) {
  const std::string path = std::string(getenv("FAKE_NCCL_DIR")) + "/id";
  ncclUniqueId id = {};
  if (rank == 0) {
    CHECK(ncclGetUniqueId(&id));
    std::ofstream(path + ".new", std::ios::binary).write(id.internal, sizeof(id.internal));
    std::filesystem::rename(path + ".new", path);
    return id;
  }
  while (!std::filesystem::exists(path)) usleep(1000);
  std::ifstream(path, std::ios::binary).read(id.internal, sizeof(id.internal));
  return id;
}

}  // namespace

Trainer::Trainer(const Training& o, int rank, int world)
    : o_(o), rank_(rank), stream_(FakeStreamCreate()), side_(FakeStreamCreate()) {
  tp_rank_ = rank % o.tp;
  stage_ = rank / o.tp % o.pp;
  replica_ = rank / (o.tp * o.pp);
  CHECK(ncclCommInitRank(&world_, world, ShareId(rank), rank));
  if (o.grouped) CHECK(ncclGroupStart());
  Split(rank / o.tp, &tensor_);
  Split(replica_ * o.tp + tp_rank_, &pipeline_);
  Split(stage_ * o.tp + tp_rank_, &data_);
  if (o.grouped) Await(ncclGroupEnd(), "ncclGroupEnd()", world_);
}

void Trainer::Split(int color, ncclComm_t* made) {
  Await(ncclCommSplit(world_, color, rank_, made, nullptr), "ncclCommSplit()", world_);
}

// What was in flight is over; the communicator is there still.
void Trainer::Shrink() {
  ncclComm_t shrunk = nullptr;
  int last = o_.tp * o_.pp * o_.dp - 1;
  if (rank_ == last) return;
  Await(ncclCommShrink(world_, &last, 1, &shrunk, nullptr, NCCL_SHRINK_ABORT), "ncclCommShrink()",
        world_);
  CHECK(ncclCommDestroy(shrunk));
}

// What was in flight is over; the others go on without the last rank.
void Trainer::Revoke() {
  ncclComm_t shrunk = nullptr;
  int last = o_.dp - 1;
  CHECK(ncclCommRevoke(data_, 0));
  if (replica_ == last) return;
  Await(ncclCommShrink(data_, &last, 1, &shrunk, nullptr, 0), "ncclCommShrink()", data_);
  CHECK(ncclAllReduce(nullptr, nullptr, 1, ncclFloat32, ncclMax, shrunk, stream_));
  fakes::Synchronize(stream_);
  CHECK(ncclCommFinalize(shrunk));
  CHECK(ncclCommDestroy(shrunk));
}

void Trainer::Iterate(int iteration) {
  const bool faulty = iteration >= o_.at && rank_ == o_.rank;
  usleep(1000);  // the next batch
  // The same launches, of which one kernel takes longer.
  throttled_us_ = faulty && o_.fault == "slow_gpu" ? o_.ms * 1000 / o_.micro : 0;
  if (iteration >= o_.at && o_.fault == "bad_shapes") throttled_us_ = kBadShapesUs;
  if (o_.overlap > 0) {
    throttled_us_ *= o_.micro;
    BackwardBesideBuckets();
    return fakes::Synchronize(stream_);
  }
  ForwardAndBackward(iteration);
  if (faulty && o_.fault == "hang") pause();
  if (faulty && o_.fault == "stuck_gpu") fakes::Launch(stream_, "spin", kForEver);
  if (faulty && o_.fault == "slow_host") {
    fakes::Synchronize(stream_);
    usleep(static_cast<unsigned>(o_.ms) * 1000);
  }
  if (iteration >= o_.at && o_.fault.ends_with("_sync")) fakes::Synchronize(stream_);
  if (iteration >= o_.at && o_.fault == "costly_sync") usleep(kAfterSyncUs);
  Reduce();
  fakes::Synchronize(stream_);  // the loss is printed
}

void Trainer::End() {
  if (o_.shrink) Shrink();
  if (o_.revoke) Revoke();
  for (ncclComm_t comm : {data_, pipeline_, tensor_, world_}) {
    if (o_.shrink && comm == world_) continue;  // it stays, unused
    CHECK(ncclCommFinalize(comm));
    CHECK(ncclCommDestroy(comm));
  }
}

// As DDP: each bucket is reduced as soon as it is there, and the optimizer waits for all.
void Trainer::BackwardBesideBuckets() {
  fakes::Launch(stream_, "gemm_forward", kForwardUs + throttled_us_ / 3);
  for (int b = 0; b < o_.overlap; ++b) {
    const int slower_us = throttled_us_ / 3 * 2 / o_.overlap;
    fakes::Launch(stream_, "gemm_backward", kBackwardUs / o_.overlap + slower_us);
    fakes::WaitFor(side_, stream_);
    const std::size_t elements = (o_.overlap + static_cast<std::size_t>(b)) << 10;
    CHECK(ncclAllReduce(nullptr, nullptr, elements, ncclFloat32, ncclSum, data_, side_));
  }
  for (int b = 0; b < o_.overlap; ++b) fakes::WaitFor(stream_, side_);
  fakes::Launch(stream_, "optimizer", kOptimizerUs);
}

// Kernels in a graph take what they took when it was made: a fault that slows one down wants it
// made anew.
void Trainer::ForwardAndBackward(int iteration) {
  if (o_.graph == 0 || iteration < o_.graph) return Compute();
  if (graph_ == nullptr || (iteration == o_.at && rank_ == o_.rank)) {
    if (graph_ != nullptr) fakes::DestroyGraph(graph_);
    fakes::BeginGraph(stream_);
    Compute();
    graph_ = fakes::EndGraph(stream_);
  }
  fakes::LaunchGraph(graph_, stream_);
}

void Trainer::Compute() {
  for (int m = 0; m < o_.micro; ++m) Forward();
  for (int m = 0; m < o_.micro; ++m) Backward();
  // Its communicator has ops outside of the graph, too.
  if (o_.graph > 0 && o_.dp > 1)
    CHECK(ncclAllReduce(nullptr, nullptr, 2, ncclFloat32, ncclSum, data_, stream_));
}

void Trainer::Forward() {
  if (stage_ > 0) Receive(stage_ - 1);
  Layer("gemm_forward", 1500);
  if (stage_ + 1 < o_.pp) Send(stage_ + 1);
}

void Trainer::Backward() {
  if (stage_ + 1 < o_.pp) Receive(stage_ + 1);
  Layer("gemm_backward", 3000 + throttled_us_);
  if (stage_ > 0) Send(stage_ - 1);
}

void Trainer::Layer(const char* kernel, int microseconds) {
  fakes::Launch(stream_, kernel, microseconds);
  for (int i = 0; i < o_.small; ++i) fakes::Launch(stream_, "elementwise", 10);
  if (o_.tp > 1)
    CHECK(ncclAllReduce(nullptr, nullptr, kActivations, ncclBfloat16, ncclSum, tensor_, stream_));
  if (o_.ep && o_.dp > 1)
    CHECK(ncclAlltoAll(nullptr, nullptr, kActivations / 4, ncclBfloat16, data_, stream_));
}

void Trainer::Send(int to) {
  CHECK(ncclSend(nullptr, kActivations, ncclBfloat16, to, pipeline_, stream_));
}

void Trainer::Receive(int from) {
  CHECK(ncclRecv(nullptr, kActivations, ncclBfloat16, from, pipeline_, stream_));
}

void Trainer::Reduce() {
  if (o_.dp > 1) {
    CHECK(ncclGroupStart());  // two buckets at once, the small one first
    CHECK(
        ncclReduceScatter(nullptr, nullptr, kGradients / 16, ncclFloat32, ncclSum, data_, stream_));
    CHECK(
        ncclReduceScatter(nullptr, nullptr, kGradients / 4, ncclFloat32, ncclSum, data_, stream_));
    CHECK(ncclGroupEnd());
    CHECK(ncclAllGather(nullptr, nullptr, kGradients / 4, ncclBfloat16, data_, stream_));
  }
  CHECK(ncclAllReduce(nullptr, nullptr, 1, ncclFloat32, ncclMax, world_, stream_));
}

}  // namespace fakes

void* fake_trainer_new() {
  fakes::Training training;
  const int world = atoi(getenv("WORLD_SIZE"));
  training.dp = world;
  return new fakes::Trainer(training, atoi(getenv("RANK")), world);
}

void fake_trainer_iterate(void* trainer, int iteration) {
  static_cast<fakes::Trainer*>(trainer)->Iterate(iteration);
}
