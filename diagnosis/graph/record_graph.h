// The wait-for graph of a job that stopped, from the records that its ranks left.
//
// Used by hang/records/stopped_job.cc. Model: an instance is one op of one group (or one
// point-to-point op) that is open on some rank. Its members are inside (open), done (finished it),
// absent (their record shows that they never entered) or unknown (no record). A rank waits for the
// absent members of the instances that it is inside; following that to its end gives the sinks:
// Where devices tell which ops they began, an op that a member's host enqueued and its device did
// not begin while others' did is `queued`: that member is absent, whatever its host did. An op that
// no device began holds nobody: all are held up before it.
// A record is stale if others completed an op that it has not entered: it was written earlier, and
// what it lacks proves nothing.
//   idle        absent somewhere, inside nothing: it stopped coming; nothing of others holds it
//   complete    instances that all members entered and none finished, whose ranks wait for nothing
//               else: the communication itself does not move
//   unrecorded  instances that only members without a record can hold up
//   cycle       ranks that wait for one another in a ring and for nobody outside it
// An instance that some member has finished is about to end and holds nobody.
//
// Thread-safety: pure functions. Cost: O(open ops × members).
#ifndef FATHOM_DIAGNOSIS_GRAPH_RECORD_GRAPH_H_
#define FATHOM_DIAGNOSIS_GRAPH_RECORD_GRAPH_H_

#include <cstddef>
#include <map>
#include <vector>

#include "diagnosis/model/job_view.h"

namespace fathom::diagnosis::records {

struct StuckInstance {
  GroupId group;
  Sequence sequence = kNoSequence;  // kNoSequence: point-to-point; both inside, or one absent
  CollectiveKind kind = CollectiveKind::kUnknown;
  std::vector<RankId> inside;
  std::vector<RankId> absent;
  std::vector<RankId> unknown;
  std::vector<RankId> done;
  std::vector<RankId> queued;  // of the absent: enqueued, but its device never began it
  WallNs since;                // first entry; 0 if not known

  bool held() const { return done.empty() && !absent.empty(); }
  bool complete() const { return done.empty() && absent.empty() && unknown.empty(); }
  bool unrecorded() const { return done.empty() && absent.empty() && !unknown.empty(); }
};

struct RecordGraph {
  std::vector<RankId> stale;  // their records are older than those of others
  std::vector<StuckInstance> instances;
  std::map<RankId, std::vector<std::size_t>> waits;  // rank → instances it is inside
};

struct Sinks {
  std::vector<RankId> idle;
  std::vector<std::size_t> complete;
  std::vector<std::size_t> unrecorded;
  std::vector<RankId> cycle;
};

// The oldest instance that this rank is inside of and that most of its members have finished; null
// if there is none.
const StuckInstance* LeftBehindIn(const RecordGraph& graph, RankId rank);

RecordGraph BuildRecordGraph(const JobView& view);
Sinks FindSinks(const RecordGraph& graph);

// The record of that rank; null if there is none.
const RankRecord* FindRecord(const JobView& view, RankId rank);

}  // namespace fathom::diagnosis::records

#endif  // FATHOM_DIAGNOSIS_GRAPH_RECORD_GRAPH_H_
