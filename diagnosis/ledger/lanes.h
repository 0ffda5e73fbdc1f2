// The graph of lanes: what each rank did by itself, where it came to a communication op, and where
// it had to wait for one. One form for every source of rows.
//
// Built by diagnosis/ledger/account; played again by diagnosis/ledger/replay.
//
//   lane of rank 0   own ─ arrive A ─ own ─ wait A ─ own ─ arrive B ─ …
//   lane of rank 1   own ─ own ─ arrive A ─ wait A ─ own ─ …
//   join A           ends `transfer` after the last of its members has come
//
// Model: a lane is the device of a rank where its kernels were traced, else its training thread.
// A communication op runs beside the lane, so overlap is not a special case: the lane waits only
// where the rows say that it did; in the time of a device whose kernels are not known it stands
// still while an op is carried out, but for one that is known to have been hidden. An op that
// started as soon as the one before it of its communicator had ended is chained to that one, not to
// the lane. A wait for something that is not known keeps its recorded length in every replay, and
// is nobody's. What a receiver was in a message that a thread sends is its transfer where the
// receiver came second; where it is always first, as a server is that its workers send to, the
// shortest of the same size elsewhere is. Messages of a device that share a kernel end with the
// last of them; where the kernels of both ends carry out other ones, what one took by itself is
// told within a node, by its clock. Between nodes it is told of the communicator as a whole, where
// its members take as many turns: who comes last to one waits for nobody. Else it is compared with
// none.
// Rows of iterations that do not follow one another make stretches, which are played one by one.
// Iterations end at the end of a collective (where there is any), so that ranks end the first in
// which they communicate together; whoever took less time until then began the stretch later, by
// what is nobody's in the replay. (The first of a recording begins where it was marked, and a rank
// that was late before is late with that.) Iterations in which nobody communicates are pieces of
// the rank alone.
//
// Units: seconds; times of one rank are compared with each other only, but for messages within a
// node. Thread-safety: plain values. Lifetime: independent of the view.
// Errors: none; an op without partners is a join of one.
// Cost: O(ops log ops).
#ifndef FATHOM_DIAGNOSIS_LEDGER_LANES_H_
#define FATHOM_DIAGNOSIS_LEDGER_LANES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "diagnosis/graph/execution_graph.h"
#include "diagnosis/model/job_view.h"
#include "proto/types/collective_kind.h"
#include "proto/types/ids.h"

namespace fathom::diagnosis {

inline constexpr std::size_t kNoJoin = ~std::size_t{0};

enum class LaneAct : std::uint8_t {
  kArrive,   // comes to `join`, `seconds` after this place of the lane
  kChained,  // comes to `join`, `seconds` after `after` has ended
  kWait,     // goes on when `join` has ended; `seconds`: how long it waited in the recording
  kBlocked,  // waits `seconds` for something that is not known
  kEnd,      // the end of an iteration
};

struct LaneStep {
  double own = 0;  // of the rank itself, before the act
  LaneAct act = LaneAct::kEnd;
  std::uint32_t iteration = 0;  // index into LaneGraph::iterations
  std::size_t join = kNoJoin;
  std::size_t after = kNoJoin;
  double seconds = 0;
};

struct Join {
  GroupId group;
  CollectiveKind kind = CollectiveKind::kUnknown;
  std::uint64_t bytes = 0;
  std::uint32_t iteration = 0;
  std::vector<std::size_t> lanes;  // of its members, those in the graph
  double transfer = 0;
  bool complete = false;    // all members of the communicator are in the graph
  bool of_group = false;    // `transfer` is of an exchange of the whole communicator
  bool comparable = false;  // `transfer` is what the communication took, and no wait
};

struct Lane {
  RankId rank;
  std::vector<LaneStep> steps;
};

// Iterations that follow one another. One lane a rank.
struct LaneGraph {
  std::vector<Iteration> iterations;
  std::vector<Lane> lanes;
  std::vector<Join> joins;
  std::vector<double> late;  // by lane: later than the first it began
  double unknown_waits = 0;  // of all lanes, in messages whose other end is not known
};

// One for each stretch of iterations of which all ranks with rows have rows and summaries, or in
// which, by their summaries, no rank communicated.
std::vector<LaneGraph> BuildLanes(const JobView& view, const ExecutionGraph& graph);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_LEDGER_LANES_H_
