#include <algorithm>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collector/import/side_files/side_files.h"
#include "collector/import/text.h"

namespace fathom::collector::side_files {
namespace {

using Json = nlohmann::json;
using diagnosis::PathState;
using diagnosis::ProcessState;

template <typename T>
std::optional<T> Number(std::string_view text) {
  T value{};
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

// Null on anything but an object; never throws.
const Json* At(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto at = object.find(key);
  return at == object.end() ? nullptr : &*at;
}

std::string TextAt(const Json& object, const char* key) {
  const Json* value = At(object, key);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

std::int64_t IntegerAt(const Json& object, const char* key) {
  const Json* value = At(object, key);
  return value != nullptr && value->is_number_integer() ? value->get<std::int64_t>() : 0;
}

// A tree of at most `depth` levels, so that nothing recurses deep when it is taken down.
Json Parse(std::string_view text) {
  constexpr int kDepth = 32;
  bool deep = false;
  const auto shallow = [&](int depth, Json::parse_event_t, Json&) {
    deep = deep || depth > kDepth;
    return !deep;
  };
  Json json = Json::parse(text, shallow, false);
  return deep || json.is_discarded() ? Json() : json;
}

ProcessState StateOf(std::string_view letter) {
  if (letter.empty()) return ProcessState::kUnknown;
  switch (letter[0]) {
    case 'R':
      return ProcessState::kRunning;
    case 'S':
    case 'I':
      return ProcessState::kSleeping;
    case 'D':
      return ProcessState::kUninterruptible;
    case 'T':
    case 't':
      return ProcessState::kStopped;
    case 'Z':
      return ProcessState::kZombie;
    case 'X':
      return ProcessState::kGone;
    default:
      return ProcessState::kUnknown;
  }
}

void AddMainThread(const Json& process, std::int64_t pid, diagnosis::RankFacts& facts) {
  const Json* threads = At(process, "threads");
  if (threads == nullptr || !threads->is_array()) return;
  for (const Json& thread : *threads) {
    if (IntegerAt(thread, "tid") != pid) continue;
    facts.wait_channel = TextAt(thread, "wchan");
    facts.cpu_while_silent = Nanos(IntegerAt(thread, "cpu_ms_in_1s") * 1'000'000);
    facts.silent_for = Nanos(1'000'000'000);  // the second over which it was measured
  }
}

void AddProcess(const Json& process, diagnosis::RankFacts& facts) {
  const std::int64_t pid = IntegerAt(process, "pid");
  if (pid > 0 && pid <= 0x7fffffff) facts.pid = static_cast<std::uint32_t>(pid);
  facts.state = StateOf(TextAt(process, "state"));
  const Json* alive = At(process, "alive");
  if (alive != nullptr && alive->is_boolean() && !alive->get<bool>()) {
    facts.state = ProcessState::kGone;
  }
  AddMainThread(process, pid, facts);
}

struct Socket {
  RankId rank;
  std::string local;
  std::string peer;
  std::string info;
};

std::string AddressOf(std::string_view endpoint) {
  const std::size_t colon = endpoint.rfind(':');
  return std::string(endpoint.substr(0, colon));
}

std::vector<Socket> SocketsOf(const Json& moment) {
  std::vector<Socket> sockets;
  for (const auto& [key, of_rank] : moment.items()) {
    const auto rank = Number<std::uint32_t>(key);
    const Json* tcp = At(of_rank, "tcp");
    if (!rank || tcp == nullptr || !tcp->is_array()) continue;
    for (const Json& socket : *tcp) {
      sockets.push_back(
          {RankId(*rank), TextAt(socket, "local"), TextAt(socket, "peer"), TextAt(socket, "info")});
    }
  }
  return sockets;
}

// The sockets of the moment that was recorded last.
std::vector<Socket> NewestSockets(const Json& moments) {
  std::vector<Socket> newest;
  std::int64_t newest_ns = -1;
  for (const Json& moment : moments) {
    std::int64_t at_ns = 0;
    for (const Json& of_rank : moment) at_ns = std::max(at_ns, IntegerAt(of_rank, "time_ns"));
    std::vector<Socket> sockets = SocketsOf(moment);
    if (sockets.empty() || at_ns < newest_ns) continue;
    newest = std::move(sockets);
    newest_ns = at_ns;
  }
  return newest;
}

// Which rank an end belongs to: by address and port, or by an address that only one rank has.
std::map<std::string, RankId> Ends(const std::vector<Socket>& sockets) {
  std::map<std::string, RankId> ends;
  for (const Socket& socket : sockets) {
    ends.emplace(socket.local, socket.rank);
    const auto [at, first] = ends.emplace(AddressOf(socket.local), socket.rank);
    if (!first && at->second != socket.rank) at->second = kNoRank;
  }
  return ends;
}

PathState PathOf(RankId peer, std::string_view info) {
  PathState path;
  path.peer = peer;
  for (std::string_view word : text::Split(info, ' ')) {
    if (text::Consume(word, "backoff:")) {
      path.backoff = Number<std::uint32_t>(word).value_or(0);
    } else if (text::Consume(word, "unacked:")) {
      path.unacknowledged = Number<std::uint64_t>(word).value_or(0);
    } else if (text::Consume(word, "lastrcv:")) {
      path.since_received = Nanos(Number<std::int32_t>(word).value_or(0) * std::int64_t{1'000'000});
    }
  }
  return path;
}

}  // namespace

bool AddProcesses(std::string_view text, Recording& recording) {
  const Json json = Parse(text);
  if (!json.is_object()) return false;
  bool any = false;
  for (const auto& [key, process] : json.items()) {
    const auto rank = Number<std::uint32_t>(key);
    if (!rank || RecordOf(recording, RankId(*rank)) == nullptr) continue;
    AddProcess(process, FactsOf(recording, RankId(*rank)));
    any = true;
  }
  return any;
}

bool AddSockets(std::string_view text, Recording& recording) {
  const Json json = Parse(text);
  if (!json.is_object() || json.empty()) return false;
  const std::vector<Socket> sockets = NewestSockets(json);
  const std::map<std::string, RankId> ends = Ends(sockets);
  bool any = false;
  for (const Socket& socket : sockets) {
    auto peer = ends.find(socket.peer);
    if (peer == ends.end()) peer = ends.find(AddressOf(socket.peer));
    diagnosis::RankRecord* record = RecordOf(recording, socket.rank);
    const bool known = peer != ends.end() && peer->second != kNoRank && peer->second != socket.rank;
    if (record == nullptr || !known) continue;
    record->paths.push_back(PathOf(peer->second, socket.info));
    any = true;
  }
  return any;
}

}  // namespace fathom::collector::side_files
