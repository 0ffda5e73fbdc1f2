#include "daemon/agent/source/process/thread_sampler.h"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>

#include "absl/strings/str_cat.h"

namespace fathom::agent {

ThreadSampler::ThreadSampler(const KernelRoots& roots, std::uint32_t pid)
    : task_folder_(absl::StrCat(roots.proc, "/", pid, "/task/")) {}

ThreadSampler::~ThreadSampler() {
  for (const auto& [tid, fd] : files_) {
    if (fd >= 0) close(fd);
  }
}

std::optional<ThreadTimes> ThreadSampler::Read(std::uint32_t tid) {
  auto [it, fresh] = files_.try_emplace(tid, -1);
  if (fresh) {
    const std::string path = absl::StrCat(task_folder_, tid, "/schedstat");
    it->second = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  }
  if (it->second < 0) return std::nullopt;
  char text[96];
  const ssize_t got = pread(it->second, text, sizeof(text), 0);
  if (got <= 0) {  // ESRCH: the thread is gone
    close(it->second);
    it->second = -1;
    return std::nullopt;
  }
  ThreadTimes times;
  const char* end = text + got;
  const auto cpu = std::from_chars(text, end, times.cpu_ns);
  if (cpu.ec != std::errc() || cpu.ptr == end) return std::nullopt;
  const auto queue = std::from_chars(cpu.ptr + 1, end, times.runqueue_ns);
  if (queue.ec != std::errc()) return std::nullopt;
  return times;
}

}  // namespace fathom::agent
