// Keeps on disk what this node knows of its jobs: all that is told to the collector, and every op.
//
// Made by agent when --record names a folder; read back by `fathom analyze`.
// docs/formats/recording.md.
//
// Model: every message that goes to the outbox unasked, and every capture of stacks, is put here
// too, with the time. The rows of a rank follow its summaries: TakeRows writes the log's rows that
// were not written yet, up to and with the newest iteration that closed, as RowCursor has them due;
// TakeAll the rest, at the end. A row is written once. Entries gather in a block, which goes to
// disk after kBlockBytes or kBlockAge, whatever comes first. Past `limit_bytes` rows are left out
// and counted, summaries and health go on: who was late in an op can no longer be told then, but
// everything else can.
//
// Units: ns of CLOCK_MONOTONIC and of the wall. Thread-safety: single-threaded, the poll loop; the
// disk is the writer's thread.
// Ownership: owns file and thread. Errors: Open's status; later see BlockWriter.
// Cost: some 40 bytes an op on disk; one copy of each message.
#ifndef FATHOM_DAEMON_AGENT_RECORDER_RECORDER_H_
#define FATHOM_DAEMON_AGENT_RECORDER_RECORDER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "daemon/agent/ops/row_cursor.h"
#include "daemon/agent/recorder/block_writer.h"
#include "daemon/agent/session/rank_session.h"
#include "fathom/v1/recording.pb.h"
#include "proto/types/time_units.h"

namespace fathom::agent {

struct RecordingMoment {
  MonoNs mono;
  WallNs wall;
};

class Recorder {
 public:
  static constexpr std::size_t kBlockBytes = 256 * 1024;
  static constexpr Nanos kBlockAge{1'000'000'000};

  // Makes the folder and in it NODE-SECONDS-PID.fathom, which begins with `hello`.
  static absl::StatusOr<std::unique_ptr<Recorder>> Open(const std::string& folder,
                                                        std::uint64_t limit_bytes,
                                                        const v1::Hello& hello,
                                                        RecordingMoment now);

  void Put(const v1::AgentMessage& message, RecordingMoment now);
  // `end`: the log's row behind the newest iteration that closed; 0: none did since the last call.
  void TakeRows(RankSession& session, std::uint64_t end, RecordingMoment now);
  void TakeAll(RankSession& session, RecordingMoment now);
  // The session is no more: its rows were all taken.
  void Forget(const RankSession& session) { cursor_.Forget(session); }
  // Hands the block over if it is old enough. Requires: called every second or so.
  void Tick(MonoNs now);
  void Close();

  const std::string& path() const { return path_; }
  const BlockWriter& writer() const { return *writer_; }
  // Rows that are not in the file: it is full, or they left the log before they were taken.
  std::uint64_t rows_dropped() const { return rows_dropped_; }

 private:
  Recorder(std::string path, std::uint64_t limit_bytes, std::unique_ptr<BlockWriter> writer);
  void Take(RankSession& session, RowSpan span, RecordingMoment now);
  void Seal();

  const std::string path_;
  const std::uint64_t limit_bytes_;
  const std::unique_ptr<BlockWriter> writer_;
  v1::RecordingBlock block_;
  std::size_t block_bytes_ = 0;
  MonoNs block_since_;
  RowCursor cursor_;
  std::uint64_t rows_dropped_ = 0;
  bool said_full_ = false;
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_RECORDER_RECORDER_H_
