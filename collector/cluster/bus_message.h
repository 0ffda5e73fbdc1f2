// Messages of the bus as bytes, with their version looked at.
//
// Used by all of collector/cluster. Pure functions. Errors: nothing where the bytes are no message
// or one of a later version; counted. Cost: a serialisation, a parse.
#ifndef FATHOM_COLLECTOR_CLUSTER_BUS_MESSAGE_H_
#define FATHOM_COLLECTOR_CLUSTER_BUS_MESSAGE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "collector/cluster/cluster_counters.h"
#include "fathom/v1/bus.pb.h"

namespace fathom::collector {

inline constexpr std::uint32_t kBusVersion = 1;

// Stamps the message with the version, where it lies.
template <typename Message>
std::string BusBytes(Message&& message) {
  message.set_version(kBusVersion);
  return message.SerializeAsString();
}

template <typename Message>
[[nodiscard]] std::optional<Message> ReadBus(std::string_view bytes, ClusterCounters& counters) {
  Message message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) ||
      message.version() == 0) {
    ++counters.damaged;
    return std::nullopt;
  }
  if (message.version() > kBusVersion) {
    ++counters.later;
    return std::nullopt;
  }
  return message;
}

// Topics of words.
inline std::string WordsOfJob(const std::string& job) { return "job." + job; }
inline std::string OrdersTo(const std::string& door) { return "door." + door; }
inline constexpr char kMembersTopic[] = "members";
inline constexpr char kEventsTopic[] = "events";
inline constexpr char kProbesTopic[] = "probes";

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_CLUSTER_BUS_MESSAGE_H_
