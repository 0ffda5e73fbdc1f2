// Which op waits for which in one step of one replica: the order that a replay must keep.
//
//   forward-compute 0 ─► forward-compute 1 ─► …      computing, in the order recorded
//         │                    ▲
//         ▼ forward-send 0     │ forward-recv 1      messages, one stream a kind and stage;
//           joins the forward-recv 0 of the next     send after its computing, receive before its
//           stage                                    own and after the one before
//
//   params-all-gather ─► first forward of its chunk; last backward of its chunk ─►
//   grads-reduce-scatter; the last computing ─► gc ─► layernorm ─► embedding (first stage with
//   last) ─► clipping (all stages and replicas) ─► optimizer
//
// Used by replay. The order is read from the first lane: it is that of the program, equal in all
// steps and replicas. Nothing is assumed on the schedule (1F1B, interleaved, all forward first)
// but that messages of one direction between two stages arrive in the order sent.
//
// Messages that were recorded and not sent are told apart: receives that begin after the last
// computing of their direction, sends that end before its first; and those of the model's first and
// last chunk, which have no neighbour. With reduce-scatter overlapped (there is a separate
// all-reduce) it follows the backward of its chunk, else the embedding's all-reduce.
//
// Thread-safety: pure function. Errors: none is returned when the messages do not pair up, or the
// order has a cycle; `missing` then says what is wrong. Cost: O(ops log ops).
// Source: What-if Analysis (OSDI'25), section 3, and the conventions of its published traces.
#ifndef FATHOM_DIAGNOSIS_SCHEDULE_DEPENDENCIES_H_
#define FATHOM_DIAGNOSIS_SCHEDULE_DEPENDENCIES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "diagnosis/schedule/schedule.h"

namespace fathom::diagnosis {

// Ops that end together, a transfer after the last of them has begun.
struct OpGroup {
  std::vector<std::uint32_t> ops;  // one of a stage at most
  bool joins_replicas = false;     // of a step
};

inline constexpr std::int32_t kNoGroup = -1;

struct Dependencies {
  std::vector<std::vector<std::uint32_t>> needs;  // an entry an op: ops that end before it begins
  std::vector<OpGroup> groups;
  std::vector<std::int32_t> group_of;  // an entry an op; kNoGroup: it ends when it is done
  std::vector<std::uint32_t> order;    // all ops, each after what it needs and what joins that
};

std::optional<Dependencies> DependenciesOf(const Schedule& schedule, std::string& missing);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_SCHEDULE_DEPENDENCIES_H_
