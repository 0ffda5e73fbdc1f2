// With what a job was started and what it does in an iteration, as one rank of each node told.
//
// Owned by JobState.
//
// Model: the profile comes from the lowest rank that told; it is known once rank 0 has, or all
// nodes have. Nodes that told the same share a variant; beyond kMaxRunVariants further ones are
// counted only. A node that tells again replaces what it told, where the same rank speaks for it or
// a lower one: as a job ends its first rank may go first, and of the next one, which is going too,
// little is to be read.
//
// Units: calls and bytes an iteration. Thread-safety: thread-compatible (JobState's lock). Errors:
// none. Cost: O(facts) a message. Memory: O(variants × facts + nodes).
#ifndef FATHOM_COLLECTOR_JOB_RANKS_RUN_FACTS_TABLE_H_
#define FATHOM_COLLECTOR_JOB_RANKS_RUN_FACTS_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "diagnosis/history/job_profile.h"
#include "diagnosis/history/run_setup.h"

namespace fathom::v1 {
class RunFacts;
}

namespace fathom::collector {

class RunFactsTable {
 public:
  void Take(const v1::RunFacts& facts, std::string_view node);
  void Clear() { *this = RunFactsTable(); }

  // `nodes`: that take part.
  bool known(std::size_t nodes) const;
  diagnosis::JobProfile Profile(std::uint32_t world_size) const;
  diagnosis::RunSetup Setup() const;
  std::uint64_t variants_left_out() const { return left_out_; }

 private:
  std::map<diagnosis::RunFacts, std::set<std::string, std::less<>>> nodes_of_;
  std::map<std::string, std::uint32_t, std::less<>> told_;  // nodes, and the rank that spoke
  diagnosis::JobProfile profile_;
  std::int64_t told_by_ = -1;  // rank that the profile is of
  std::uint64_t left_out_ = 0;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_JOB_RANKS_RUN_FACTS_TABLE_H_
