// Every op of the jobs that the collector wants all ops of, packed, on their way to it.
//
// Made by agent. docs/formats/ops.md.
//
// Model: the rows of a session are taken once its iterations have closed, behind its summaries; the
// rows of all ranks of a job on this node gather in one block, which is packed after kBlockAge or
// kBlockRows, whatever comes first: the larger a block, the fewer bytes an op. The outbox keeps a
// block until it is acknowledged, and gives up blocks before anything else where it is full.
//
//   session's log ─► RowCursor ─► rows of the job ─► PackOps ─► outbox (bulk)
//
// A job that is wanted from now on is told from the oldest row in the log. One that is not wanted
// any more costs nothing.
//
// Units: ns of CLOCK_MONOTONIC. Thread-safety: single-threaded, the poll loop. Ownership: `outbox`
// must outlive it. Errors: rows that left the log untaken are counted. Cost: O(ops) of
// the poll loop's thread, see docs/formats/ops.md; of a job at most kBlockRows rows wait, 200 bytes
// each.
#ifndef FATHOM_DAEMON_AGENT_OPS_OP_STREAM_H_
#define FATHOM_DAEMON_AGENT_OPS_OP_STREAM_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "daemon/agent/ops/op_stream_counters.h"
#include "daemon/agent/ops/row_cursor.h"
#include "daemon/agent/uplink/outbox.h"
#include "fathom/v1/row.pb.h"
#include "proto/types/time_units.h"

namespace fathom::agent {

class OpStream {
 public:
  static constexpr Nanos kBlockAge{2'000'000'000};
  static constexpr int kBlockRows = 16'384;

  // `first_serial`: larger than what an earlier agent of this node ended with, such as the wall
  // time in ns.
  OpStream(Outbox& outbox, std::uint64_t first_serial)
      : outbox_(outbox), next_serial_(first_serial) {}

  // The jobs that the collector wants all ops of.
  void Want(std::vector<std::string> jobs) { wanted_ = std::move(jobs); }
  bool wanted() const { return !wanted_.empty(); }
  // While it is held, ops are passed over and count as missed.
  void Hold(bool held) { held_ = held; }
  // `closed_end`: as RowCursor takes it.
  void Take(RankSession& session, std::uint64_t closed_end, MonoNs now);
  // The session ends: what is left of it, and nothing more after that.
  void TakeLast(RankSession& session, MonoNs now);
  // Sends blocks that are old enough. Requires: called every quarter of a second or so.
  void Tick(MonoNs now);
  // Sends all.
  void Flush();

  const OpStreamCounters& counters() const { return counters_; }

 private:
  struct Gathered {
    v1::RowsReply rows;
    std::map<std::uint32_t, int> place;  // of a rank in rows
    int ops = 0;
    MonoNs since;
  };

  void PassOver(const RankSession& session, const RowSpan& span);
  void Add(RankSession& session, RowSpan span, MonoNs now);
  void Send(Gathered& gathered);

  Outbox& outbox_;
  std::vector<std::string> wanted_;
  bool held_ = false;
  RowCursor cursor_;
  std::map<std::string, Gathered> jobs_;
  std::uint64_t next_serial_;
  OpStreamCounters counters_;
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_OPS_OP_STREAM_H_
