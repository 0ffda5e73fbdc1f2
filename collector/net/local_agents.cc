#include "collector/net/local_agents.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>
#include <absl/strings/str_split.h>
#include <pwd.h>
#include <unistd.h>

#include <array>
#include <optional>

#include "daemon/service/loopback.h"

namespace fathom::collector {
namespace {

constexpr int kReadings = 3;

std::optional<uid_t> UserNamed(const std::string& name) {
  uid_t number = 0;
  if (absl::SimpleAtoi(name, &number)) return number;
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 16 * 1024> text{};
  getpwnam_r(name.c_str(), &entry, text.data(), text.size(), &found);
  if (found == nullptr) return std::nullopt;
  return found->pw_uid;
}

}  // namespace

absl::StatusOr<LocalAgents> LocalAgents::Parse(const std::string& users) {
  LocalAgents agents;
  agents.users_ = {0, geteuid()};
  for (const auto each : absl::StrSplit(users, absl::ByAnyChar(", "), absl::SkipEmpty())) {
    if (each == "*") {
      agents.all_ = true;
      continue;
    }
    const std::optional<uid_t> user = UserNamed(std::string(each));
    if (!user) {
      return absl::InvalidArgumentError(
          absl::StrCat("agent_users: there is no user '", each, "' on this machine"));
    }
    agents.others_ = agents.users_.insert(*user).second || agents.others_;
  }
  return agents;
}

absl::StatusOr<std::string> LocalAgents::Check(const Peer& peer, const std::string& folder) const {
  if (!service::IsLoopback(peer.address)) return peer.address;
  // The kernel may pass over a connection while others come and go as its table is read.
  std::optional<uid_t> owner;
  for (int i = 0; i < kReadings && !owner; ++i) owner = LoopbackOwner(peer, folder);
  if (!owner && all_) return peer.address;
  if (!owner) {
    return absl::PermissionDeniedError(
        "the kernel does not tell whose process this is; give agents certificates, or let the "
        "collector read /proc/net");
  }
  return CheckUser(*owner);
}

absl::StatusOr<std::string> LocalAgents::CheckUser(uid_t user) const {
  if (all_ || users_.contains(user)) return absl::StrCat("user ", user);
  return absl::PermissionDeniedError(
      absl::StrCat("agents of user ", user,
                   " are not believed here; the collector's owner may name the user "
                   "in agent_users"));
}

bool LocalAgents::Tells(const Peer& peer) const {
  return !all_ && service::IsLoopback(peer.address);
}

Peer PeerOfGrpc(const std::string& text, int server_port) {
  const std::string plain = absl::StrReplaceAll(text, {{"%5B", "["}, {"%5D", "]"}});
  const auto scheme = plain.find(':'), port = plain.rfind(':');
  if (!plain.starts_with("ipv") || port <= scheme) return {};
  Peer peer;
  peer.server_port = server_port;
  if (!absl::SimpleAtoi(plain.substr(port + 1), &peer.port)) return {};
  peer.address = absl::StrReplaceAll(plain.substr(scheme + 1, port - scheme - 1),
                                     {{"[", ""}, {"]", ""}, {"::ffff:", ""}});
  return peer;
}

}  // namespace fathom::collector
