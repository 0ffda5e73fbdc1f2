// The transfers of ops that a rank is stuck in: how far each one is, and for how long it has stood
// still.
//
// Owned by Agent. Like the sockets (socket_watch.h) they are looked at only while a rank is stuck;
// between looks the tracer overwrites its counts in place. A transfer stands still since the first
// look that saw its counts as they are now, so it takes two looks to say anything. Who has more
// than kMostOfARank tells none: a part of them would make the rest look as if they were not there.
//
// Thread-safety: the poll loop's. Errors: a table that cannot be read, or contradicts itself, tells
// nothing. Cost: none while ops flow; else two reads of 64 KiB a rank and look.
#ifndef FATHOM_DAEMON_AGENT_SESSION_TRANSFER_WATCH_H_
#define FATHOM_DAEMON_AGENT_SESSION_TRANSFER_WATCH_H_

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "daemon/agent/session/rank_session.h"
#include "fathom/v1/health.pb.h"

namespace fathom::agent {

class TransferWatch {
 public:
  static constexpr std::int64_t kStuckNs = 2'000'000'000;
  static constexpr int kMostOfARank = 256;

  // Adds the transfers of the ops that the rank has been stuck in to its health.
  void Look(RankSession& session, std::int64_t now_ns, v1::RankHealth& health);
  void Forget(const std::string& session) { seen_.erase(session); }

 private:
  struct Seen {
    std::array<std::uint32_t, 4> counts{};
    std::int64_t since_ns = 0;
  };
  using OfARank = std::map<std::pair<std::uint32_t, std::uint32_t>, Seen>;  // place, turn

  std::map<std::string, OfARank> seen_;  // by ring file name
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SESSION_TRANSFER_WATCH_H_
