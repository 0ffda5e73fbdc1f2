// Compresses blocks and appends them to one recording file, on a thread of its own.
//
// Owned by Recorder. docs/formats/recording.md.
//
// Model: Append hands a block over and never waits for the disk: a file system that stands still
// must not stop the poll loop. What waits is bounded; a block that finds no room is dropped and
// counted. Each block reaches the file in one write(2) at its end, so a crash costs the last block
// at most. The first error of the disk ends the recording: said once, then all blocks are dropped.
//
// Thread-safety: Append and Close from one thread; counters from any.
// Ownership: owns descriptor and thread; Close (or the destructor) writes what waits and joins.
// Errors: Open's status; later ones see failed(). Cost: zstd level 3, some 200 MB/s.
#ifndef FATHOM_DAEMON_AGENT_RECORDER_BLOCK_WRITER_H_
#define FATHOM_DAEMON_AGENT_RECORDER_BLOCK_WRITER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "daemon/service/mutex.h"

namespace fathom::agent {

class BlockWriter {
 public:
  static constexpr std::size_t kMaxWaitingBytes = 64 << 20;

  // Makes the file; it must not be there yet.
  static absl::StatusOr<std::unique_ptr<BlockWriter>> Open(const std::string& path);
  ~BlockWriter();
  BlockWriter(const BlockWriter&) = delete;
  BlockWriter& operator=(const BlockWriter&) = delete;

  // Requires: raw.size() <= kMaxRecordingBlockBytes.
  void Append(std::string raw);
  void Close();

  std::uint64_t bytes_written() const { return bytes_written_.load(); }
  std::uint64_t blocks_dropped() const { return blocks_dropped_.load(); }
  bool failed() const { return failed_.load(); }

 private:
  BlockWriter(std::string path, int descriptor);
  void Run();
  void Write(const std::string& raw);
  void Fail(const std::string& why);

  const std::string path_;
  const int descriptor_;
  service::Mutex mutex_;
  service::ConditionVariable changed_;
  std::deque<std::string> waiting_ ABSL_GUARDED_BY(mutex_);
  std::size_t waiting_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;
  std::atomic<std::uint64_t> bytes_written_{0};
  std::atomic<std::uint64_t> blocks_dropped_{0};
  std::atomic<bool> failed_{false};
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_RECORDER_BLOCK_WRITER_H_
