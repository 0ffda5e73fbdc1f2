// Everything of a job that carries data between ranks, each with how much slower it has become.
//
// Used by slowness/network/network_place. Model: three kinds of channels. A communicator of
// collectives is as slow as its slowest path; of its ops the shortest that any member saw bounds a
// transfer from above, and no rank's lateness lengthens it, for whoever comes last waits for
// nobody. The messages of a rank: the shortest of them is slow only where the way to every one of
// its partners is. A flow from one rank to another, where the transport tells of it. A channel is
// slow where it takes link_factor times as long as before, well below link_contrast; between the
// two it says nothing.
//
// Units: seconds. Thread-safety: pure. Errors: none; empty where nothing is known.
// Cost: O(ranks × groups × iterations asked for + members of all groups + flows).
#ifndef FATHOM_DIAGNOSIS_SLOWNESS_NETWORK_NETWORK_CHANNELS_H_
#define FATHOM_DIAGNOSIS_SLOWNESS_NETWORK_NETWORK_CHANNELS_H_

#include <vector>

#include "diagnosis/evidence/rule.h"

namespace fathom::diagnosis {

struct NetworkChannel {
  enum class Kind : std::uint8_t { kCollective, kMessages, kFlow };
  Kind kind = Kind::kCollective;
  // Ranks that share a path, sorted. Several only of messages: it is slow where all of them are.
  std::vector<std::vector<RankId>> paths;
  double growth = 1;  // of what it takes
  double lost = 0;    // of an iteration, beyond the usual; 0 of a flow
  bool slow = false;
  bool well = false;
};

std::vector<NetworkChannel> NetworkChannels(const Case& c);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_SLOWNESS_NETWORK_NETWORK_CHANNELS_H_
