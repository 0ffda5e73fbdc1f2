#include "collector/cli/render/reading_progress.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <system_error>

namespace fathom::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kQuietFor{700};
constexpr std::chrono::milliseconds kRedraw{200};

// Reached by the handler, which may touch nothing else.
std::atomic<bool> interrupted_flag{false};

void OnSignal(int) { interrupted_flag = true; }

std::uint64_t SizeOf(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    const std::uintmax_t size = fs::file_size(path, error);
    return error ? 0 : size;
  }
  std::uint64_t total = 0;
  fs::recursive_directory_iterator at(path, fs::directory_options::skip_permission_denied, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    std::error_code unreadable;
    if (!at->is_regular_file(unreadable) || unreadable) continue;
    const std::uintmax_t size = at->file_size(unreadable);
    if (!unreadable) total += size;
  }
  return total;
}

}  // namespace

std::string ProgressText(std::uint64_t done, std::uint64_t total) {
  const bool large = total >= std::uint64_t{1} << 30;
  const double unit = large ? 1 << 30 : 1 << 20;
  const double shown = static_cast<double>(std::min(done, total));
  char text[96];
  std::snprintf(text, sizeof text, "reading: %.1f of %.1f %s, %.0f %%", shown / unit,
                static_cast<double>(total) / unit, large ? "GiB" : "MiB",
                total == 0 ? 100.0 : 100.0 * shown / static_cast<double>(total));
  return text;
}

ReadingProgress::ReadingProgress(const std::vector<std::string>& paths, bool draw) {
  interrupted_flag = false;
  struct sigaction action {};
  action.sa_handler = OnSignal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, &interrupt_before_);
  sigaction(SIGTERM, &action, &terminate_before_);
  // Under nohup and the like signals are ignored, and stay so.
  if (interrupt_before_.sa_handler == SIG_IGN) sigaction(SIGINT, &interrupt_before_, nullptr);
  if (!draw) return;
  std::uint64_t total = 0;
  for (const std::string& path : paths) total += SizeOf(path);
  thread_ = std::thread([this, total] { Draw(total); });
}

ReadingProgress::~ReadingProgress() {
  if (thread_.joinable()) {
    {
      const service::MutexLock lock(mutex_);
      ending_ = true;
      ended_.NotifyOne();
    }
    thread_.join();
  }
  sigaction(SIGINT, &interrupt_before_, nullptr);
  sigaction(SIGTERM, &terminate_before_, nullptr);
}

const std::atomic<bool>& ReadingProgress::interrupted() const { return interrupted_flag; }

void ReadingProgress::Draw(std::uint64_t total) {
  service::MutexLock lock(mutex_);
  if (ended_.WaitFor(mutex_, kQuietFor,
                     [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return ending_; }))
    return;
  do {
    const std::uint64_t done = bytes_read_;
    const bool read = total > 0 && done >= total;
    std::fprintf(stderr, "\r\033[K%s", read ? "judging" : ProgressText(done, total).c_str());
    std::fflush(stderr);
  } while (!ended_.WaitFor(mutex_, kRedraw,
                           [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return ending_; }));
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
}

}  // namespace fathom::cli
