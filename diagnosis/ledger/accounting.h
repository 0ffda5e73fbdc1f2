// The account of a job: what its iterations lost against ranks and channels that do the same, and
// whose each part of it is.
//
// Used by engine/diagnose, for every job of which rows are at hand, sick or well.
//
// Model: peers (peers/peers) and channels (ledger/channels) are compared with those that do the
// same work in the same iterations (peers/outliers); that needs no past. What an entity is charged
// with is not that it takes longer, but what the iterations would gain if it did not: the lanes
// (ledger/lanes) are played again (ledger/replay_lanes) with its pieces at their reference.
//
//   T       all as recorded          L = T − T0
//   T0      all at the reference     gain(E) = T − T(E at its reference)
//                                    alone(E) = T(E as recorded, all else at its reference) − T0
//
// Up to four entities that cost most share what they cost together by Shapley's rule, for of two
// that are slow alike mending either wins nothing; then the next. What is left at the end is
// nobody's. So shares and the unexplained rest sum to L by construction, a victim gets nothing, and
// what overlap hides gets nothing and is listed as hidden.
//
// Channels that are found are told by what they have in common (ledger/odd_place): a link, a
// NIC, a node, a communicator. Ranks of which the work is greater by as much as their time are
// unequal by design: their device is not accused.
//
// Units: seconds, GPU-seconds where the name says so. Thread-safety: pure function.
// Errors: none; where no rows or fewer than two iterations are at hand there is no account.
// Cost: O(entities found × rows), and the outliers' own.
// Source: Coz (SOSP'15), what-if analysis (OSDI'25), differential observability (EROICA).
#ifndef FATHOM_DIAGNOSIS_LEDGER_ACCOUNTING_H_
#define FATHOM_DIAGNOSIS_LEDGER_ACCOUNTING_H_

#include <optional>
#include <utility>
#include <vector>

#include "diagnosis/graph/execution_graph.h"
#include "diagnosis/ledger/suspect.h"
#include "diagnosis/model/account.h"
#include "diagnosis/model/job_view.h"
#include "diagnosis/model/topology.h"
#include "diagnosis/peers/account_limits.h"

namespace fathom::diagnosis {

struct Accounting {
  Account account;
  std::vector<Accused> accused;  // as account.shares
  // The replay of the iterations as recorded takes what they took: else it tells nothing of others.
  bool replayed_well = false;
  // Ranks wait in messages whose other end is not known, so that the replay does not tell for whom:
  // what takes longer and seems to cost nothing may cost all of it. It is no share then.
  bool partners_unknown = false;
  // Two ranks that alone do the same work and differ: which one is wrong cannot be told.
  std::vector<std::pair<RankId, RankId>> differ;
};

// `topology`: how nodes hang on their switches, where it is told.
std::optional<Accounting> AccountFor(const JobView& view, const ExecutionGraph& graph,
                                     const AccountLimits& limits = {},
                                     const Topology* topology = nullptr);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_LEDGER_ACCOUNTING_H_
