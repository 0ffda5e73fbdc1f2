#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "collector/import/reading/text.h"
#include "collector/import/side_files/json_tree.h"
#include "collector/import/side_files/side_files.h"

namespace fathom::collector::side_files {
namespace {

using diagnosis::PathFlow;
using diagnosis::PathState;

struct Socket {
  RankId rank;
  std::string local;
  std::string peer;
  std::string info;
};

// All sockets as they were at one time, of all ranks that said so.
struct Moment {
  std::int64_t at_ns = 0;
  std::vector<Socket> sockets;
};

RankId RankOf(std::string_view key) {
  const auto rank = Unsigned(key);
  return rank && *rank < kNoRank.value ? RankId(static_cast<std::uint32_t>(*rank)) : kNoRank;
}

std::string AddressOf(std::string_view endpoint) {
  const std::size_t colon = endpoint.rfind(':');
  return std::string(endpoint.substr(0, colon));
}

std::vector<Socket> SocketsOf(const Json& moment) {
  std::vector<Socket> sockets;
  for (const auto& [key, of_rank] : moment.items()) {
    const RankId rank = RankOf(key);
    const Json* tcp = At(of_rank, "tcp");
    if (rank == kNoRank || tcp == nullptr || !tcp->is_array()) continue;
    for (const Json& socket : *tcp) {
      sockets.push_back(
          {rank, TextAt(socket, "local"), TextAt(socket, "peer"), TextAt(socket, "info")});
    }
  }
  return sockets;
}

// In order of time; moments without a socket are left out.
std::vector<Moment> MomentsOf(const Json& json) {
  std::vector<Moment> moments;
  for (const Json& each : json) {
    Moment moment{0, SocketsOf(each)};
    for (const Json& rank : each) moment.at_ns = std::max(moment.at_ns, IntegerAt(rank, "time_ns"));
    if (!moment.sockets.empty()) moments.push_back(std::move(moment));
  }
  std::stable_sort(moments.begin(), moments.end(),
                   [](const Moment& a, const Moment& b) { return a.at_ns < b.at_ns; });
  return moments;
}

// Which rank an end belongs to: by address and port, or by an address that only one rank has.
class Ends {
 public:
  explicit Ends(const std::vector<Socket>& sockets) {
    for (const Socket& socket : sockets) {
      ends_.emplace(socket.local, socket.rank);
      const auto [at, first] = ends_.emplace(AddressOf(socket.local), socket.rank);
      if (!first && at->second != socket.rank) at->second = kNoRank;
    }
  }

  // kNoRank: not known, or the socket's own rank.
  RankId PeerOf(const Socket& socket) const {
    auto peer = ends_.find(socket.peer);
    if (peer == ends_.end()) peer = ends_.find(AddressOf(socket.peer));
    return peer == ends_.end() || peer->second == socket.rank ? kNoRank : peer->second;
  }

 private:
  std::map<std::string, RankId> ends_;
};

// The number of "name:123ms" in a line of `ss -ti`; 0 if it is not there.
std::uint64_t FieldOf(std::string_view info, std::string_view name) {
  for (std::string_view word : text::Split(info, ' ')) {
    if (!text::Consume(word, name)) continue;
    return Unsigned(word.substr(0, word.find_first_not_of("0123456789"))).value_or(0);
  }
  return 0;
}

constexpr std::int64_t kNsPerMs = 1'000'000;

Nanos MillisOf(std::string_view info, std::string_view name) {
  constexpr std::uint64_t kYearMs = 31'536'000'000;
  return Nanos(static_cast<std::int64_t>(std::min(FieldOf(info, name), kYearMs)) * kNsPerMs);
}

PathState PathOf(RankId peer, std::string_view info) {
  PathState path;
  path.peer = peer;
  path.backoff = static_cast<std::uint32_t>(std::min<std::uint64_t>(FieldOf(info, "backoff:"), 64));
  path.unacknowledged = FieldOf(info, "unacked:");
  path.since_received = MillisOf(info, "lastrcv:");
  return path;
}

// What the socket carried up to `before` and from then to `now`; peer kNoRank if it has gone back,
// as a new connection with the same ends does.
PathFlow FlowOf(RankId peer, std::string_view before, std::string_view now) {
  PathFlow flow{peer, FieldOf(before, "bytes_acked:"), FieldOf(now, "bytes_acked:"),
                MillisOf(before, "busy:"), MillisOf(now, "busy:")};
  if (flow.bytes_since < flow.bytes_before || flow.busy_since < flow.busy_before) {
    return PathFlow{};
  }
  flow.bytes_since -= flow.bytes_before;
  flow.busy_since = flow.busy_since - flow.busy_before;
  return flow;
}

void AddFlows(const Moment& first, const Moment& last, const Ends& ends, Recording& recording) {
  std::map<std::pair<std::string, std::string>, const Socket*> earlier;
  for (const Socket& socket : first.sockets) earlier[{socket.local, socket.peer}] = &socket;
  for (const Socket& socket : last.sockets) {
    const auto before = earlier.find({socket.local, socket.peer});
    const RankId peer = ends.PeerOf(socket);
    if (before == earlier.end() || peer == kNoRank) continue;
    if (RecordOf(recording, socket.rank) == nullptr) continue;
    const PathFlow flow = FlowOf(peer, before->second->info, socket.info);
    if (flow.peer != kNoRank) FactsOf(recording, socket.rank).flows.push_back(flow);
  }
}

}  // namespace

bool AddSockets(std::string_view text, Recording& recording) {
  const Json json = Parse(text);
  if (!json.is_object() || json.empty()) return false;
  const std::vector<Moment> moments = MomentsOf(json);
  if (moments.empty()) return false;
  const Moment& newest = moments.back();
  const Ends ends(newest.sockets);
  bool any = false;
  for (const Socket& socket : newest.sockets) {
    diagnosis::RankRecord* record = RecordOf(recording, socket.rank);
    const RankId peer = ends.PeerOf(socket);
    if (record == nullptr || peer == kNoRank) continue;
    record->paths.push_back(PathOf(peer, socket.info));
    any = true;
  }
  if (moments.size() > 1) AddFlows(moments.front(), newest, ends, recording);
  return any;
}

}  // namespace fathom::collector::side_files
