#include "collector/import/kineto/guessed_nodes.h"

#include <algorithm>
#include <cstdint>
#include <map>

#include "absl/strings/str_cat.h"

namespace fathom::collector::kineto {
namespace {

// By rank; empty where some trace tells none.
std::map<std::uint32_t, std::int64_t> DevicesOf(const std::vector<RankTrace>& traces) {
  std::map<std::uint32_t, std::int64_t> devices;
  for (const RankTrace& trace : traces) {
    if (trace.device < 0) return {};
    devices.try_emplace(trace.rank, trace.device);
  }
  return devices;
}

// Ranks of a node; 0 where the numbers do not tell nodes of one size.
std::size_t RanksOfNode(const std::map<std::uint32_t, std::int64_t>& devices) {
  std::size_t size = 0;
  for (const auto& [rank, device] : devices) {
    if (device == 0 && rank > 0 && size == 0) size = rank;
  }
  if (size < 2) return 0;
  const bool regular = std::all_of(devices.begin(), devices.end(), [&](const auto& entry) {
    return static_cast<std::int64_t>(entry.first % size) == entry.second;
  });
  return regular ? size : 0;
}

}  // namespace

void GuessNodes(const std::vector<RankTrace>& traces, Recording& recording) {
  auto& facts = recording.view.ranks;
  const bool named =
      std::any_of(facts.begin(), facts.end(), [](const auto& each) { return !each.node.empty(); });
  const std::size_t size = named ? 0 : RanksOfNode(DevicesOf(traces));
  if (size == 0 || facts.size() <= size) return;
  for (diagnosis::RankFacts& each : facts)
    each.node = absl::StrCat("node#", each.rank.value / size);
  recording.view.nodes = static_cast<std::uint32_t>((facts.back().rank.value / size) + 1);
  recording.notes.push_back(absl::StrCat("no trace names its host: nodes of ", size,
                                         " ranks are guessed from the numbers of their GPUs"));
}

}  // namespace fathom::collector::kineto
