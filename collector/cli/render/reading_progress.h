// How far the reading of recordings has come, on one line of the terminal, and Ctrl-C in it.
//
// Used by `fathom analyze`. Model: importers add what they read to bytes_read(); a thread draws a
// line on stderr every 200 ms once the reading has taken kQuietFor, so short ones show nothing.
// The first SIGINT or SIGTERM sets interrupted(), and the reading ends by itself, what it unpacked
// removed; the second ends the process as always. The destructor erases the line and puts the
// signals back.
//
// Thread-safety: one at a time in a process. Errors: none; sizes that cannot be had count as 0.
// Cost: a stat of every file at the start where there is a line to draw.
#ifndef FATHOM_COLLECTOR_CLI_RENDER_READING_PROGRESS_H_
#define FATHOM_COLLECTOR_CLI_RENDER_READING_PROGRESS_H_

#include <atomic>
#include <csignal>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "daemon/service/mutex.h"

namespace fathom::cli {

class ReadingProgress {
 public:
  // `draw`: stderr is a terminal and the user wants it.
  ReadingProgress(const std::vector<std::string>& paths, bool draw);
  ~ReadingProgress();
  ReadingProgress(const ReadingProgress&) = delete;
  ReadingProgress& operator=(const ReadingProgress&) = delete;

  std::atomic<std::uint64_t>& bytes_read() { return bytes_read_; }
  const std::atomic<bool>& interrupted() const;

 private:
  void Draw(std::uint64_t total);

  std::atomic<std::uint64_t> bytes_read_{0};
  struct sigaction interrupt_before_ {};
  struct sigaction terminate_before_ {};
  service::Mutex mutex_;
  service::ConditionVariable ended_;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

// "reading: 1.2 of 3.4 GiB, 35 %".
std::string ProgressText(std::uint64_t done, std::uint64_t total);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_RENDER_READING_PROGRESS_H_
