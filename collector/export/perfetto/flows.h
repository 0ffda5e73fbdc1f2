// Which communication ops of different ranks an arrow joins: those of one collective, and the two
// ends of one message.
//
// Built by job_trace before anything is written, asked by rank_tracks op by op. Model: a collective
// is (group, sequence, place among the ops of the rank that share both); a flow goes over all ranks
// that have it. A message is the k-th send from one rank to another on a group in an iteration and
// the k-th receive there, and is linked only where that iteration holds as many of one as of the
// other, of equal size: an arrow that may be wrong is worse than none. Of a flow the latest op ends
// it, as the trace is told. Ops that are cut off do not count; who is left alone has no flow.
//
// Units: ns, clocks put right by RankPart::shift. Thread-safety: plain once built.
// Lifetime: refers to nothing. Cost: O(ops); 8 bytes an op and some 100 a flow.
#ifndef FATHOM_COLLECTOR_EXPORT_PERFETTO_FLOWS_H_
#define FATHOM_COLLECTOR_EXPORT_PERFETTO_FLOWS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "collector/export/perfetto/rank_part.h"

namespace fathom::collector::perfetto {

class Flows {
 public:
  struct Link {
    std::uint64_t id = 0;  // 0: none
    bool last = false;
  };

  explicit Flows(const std::vector<RankPart>& parts);

  // `part`: index into the parts; `op`: into the rows of that rank.
  Link Of(std::size_t part, std::size_t op) const;

 private:
  struct Member {
    std::int64_t at = 0;
    std::size_t part = 0;
    std::size_t op = 0;
    std::uint64_t bytes = 0;
  };
  struct Flow {
    std::size_t members = 0;
    Member last;
  };
  struct Channel {
    std::vector<Member> sent, received;
  };

  void JoinCollectives(const std::vector<RankPart>& parts);
  void JoinMessages(const std::vector<RankPart>& parts);
  void Join(const Channel& channel);
  void Add(const Member& member, std::size_t flow);

  std::vector<Flow> flows_;
  std::vector<std::vector<std::size_t>> of_op_;  // by part and op: place in flows_ + 1, or 0
};

}  // namespace fathom::collector::perfetto

#endif  // FATHOM_COLLECTOR_EXPORT_PERFETTO_FLOWS_H_
