#include "daemon/agent/recorder/block_writer.h"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/packing/recording_block.h"

namespace fathom::agent {

absl::StatusOr<std::unique_ptr<BlockWriter>> BlockWriter::Open(const std::string& path) {
  const int descriptor =
      open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
  if (descriptor < 0) {
    return absl::UnavailableError(
        absl::StrCat("cannot record to ", path, ": ", std::strerror(errno)));
  }
  return std::unique_ptr<BlockWriter>(new BlockWriter(path, descriptor));
}

BlockWriter::BlockWriter(std::string path, int descriptor)
    : path_(std::move(path)), descriptor_(descriptor), thread_([this] { Run(); }) {}

BlockWriter::~BlockWriter() {
  Close();
  close(descriptor_);
}

void BlockWriter::Append(std::string raw) {
  const service::MutexLock lock(mutex_);
  if (failed_ || waiting_bytes_ + raw.size() > kMaxWaitingBytes) {
    ++blocks_dropped_;
    return;
  }
  waiting_bytes_ += raw.size();
  waiting_.push_back(std::move(raw));
  changed_.NotifyOne();
}

void BlockWriter::Close() {
  if (!thread_.joinable()) return;
  {
    const service::MutexLock lock(mutex_);
    closing_ = true;
    changed_.NotifyOne();
  }
  thread_.join();
}

void BlockWriter::Run() {
  while (true) {
    std::string raw;
    {
      service::MutexLock lock(mutex_);
      changed_.Wait(mutex_, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
        return closing_ || !waiting_.empty();
      });
      if (waiting_.empty()) return;
      raw = std::move(waiting_.front());
      waiting_.pop_front();
      waiting_bytes_ -= raw.size();
    }
    if (failed_) {
      ++blocks_dropped_;
    } else {
      Write(raw);
    }
  }
}

void BlockWriter::Write(const std::string& raw) {
  const std::string block = PackRecordingBlock(raw);
  if (block.empty()) return Fail("the compressor failed");
  std::string_view rest = block;
  while (!rest.empty()) {
    const ssize_t written = write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return Fail(std::strerror(errno));
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  bytes_written_ += block.size();
}

void BlockWriter::Fail(const std::string& why) {
  failed_ = true;
  ++blocks_dropped_;
  spdlog::error("recording to {} ends here: {}", path_, why);
}

}  // namespace fathom::agent
