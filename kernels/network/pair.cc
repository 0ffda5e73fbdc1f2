#include "kernels/network/pair.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "kernels/measure/samples.h"
#include "kernels/measure/workers.h"
#include "kernels/network/connection.h"

namespace fathom::kernels {
namespace {

constexpr std::size_t kToken = 32;
constexpr std::size_t kBlock = std::size_t{128} << 10;
constexpr std::size_t kMostPings = 2000;
constexpr double kPatience = 5;  // seconds beyond its own time, for the other end

// What crosses the connection: a head, and for kData `bytes` more. Both ends have one byte order,
// which the first head proves.
enum class What : std::uint32_t { kPing = 0xfa7400, kData, kCount, kSendBack, kBye };

struct Head {
  What what;
  std::uint32_t bytes;  // kSendBack: milliseconds
};

struct Count {
  double bytes, seconds, segments, again;
};

std::array<char, kToken> TokenOf(const std::string& token) {
  std::array<char, kToken> out{};
  std::memcpy(out.data(), token.data(), std::min(token.size(), kToken));
  return out;
}

ProbeResult Ended(Outcome outcome, const Connection& connection) {
  return {.probe = {}, .outcome = outcome, .reason = connection.error()};
}

// Sends data until `seconds` have passed, then what it was.
bool Pour(Connection& connection, double seconds) {
  const std::vector<char> block(kBlock);
  const Head head{What::kData, kBlock};
  const double end = WallSeconds() + seconds;
  do {
    if (!connection.Send(&head, sizeof head) || !connection.Send(block.data(), kBlock))
      return false;
  } while (WallSeconds() < end);
  const Head over{What::kCount, 0};
  return connection.Send(&over, sizeof over);
}

// Takes data until the other end says that it is over.
bool Drain(Connection& connection, Head head, Count& count) {
  std::vector<char> block(kBlock);
  const double begin = WallSeconds();
  count = {};
  while (head.what == What::kData) {
    if (head.bytes > kBlock || !connection.Receive(block.data(), head.bytes)) return false;
    count.bytes += static_cast<double>(head.bytes);
    if (!connection.Receive(&head, sizeof head)) return false;
  }
  count.seconds = WallSeconds() - begin;
  return head.what == What::kCount;
}

bool SendCount(Connection& connection, Count count) {
  const Segments segments = connection.Sent();
  count.segments = segments.sent;
  count.again = segments.again;
  return connection.Send(&count, sizeof count);
}

// False: it is over, or it broke.
bool Answer(Connection& connection) {
  Head head{};
  if (!connection.Receive(&head, sizeof head)) return false;
  Count count{};
  switch (head.what) {
    case What::kPing:
      return connection.Send(&head, sizeof head);
    case What::kData:
      return Drain(connection, head, count) && SendCount(connection, count);
    case What::kSendBack:
      return Pour(connection, std::min(60.0, 1e-3 * head.bytes)) && SendCount(connection, count);
    default:
      return false;
  }
}

bool Ping(Connection& connection, double seconds, ProbeResult& result) {
  std::vector<double> times;
  const double end = WallSeconds() + seconds;
  do {
    Head head{What::kPing, 0};
    const double before = WallSeconds();
    if (!connection.Send(&head, sizeof head) || !connection.Receive(&head, sizeof head))
      return false;
    times.push_back(WallSeconds() - before);
  } while (times.size() < kMostPings && WallSeconds() < end);
  Figure median = MedianFigure("pair_latency", "", times, "s");
  median.less_is_better = true;
  result.figures.push_back(std::move(median));
  result.figures.push_back({.name = "pair_latency_p95",
                            .value = QuantileOf(times, 0.95),
                            .unit = "s",
                            .less_is_better = true});
  return true;
}

bool Both(Connection& connection, double seconds, ProbeResult& result) {
  Count up{};
  if (!Pour(connection, seconds) || !connection.Receive(&up, sizeof up)) return false;
  const Head ask{What::kSendBack, static_cast<std::uint32_t>(1e3 * seconds)};
  Head head{};
  Count down{};
  Count theirs{};
  if (!connection.Send(&ask, sizeof ask) || !connection.Receive(&head, sizeof head) ||
      !Drain(connection, head, down) || !connection.Receive(&theirs, sizeof theirs)) {
    return false;
  }
  const Segments ours = connection.Sent();
  const double sent = ours.sent + theirs.segments;
  result.figures.push_back({.name = "pair_up", .value = up.bytes / up.seconds, .unit = "B/s"});
  result.figures.push_back(
      {.name = "pair_down", .value = down.bytes / down.seconds, .unit = "B/s"});
  result.figures.push_back({.name = "pair_loss",
                            .value = sent > 0 ? (ours.again + theirs.again) / sent : 0,
                            .unit = "ratio",
                            .less_is_better = true});
  return true;
}

}  // namespace

bool ParsePairAddress(const std::string& text, PairAddress& address) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == text.size()) return false;
  address.host = text.substr(0, colon);
  address.port = text.substr(colon + 1);
  if (address.host.front() == '[' && address.host.back() == ']') {
    address.host = address.host.substr(1, address.host.size() - 2);
  } else if (address.host.find(':') != std::string::npos) {
    return false;
  }
  return address.port.find_first_not_of("0123456789") == std::string::npos;
}

ProbeResult ServePair(const Bounds& bounds, const std::string& host, const std::string& token,
                      const std::function<void(std::uint16_t port)>& ready) {
  Connection connection(bounds, WallSeconds() + bounds.seconds + kPatience);
  std::uint16_t port = 0;
  if (!connection.Listen(host, port)) return Ended(Outcome::kSkipped, connection);
  ready(port);
  if (!connection.Accept()) return Ended(Outcome::kSkipped, connection);
  std::array<char, kToken> told{};
  if (!connection.Receive(told.data(), told.size())) return Ended(Outcome::kFaulty, connection);
  if (told != TokenOf(token)) {
    return {
        .probe = {}, .outcome = Outcome::kSkipped, .reason = "a stranger came, without the token"};
  }
  while (Answer(connection)) {
  }
  return {};
}

ProbeResult MeasurePair(const Bounds& bounds, const PairAddress& server, const std::string& token) {
  Connection connection(bounds, WallSeconds() + bounds.seconds + kPatience);
  if (!connection.Connect(server.host, server.port)) return Ended(Outcome::kSkipped, connection);
  ProbeResult result;
  const std::array<char, kToken> told = TokenOf(token);
  const double third = bounds.seconds / 3;
  if (!connection.Send(told.data(), told.size()) || !Ping(connection, third, result) ||
      !Both(connection, third, result)) {
    result.outcome = Outcome::kFaulty;
    result.reason = connection.error();
    return result;
  }
  const Head bye{What::kBye, 0};
  connection.Send(&bye, sizeof bye);
  return result;
}

}  // namespace fathom::kernels
