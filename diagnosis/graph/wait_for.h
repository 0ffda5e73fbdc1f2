// Who waits for whom in a job that stands still: ranks as nodes, stuck ops as edges.
//
// Used by rule hang. Pure.
//
//   rank 0 --(group 0, 41)--> rank 2        rank 2 has not entered 41 of group 0
//   rank 1 --(group 0, 41)--> rank 2
//   rank 2: no edge, but two come in: a sink. What it does is the answer.
//
// Model: a rank waits in its oldest open op. It waits for every member that has not entered the
// same instance, and for every dead or stopped member. Whether member X has entered sequence s is
// told without assuming where counters start: a waiter W that entered E_w ops of the group, of
// which n came after s, has X beside it exactly if E_x ≥ E_w − n. A receive waits for a peer that
// has no send open to it, a send for one that has no receive open from it: what is sent at once, or
// into a buffer, is over and not open. A rank that recorded anything later than `message_gap` after
// it entered a send went on and is not held by it. Of a peer with as many open ops as an agent
// tells, it is not known. What is open at a rank whose agent is out of reach may be over: that it
// entered it stands, but it makes nobody wait by itself.
//
// Thread-safety: plain values. Cost: O(members of the instances); Ring() that times a constant.
// Source: wait-for graphs of distributed deadlock detection; Mycroft (SOSP'25) for in-flight state.
#ifndef FATHOM_DIAGNOSIS_GRAPH_WAIT_FOR_H_
#define FATHOM_DIAGNOSIS_GRAPH_WAIT_FOR_H_

#include <map>
#include <set>
#include <vector>

#include "diagnosis/model/job_view.h"

namespace fathom::diagnosis {

// One collective instance that some members are stuck in.
struct StuckInstance {
  GroupId group;
  Sequence sequence;
  std::map<RankId, OpenOp> inside;  // members with the op open
  std::vector<RankId> missing;      // alive members that have not entered it
  std::vector<RankId> unknown;      // members of whom it cannot be told
  std::vector<RankId> held_by;      // missing ones, and halted ones inside: those it waits for
};

// A send or receive that a rank is stuck in.
struct StuckMessage {
  RankId rank;
  OpenOp op;
  bool answered = false;  // the other end is there too
};

struct WaitFor {
  std::vector<StuckInstance> instances;
  std::map<RankId, std::vector<std::size_t>> inside_of;  // waiter → its instances
  std::vector<StuckMessage> messages;
  std::map<RankId, std::set<RankId>> unanswered;  // rank → peers it waits for in messages
  std::set<RankId> waiting;                       // ranks with a stuck op

  bool WaitsFor(RankId waiter, RankId other) const;
  bool WaitsInMessage(RankId waiter, RankId other) const;

  // Ranks that others wait for and that wait for nobody.
  std::vector<RankId> Sinks() const;
  // Ranks that wait for one another in a ring: a short one where there are several, because who
  // closes them by a wrong order of its own is in all of them. Empty: there is none.
  std::vector<RankId> Ring() const;
};

// Considers ops open for at least `stuck_after`.
WaitFor BuildWaitFor(const JobView& view, Nanos stuck_after, Nanos message_gap);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_GRAPH_WAIT_FOR_H_
