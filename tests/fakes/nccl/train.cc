// A training program in miniature: tensor, pipeline, data and expert parallel, on libnccl.so.2.
//
//   fake_train --spawn [--tp N] [--pp N] [--dp N] [--ep] [--iterations N] [--micro N]
//              [--fault KIND --rank R --at ITERATION --ms N]
//
// It starts one process a rank, each with RANK, WORLD_SIZE and LOCAL_RANK, and ends with the worst
// of their codes. Rank order: tensor fastest, then pipeline, then data. It knows of no tracer.
//   --fault slow_gpu   the rank's kernels take N ms more an iteration
//           slow_host  the rank sleeps N ms before it launches its gradients' reduction
//           hang       the rank sleeps for ever at iteration `at`
// Faults of the fabric are the library's: see fake_nccl.h.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/fakes/nccl/fake_nccl.h"

namespace {

struct Options {
  bool spawn = false;
  int tp = 1, pp = 1, dp = 2;
  bool ep = false;
  int iterations = 100, micro = 2;
  std::string fault;
  int rank = -1, at = 0, ms = 0;
};

Options Parse(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const auto number = [&] { return i + 1 < argc ? atoi(argv[++i]) : 0; };
    if (name == "--spawn")
      o.spawn = true;
    else if (name == "--ep")
      o.ep = true;
    else if (name == "--tp")
      o.tp = number();
    else if (name == "--pp")
      o.pp = number();
    else if (name == "--dp")
      o.dp = number();
    else if (name == "--iterations")
      o.iterations = number();
    else if (name == "--micro")
      o.micro = number();
    else if (name == "--fault" && i + 1 < argc)
      o.fault = argv[++i];
    else if (name == "--rank")
      o.rank = number();
    else if (name == "--at")
      o.at = number();
    else if (name == "--ms")
      o.ms = number();
    else
      fprintf(stderr, "fake_train: unknown option %s\n", argv[i]), exit(2);
  }
  return o;
}

void Check(ncclResult_t result, const char* what) {
  if (result == ncclSuccess) return;
  fprintf(stderr, "fake_train: %s failed with %d\n", what, result);
  exit(3);
}
#define CHECK(call) Check(call, #call)

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

class Trainer {
 public:
  Trainer(const Options& o, int rank, int world) : o_(o), rank_(rank), stream_(FakeStreamCreate()) {
    tp_rank_ = rank % o.tp;
    stage_ = rank / o.tp % o.pp;
    replica_ = rank / (o.tp * o.pp);
    CHECK(ncclCommInitRank(&world_, world, ShareId(rank), rank));
    CHECK(ncclCommSplit(world_, rank / o.tp, rank, &tensor_, nullptr));
    CHECK(ncclCommSplit(world_, replica_ * o.tp + tp_rank_, rank, &pipeline_, nullptr));
    CHECK(ncclCommSplit(world_, stage_ * o.tp + tp_rank_, rank, &data_, nullptr));
  }

  void Iterate(int iteration) {
    const bool faulty = iteration >= o_.at && rank_ == o_.rank;
    usleep(1000);  // the next batch
    for (int m = 0; m < o_.micro; ++m) Forward();
    if (faulty && o_.fault == "slow_gpu") FakeCompute(stream_, o_.ms * 1000);
    for (int m = 0; m < o_.micro; ++m) Backward();
    if (faulty && o_.fault == "hang") pause();
    if (faulty && o_.fault == "slow_host") {
      FakeStreamSynchronize(stream_);
      usleep(static_cast<unsigned>(o_.ms) * 1000);
    }
    Reduce();
    FakeStreamSynchronize(stream_);  // the loss is printed
  }

  void End() {
    for (ncclComm_t comm : {data_, pipeline_, tensor_, world_}) {
      CHECK(ncclCommFinalize(comm));
      CHECK(ncclCommDestroy(comm));
    }
  }

 private:
  static constexpr std::size_t kActivations = 32 << 10;
  static constexpr std::size_t kGradients = 512 << 10;

  void Forward() {
    if (stage_ > 0) Receive(stage_ - 1);
    Layer(1500);
    if (stage_ + 1 < o_.pp) Send(stage_ + 1);
  }

  void Backward() {
    if (stage_ + 1 < o_.pp) Receive(stage_ + 1);
    Layer(3000);
    if (stage_ > 0) Send(stage_ - 1);
  }

  void Layer(int microseconds) {
    FakeCompute(stream_, microseconds);
    if (o_.tp > 1)
      CHECK(ncclAllReduce(nullptr, nullptr, kActivations, ncclBfloat16, ncclSum, tensor_, stream_));
    if (o_.ep && o_.dp > 1)
      CHECK(ncclAlltoAll(nullptr, nullptr, kActivations / 4, ncclBfloat16, data_, stream_));
  }

  void Send(int to) {
    CHECK(ncclSend(nullptr, kActivations, ncclBfloat16, to, pipeline_, stream_));
  }
  void Receive(int from) {
    CHECK(ncclRecv(nullptr, kActivations, ncclBfloat16, from, pipeline_, stream_));
  }

  void Reduce() {
    if (o_.dp > 1) {
      CHECK(ncclGroupStart());  // two buckets at once, the small one first
      CHECK(ncclReduceScatter(nullptr, nullptr, kGradients / 16, ncclFloat32, ncclSum, data_,
                              stream_));
      CHECK(ncclReduceScatter(nullptr, nullptr, kGradients / 4, ncclFloat32, ncclSum, data_,
                              stream_));
      CHECK(ncclGroupEnd());
      CHECK(ncclAllGather(nullptr, nullptr, kGradients / 4, ncclBfloat16, data_, stream_));
    }
    CHECK(ncclAllReduce(nullptr, nullptr, 1, ncclFloat32, ncclMax, world_, stream_));
  }

  const Options o_;
  const int rank_;
  int tp_rank_ = 0, stage_ = 0, replica_ = 0;
  cudaStream_t stream_;
  ncclComm_t world_ = nullptr, tensor_ = nullptr, pipeline_ = nullptr, data_ = nullptr;
};

int Train(const Options& o) {
  const int rank = atoi(getenv("RANK"));
  Trainer trainer(o, rank, atoi(getenv("WORLD_SIZE")));
  for (int i = 0; i < o.iterations; ++i) trainer.Iterate(i);
  trainer.End();
  if (rank == 0) printf("trained %d iterations\n", o.iterations);
  return 0;
}

// One process a rank, by exec, as a launcher does.
int Spawn(const Options& o, char** argv) {
  std::string folder = "/dev/shm/fake-train-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) return 4;
  const int world = o.tp * o.pp * o.dp;
  std::vector<pid_t> children;
  std::vector<char*> arguments;
  for (char** a = argv; *a != nullptr; ++a) {
    if (strcmp(*a, "--spawn") != 0) arguments.push_back(*a);
  }
  arguments.push_back(nullptr);
  for (int rank = 0; rank < world; ++rank) {
    const pid_t child = fork();
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      setenv("RANK", std::to_string(rank).c_str(), 1);
      setenv("LOCAL_RANK", std::to_string(rank).c_str(), 1);
      setenv("WORLD_SIZE", std::to_string(world).c_str(), 1);
      setenv("FAKE_NCCL_DIR", folder.c_str(), 1);
      execv("/proc/self/exe", arguments.data());
      _exit(5);
    }
    children.push_back(child);
  }
  int worst = 0;
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    worst = std::max(worst, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
  }
  std::filesystem::remove_all(folder);
  return worst;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = Parse(argc, argv);
  return options.spawn ? Spawn(options, argv) : Train(options);
}
