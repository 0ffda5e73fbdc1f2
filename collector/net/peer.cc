#include "collector/net/peer.h"

#include <absl/strings/ascii.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <arpa/inet.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>

#include "collector/net/socket_owner.h"
#include "daemon/service/loopback.h"

namespace fathom::collector {
namespace {

constexpr std::array<unsigned char, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

// As the kernel prints it: words of 32 bits in the machine's order, "0100007F:1F90".
std::string KernelText(const std::string& address, int port) {
  std::array<std::uint32_t, 4> words{};
  const bool v6 = address.find(':') != std::string::npos;
  if (inet_pton(v6 ? AF_INET6 : AF_INET, address.c_str(), words.data()) != 1) return "";
  std::string text;
  for (int i = 0; i < (v6 ? 4 : 1); ++i) {
    absl::StrAppend(&text, absl::Hex(words[static_cast<std::size_t>(i)], absl::kZeroPad8));
  }
  absl::StrAppend(&text, ":", absl::Hex(port, absl::kZeroPad4));
  return absl::AsciiStrToUpper(text);
}

// An IPv4 address that a socket of IPv6 holds, as a socket of IPv4 would show it.
std::string Unmapped(const std::string& text) {
  constexpr std::string_view kMappedWords = "0000000000000000FFFF0000";
  return text.starts_with(kMappedWords) ? text.substr(kMappedWords.size()) : text;
}

bool LoopbackWithPort(const std::string& text, int port) {
  const bool loopback = text.starts_with("00000000000000000000000001000000:") ||
                        (text.size() == 13 && text.substr(6, 2) == "7F");
  return loopback &&
         text.ends_with(absl::AsciiStrToUpper(absl::StrCat(":", absl::Hex(port, absl::kZeroPad4))));
}

// Columns of /proc/net/tcp (proc(5)): sl, local_address, rem_address, st, queues, timer,
// retransmits, uid. Where two users' connections fit, nobody is told apart.
std::optional<uid_t> OwnerInTables(const Peer& peer, const std::string& folder) {
  const std::string from = KernelText(peer.address, peer.port);
  std::set<uid_t> owners;
  for (const char* table : {"/tcp", "/tcp6"}) {
    std::ifstream lines(folder + table);
    for (std::string line; std::getline(lines, line);) {
      if (line.find(from) == std::string::npos) continue;  // cheap, and true of nearly all
      std::istringstream words(line);
      std::string slot, local, remote, state, queues, timer, retransmits;
      uid_t uid = 0;
      words >> slot >> local >> remote >> state >> queues >> timer >> retransmits >> uid;
      if (!words || state != "01" || Unmapped(local) != from) continue;
      if (LoopbackWithPort(Unmapped(remote), peer.server_port)) owners.insert(uid);
    }
  }
  if (owners.size() != 1) return std::nullopt;
  return *owners.begin();
}

}  // namespace

bool Networks::Read(const std::string& address, std::array<unsigned char, 16>& bytes) {
  if (inet_pton(AF_INET6, address.c_str(), bytes.data()) == 1) return true;
  std::copy(kMapped.begin(), kMapped.end(), bytes.begin());
  return inet_pton(AF_INET, address.c_str(), bytes.data() + kMapped.size()) == 1;
}

absl::StatusOr<Networks> Networks::Parse(const std::string& list) {
  Networks all;
  for (const auto each : absl::StrSplit(list, absl::ByAnyChar(", "), absl::SkipEmpty())) {
    const std::pair<std::string, std::string> parts = absl::StrSplit(each, absl::MaxSplits('/', 1));
    Network network;
    const bool v4 = parts.first.find(':') == std::string::npos;
    const int most = v4 ? 32 : 128;
    int bits = most;
    const bool plain = Read(parts.first, network.bytes) &&
                       (parts.second.empty() || absl::SimpleAtoi(parts.second, &bits)) &&
                       bits >= 0 && bits <= most;
    if (!plain) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", each, "' is no address or network like 10.0.0.0/8"));
    }
    network.bits = v4 ? bits + 96 : bits;
    all.networks_.push_back(network);
  }
  return all;
}

bool Networks::Has(const std::string& address) const {
  std::array<unsigned char, 16> bytes{};
  if (!Read(address, bytes)) return false;
  for (const Network& network : networks_) {
    const int whole = network.bits / 8;
    const int rest = network.bits % 8;
    const unsigned mask = (0xff00u >> rest) & 0xffu;
    if (std::memcmp(bytes.data(), network.bytes.data(), static_cast<std::size_t>(whole)) != 0) {
      continue;
    }
    const auto at = static_cast<std::size_t>(whole);
    if (rest == 0 || ((bytes[at] ^ network.bytes[at]) & mask) == 0) return true;
  }
  return false;
}

std::optional<uid_t> LoopbackOwner(const Peer& peer, const std::string& folder) {
  if (!service::IsLoopback(peer.address)) return std::nullopt;
  if (!peer.server_address.empty()) {
    const auto owner =
        SocketOwner({peer.address, peer.port}, {peer.server_address, peer.server_port});
    if (owner) return owner;
  }
  return OwnerInTables(peer, folder);
}

}  // namespace fathom::collector
