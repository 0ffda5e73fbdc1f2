// A training program in miniature: tensor, pipeline, data and expert parallel, on libnccl.so.2.
//
//   fake_train --spawn [--tp N] [--pp N] [--dp N] [--ep] [--iterations N] [--micro N] [--small N]
//              [--graph N] [--overlap N] [--fault KIND --rank R --at ITERATION --ms N]
//
// It starts one process a rank, each with RANK, WORLD_SIZE and LOCAL_RANK, and ends with the worst
// of their codes. Rank order: tensor fastest, then pipeline, then data. It knows of no tracer.
//   --pace N           N ms before each iteration
//   --until FILE       ends, some iterations after FILE is there, on all ranks alike
//   --graph N          forward and backward are a CUDA graph from iteration N on
//   --overlap N        a data-parallel job of 97 ms an iteration, N buckets of which are reduced on
//                      a stream of their own while it computes; knows slow_gpu alone
//   --small N          elementwise kernels after each large one (default 3)
//   --fault slow_gpu   one of the rank's kernels takes N ms more an iteration
//           slow_host  the rank sleeps N ms before it launches its gradients' reduction
//           stuck_gpu  a kernel of the rank never ends; its host launches the reduction
//           hang       the rank sleeps for ever at iteration `at`
//           bad_shapes the backward kernels of all ranks take 600 us more
//           stray_sync the hosts of all ranks wait for their GPUs before the reduction
//           costly_sync likewise, and do something with what they waited for
// A fault may also be named by FAKE_TRAIN_FAULT, which no argument of the program tells.
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

#include "tests/fakes/nccl/trainer.h"

namespace {

struct Options : fakes::Training {
  bool spawn = false;
  int pace_ms = 0;
  std::string until;
};

Options Parse(int argc, char** argv) {
  Options o;
  if (const char* fault = getenv("FAKE_TRAIN_FAULT")) o.fault = fault;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const auto number = [&] { return i + 1 < argc ? atoi(argv[++i]) : 0; };
    if (name == "--spawn")
      o.spawn = true;
    else if (name == "--ep")
      o.ep = true;
    else if (name == "--grouped")
      o.grouped = true;
    else if (name == "--shrink")
      o.shrink = true;
    else if (name == "--revoke")
      o.revoke = true;
    else if (name == "--tp")
      o.tp = number();
    else if (name == "--pp")
      o.pp = number();
    else if (name == "--dp")
      o.dp = number();
    else if (name == "--iterations")
      o.iterations = number();
    else if (name == "--overlap")
      o.overlap = number();
    else if (name == "--micro")
      o.micro = number();
    else if (name == "--graph")
      o.graph = number();
    else if (name == "--small")
      o.small = number();
    else if (name == "--fault" && i + 1 < argc)
      o.fault = argv[++i];
    else if (name == "--until" && i + 1 < argc)
      o.until = argv[++i];
    else if (name == "--pace")
      o.pace_ms = number();
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

// Rank 0 says which is the last, beyond what any rank can have come to meanwhile.
bool Over(const std::string& until, int rank, int iteration) {
  constexpr int kAhead = 5;
  if (until.empty()) return false;
  const std::string last = until + ".last";
  if (rank == 0 && std::filesystem::exists(until) && !std::filesystem::exists(last)) {
    std::ofstream(last + ".new") << iteration + kAhead;
    std::filesystem::rename(last + ".new", last);
  }
  int number = 0;
  return std::ifstream(last) >> number && iteration >= number;
}

int Train(const Options& o) {
  const int rank = atoi(getenv("RANK"));
  fakes::Trainer trainer(o, rank, atoi(getenv("WORLD_SIZE")));
  int i = 0;
  for (; i < o.iterations && !Over(o.until, rank, i); ++i) {
    usleep(static_cast<unsigned>(o.pace_ms) * 1000);
    trainer.Iterate(i);
  }
  trainer.End();
  if (rank == 0) printf("trained %d iterations\n", i);
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
