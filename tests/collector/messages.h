// Messages as an agent would send them, for tests.
//
// Used by the collector's tests and by FakeAgent. Every default is a valid message of job "train".
// Thread-safety: pure functions.
#ifndef FATHOM_TESTS_COLLECTOR_MESSAGES_H_
#define FATHOM_TESTS_COLLECTOR_MESSAGES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "fathom/v1/agent.pb.h"

namespace fathom::collector {

inline constexpr std::uint64_t kWorldGroup = 0xabcdef12;

v1::AgentMessage HelloFrom(const std::string& node, std::uint32_t protocol = 1);
v1::RankInfo RankOf(std::uint32_t rank, std::uint32_t world, const std::string& job = "train");
v1::GroupInfo GroupOf(std::uint32_t rank, std::uint32_t world, const std::string& job = "train");

struct BatchShape {
  std::uint32_t rank = 0;
  std::int64_t first = 0;  // the rank's own count
  int count = 1;
  std::uint32_t duration_us = 100'000;
  std::uint32_t elapsed_us = 20'000;  // in the group's ops
  std::uint64_t anchor = 1000;        // of the first iteration
  std::int64_t step = 5;              // ops of the group an iteration
  std::string job = "train";
  std::int64_t begin_mono_ns = 50'000'000'000;  // of iteration 0
  std::uint64_t group = kWorldGroup;
};
v1::SummaryBatch Batch(const BatchShape& shape);
v1::RankHealth HealthOf(std::uint32_t rank, const std::string& state = "S",
                        std::int64_t silent_ns = 0, const std::string& job = "train");

v1::AgentMessage Message(std::uint64_t number, const v1::RankInfo& body);
v1::AgentMessage Message(std::uint64_t number, const v1::GroupInfo& body);
v1::AgentMessage Message(std::uint64_t number, const v1::SummaryBatch& body);
v1::AgentMessage Message(std::uint64_t number, const v1::RankHealth& body);
v1::AgentMessage Message(std::uint64_t number, const v1::RankGone& body);
v1::AgentMessage Message(std::uint64_t number, const v1::RowsReply& body);

}  // namespace fathom::collector

#endif  // FATHOM_TESTS_COLLECTOR_MESSAGES_H_
