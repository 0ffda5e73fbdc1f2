#include "daemon/agent/source/process/worker_sampler.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string>
#include <system_error>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace fathom::agent {
namespace {

std::vector<std::uint32_t> ChildrenOf(const KernelRoots& roots, std::uint32_t pid) {
  std::vector<std::uint32_t> children;
  const auto text = ReadSmallFile(absl::StrCat(roots.proc, "/", pid, "/task/", pid, "/children"));
  if (!text.ok()) return children;
  for (const absl::string_view word : absl::StrSplit(*text, ' ', absl::SkipWhitespace())) {
    std::uint32_t child = 0;
    if (absl::SimpleAtoi(word, &child)) children.push_back(child);
  }
  children.resize(std::min(children.size(), WorkerSampler::kMaxWorkers));
  return children;
}

std::vector<std::uint32_t> ThreadsOf(const KernelRoots& roots, std::uint32_t pid) {
  std::vector<std::uint32_t> threads;
  std::error_code error;
  const std::filesystem::path folder = absl::StrCat(roots.proc, "/", pid, "/task");
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    std::uint32_t tid = 0;
    if (absl::SimpleAtoi(it->path().filename().string(), &tid)) threads.push_back(tid);
  }
  std::sort(threads.begin(), threads.end());  // the main thread is the first
  threads.resize(std::min(threads.size(), WorkerSampler::kMaxThreads));
  return threads;
}

}  // namespace

void WorkerSampler::LookUp() {
  std::map<std::uint32_t, Worker> now;
  for (const std::uint32_t child : ChildrenOf(roots_, pid_)) {
    std::vector<std::uint32_t> threads = ThreadsOf(roots_, child);
    if (threads.empty()) continue;
    const auto known = workers_.find(child);
    const bool same = known != workers_.end() && known->second.threads == threads;
    now[child] = same ? std::move(known->second)
                      : Worker{std::make_unique<ThreadSampler>(roots_, child), std::move(threads)};
  }
  workers_ = std::move(now);
}

std::map<std::uint32_t, std::int64_t> WorkerSampler::Read(std::int64_t now_ns) {
  if (now_ns >= next_look_up_ns_) {
    next_look_up_ns_ = now_ns + kLookUpNs;
    LookUp();
  }
  std::map<std::uint32_t, std::int64_t> waits;
  for (auto& [pid, worker] : workers_) {
    std::int64_t sum = 0;
    bool lives = false;
    for (const std::uint32_t tid : worker.threads) {
      const std::optional<ThreadTimes> times = worker.sampler->Read(tid);
      if (!times) continue;
      sum += times->runqueue_ns;
      lives = true;
    }
    if (lives) waits[pid] = sum;
  }
  return waits;
}

}  // namespace fathom::agent
