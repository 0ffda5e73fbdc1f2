#include "daemon/agent/recorder/recorder.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/agent/session/rows_reply.h"
#include "proto/types/recording_format.h"

namespace fathom::agent {
namespace {

// A node's name may hold anything; a file's may not.
std::string FileNameOf(const std::string& node) {
  std::string out = node.substr(0, 100);
  std::replace_if(
      out.begin(), out.end(), [](char c) { return c == '/' || c == '\0' || c == '.'; }, '_');
  return out;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Recorder>> Recorder::Open(const std::string& folder,
                                                         std::uint64_t limit_bytes,
                                                         const v1::Hello& hello,
                                                         RecordingMoment now) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return absl::UnavailableError(absl::StrCat("cannot record to ", folder, ": ", error.message()));
  }
  const std::string path =
      absl::StrCat(folder, "/", FileNameOf(hello.node()), "-", now.wall.ns / 1'000'000'000, "-",
                   getpid(), std::string(kRecordingSuffix));
  auto writer = BlockWriter::Open(path);
  if (!writer.ok()) return writer.status();
  std::unique_ptr<Recorder> recorder(new Recorder(path, limit_bytes, *std::move(writer)));
  v1::AgentMessage message;
  *message.mutable_hello() = hello;
  recorder->Put(message, now);
  return recorder;
}

Recorder::Recorder(std::string path, std::uint64_t limit_bytes, std::unique_ptr<BlockWriter> writer)
    : path_(std::move(path)), limit_bytes_(limit_bytes), writer_(std::move(writer)) {}

void Recorder::Put(const v1::AgentMessage& message, RecordingMoment now) {
  if (block_.entries().empty()) block_since_ = now.mono;
  v1::RecordingEntry& entry = *block_.add_entries();
  entry.set_mono_ns(now.mono.ns);
  entry.set_wall_ns(now.wall.ns);
  *entry.mutable_message() = message;
  block_bytes_ += message.ByteSizeLong();
  if (block_bytes_ >= kBlockBytes) Seal();
}

void Recorder::TakeRows(RankSession& session, std::uint64_t end, RecordingMoment now) {
  Take(session, cursor_.Due(session, end), now);
}

void Recorder::TakeAll(RankSession& session, RecordingMoment now) {
  Take(session, cursor_.Rest(session), now);
}

void Recorder::Take(RankSession& session, RowSpan span, RecordingMoment now) {
  rows_dropped_ += span.missed;
  cursor_.MoveTo(session, span.last);
  if (writer_->bytes_written() > limit_bytes_) {
    if (!std::exchange(said_full_, true)) {
      spdlog::warn("{} is full (--record-gib): ops are left out from here on, summaries go on",
                   path_);
    }
    rows_dropped_ += span.last - span.first;
    return;
  }
  while (span.first < span.last) {
    const std::uint64_t last = std::min(span.last, span.first + RowCursor::kRowsAtOnce);
    v1::AgentMessage message;
    *message.mutable_rows() = RowsBetween(session, span.first, last);
    Put(message, now);
    span.first = last;
  }
}

void Recorder::Tick(MonoNs now) {
  if (!block_.entries().empty() && now - block_since_ >= kBlockAge) Seal();
}

void Recorder::Seal() {
  if (block_.entries().empty()) return;
  writer_->Append(block_.SerializeAsString());
  block_.Clear();
  block_bytes_ = 0;
}

void Recorder::Close() {
  Seal();
  writer_->Close();
}

}  // namespace fathom::agent
