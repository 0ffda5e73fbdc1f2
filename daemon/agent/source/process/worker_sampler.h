// Reads how long the processes that a training process started waited for a core: the workers of
// its data loader.
//
// Owned by session/rank_session, which calls it a few times a second while batches are loaded.
//
// Model: /proc/PID/task/PID/children names them (a DataLoader is iterated by the main thread); of
// each all threads count, since a batch goes through several: the one that makes it, the one that
// writes it, the one that hands over its memory. Who they are is looked up every kLookUpNs, at most
// kMaxWorkers of them and kMaxThreads of each. A kernel without that file, or without schedstat,
// gives none.
//
// Units: ns since the threads began. Thread-safety: single-threaded, owned by the poll loop.
// Ownership: owns the descriptors. Errors: what is gone is left out. Cost: one pread a thread, and
// at a look-up one small file a process.
#ifndef FATHOM_DAEMON_AGENT_SOURCE_PROCESS_WORKER_SAMPLER_H_
#define FATHOM_DAEMON_AGENT_SOURCE_PROCESS_WORKER_SAMPLER_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <vector>

#include "daemon/agent/source/process/thread_sampler.h"

namespace fathom::agent {

class WorkerSampler {
 public:
  static constexpr std::int64_t kLookUpNs = 2'000'000'000;
  static constexpr std::size_t kMaxWorkers = 16;
  static constexpr std::size_t kMaxThreads = 8;

  WorkerSampler(KernelRoots roots, std::uint32_t pid) : roots_(std::move(roots)), pid_(pid) {}

  // The run-queue time of each worker, by process.
  std::map<std::uint32_t, std::int64_t> Read(std::int64_t now_ns);

 private:
  struct Worker {
    std::unique_ptr<ThreadSampler> sampler;
    std::vector<std::uint32_t> threads;
  };

  void LookUp();

  const KernelRoots roots_;
  const std::uint32_t pid_;
  std::int64_t next_look_up_ns_ = std::numeric_limits<std::int64_t>::min();
  std::map<std::uint32_t, Worker> workers_;
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SOURCE_PROCESS_WORKER_SAMPLER_H_
