#include "diagnosis/hang/place/stack_clusters.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"

namespace fathom::diagnosis {
namespace {

// "wait (faults.py:101)" → "wait (faults.py": a loop goes through several lines.
std::string FunctionOf(const std::string& frame) {
  const std::size_t colon = frame.rfind(':');
  const bool line = colon != std::string::npos && colon + 1 < frame.size() &&
                    absl::ascii_isdigit(static_cast<unsigned char>(frame[colon + 1]));
  return line ? frame.substr(0, colon) : frame;
}

std::vector<std::string> FunctionsOf(const std::vector<std::string>& frames) {
  std::vector<std::string> functions;
  for (const std::string& frame : frames) functions.push_back(FunctionOf(frame));
  return functions;
}

// Index of the first frame of `a`, from the outermost, that `b` does not share; -1: they are equal.
int DiffersAt(const StackCluster& a, const StackCluster& b) {
  const auto ours = FunctionsOf(a.frames), theirs = FunctionsOf(b.frames);
  if (ours == theirs) return -1;
  const auto [at, other] =
      std::mismatch(ours.rbegin(), ours.rend(), theirs.rbegin(), theirs.rend());
  // The others went deeper from where this one stays.
  if (at == ours.rend()) return 0;
  return static_cast<int>(ours.rend() - at) - 1;
}

void MarkDifferences(std::vector<StackCluster>& clusters) {
  for (StackCluster& cluster : clusters) {
    const StackCluster* largest = nullptr;
    for (const StackCluster& other : clusters) {
      if (&other == &cluster) continue;
      if (largest == nullptr || other.ranks.size() > largest->ranks.size()) largest = &other;
    }
    if (largest != nullptr) cluster.differs_at = DiffersAt(cluster, *largest);
  }
}

}  // namespace

std::vector<StackCluster> ClusterStacks(const JobView& view, const std::vector<RankId>& culprits) {
  std::map<std::pair<std::string, std::vector<std::string>>, StackCluster> found;
  for (const RankFacts& facts : view.ranks) {
    if (facts.stack.frames.empty()) continue;
    StackCluster& cluster = found[{facts.stack.source, FunctionsOf(facts.stack.frames)}];
    if (cluster.ranks.empty()) cluster.frames = facts.stack.frames;
    cluster.source = facts.stack.source;
    cluster.ranks.push_back(facts.rank);
    cluster.pause = std::max(cluster.pause, facts.stack.pause);
    cluster.culprit |= std::find(culprits.begin(), culprits.end(), facts.rank) != culprits.end();
  }
  std::vector<StackCluster> clusters;
  for (auto& [key, cluster] : found) clusters.push_back(std::move(cluster));
  std::stable_sort(
      clusters.begin(), clusters.end(), [](const StackCluster& a, const StackCluster& b) {
        return std::pair(a.culprit, a.ranks.size()) > std::pair(b.culprit, b.ranks.size());
      });
  clusters.resize(std::min(clusters.size(), kMostClusters));
  MarkDifferences(clusters);
  return clusters;
}

}  // namespace fathom::diagnosis
