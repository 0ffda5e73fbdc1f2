// How long the communication itself takes on each channel, and which channels should take alike.
//
// Used by diagnosis/ledger/account. Model: a channel is a communicator, or for messages a pair of
// ranks. Of each iteration its time is the sum of the transfers of its ops, each from the arrival
// of the last member (graph/instances), which no lateness of any rank lengthens. Channels are of
// one family if their members lie at the same distances and spread over as many nodes in the same
// way, where nodes are known, and if they carried the same ops: kind, bytes, how often.
//
// Left out: ops of which a member is missing, those of one rank, barriers, and messages that a
// thread sends: their sender does not wait, so that when they could begin is not known.
// Units: seconds. Thread-safety: plain values, pure function. Lifetime: as the graphs.
// Errors: none. Cost: O(joins × log channels).
#ifndef FATHOM_DIAGNOSIS_LEDGER_CHANNELS_H_
#define FATHOM_DIAGNOSIS_LEDGER_CHANNELS_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "diagnosis/ledger/lanes.h"
#include "diagnosis/model/job_view.h"

namespace fathom::diagnosis {

struct Channels {
  // As groups, so that a pair of ranks can be spoken of like a communicator. Their ids are those of
  // the communicators; a pair has that of the one that its messages belong to.
  std::vector<Group> groups;
  std::vector<bool> pair;                    // by channel: messages between two ranks
  std::vector<std::size_t> family;           // by channel
  std::vector<std::vector<double>> seconds;  // by channel, then by iteration; NaN: none
  // By channel: its joins, as stretch and place.
  std::vector<std::vector<std::pair<std::size_t, std::size_t>>> joins;
};

// `stretches`: of the same view; iterations are counted through all of them.
Channels ChannelsOf(const JobView& view, const std::vector<LaneGraph>& stretches);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_LEDGER_CHANNELS_H_
