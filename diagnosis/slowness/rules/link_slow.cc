#include "diagnosis/slowness/rules/link_slow.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "diagnosis/model/lookup.h"
#include "diagnosis/wording/phrase.h"

namespace fathom::diagnosis {
namespace {

constexpr double kBytesPerMegabyte = 1e6;
constexpr std::size_t kPathsShown = 3;

std::optional<PathTime> TimeOf(RankId src, const PathFlow& flow, const DiagnosisConfig& config) {
  const double before_mb = static_cast<double>(flow.bytes_before) / kBytesPerMegabyte;
  const double since_mb = static_cast<double>(flow.bytes_since) / kBytesPerMegabyte;
  if (std::min(before_mb, since_mb) < config.link_megabytes) return std::nullopt;
  PathTime path{src, flow.peer};
  path.before_s_per_mb = flow.busy_before.Seconds() / before_mb;
  path.since_s_per_mb = flow.busy_since.Seconds() / since_mb;
  path.excess_s = since_mb * (path.since_s_per_mb - path.before_s_per_mb);
  return path;
}

std::vector<PathTime> PathsOf(const JobView& view, const std::vector<RankId>& members,
                              const DiagnosisConfig& config) {
  std::vector<PathTime> paths;
  for (const RankFacts& facts : view.ranks) {
    if (!Contains(members, facts.rank)) continue;
    for (const PathFlow& flow : facts.flows) {
      if (!Contains(members, flow.peer)) continue;
      if (const auto path = TimeOf(facts.rank, flow, config)) paths.push_back(*path);
    }
  }
  if (paths.empty()) return paths;
  std::sort(paths.begin(), paths.end(),
            [](const PathTime& a, const PathTime& b) { return a.excess_s > b.excess_s; });
  const double common = paths.back().excess_s;
  for (PathTime& path : paths) path.excess_s -= common;
  return paths;
}

// Ranks by the mean excess of the paths they are an end of, most first.
std::vector<std::pair<double, RankId>> RankedEnds(const std::vector<PathTime>& paths) {
  std::map<RankId, std::pair<double, int>> sums;
  for (const PathTime& path : paths) {
    for (RankId end : {path.src, path.dst}) {
      sums[end].first += path.excess_s;
      ++sums[end].second;
    }
  }
  std::vector<std::pair<double, RankId>> ends;
  for (const auto& [rank, sum] : sums) {
    if (sum.second > 1) ends.emplace_back(sum.first / sum.second, rank);
  }
  std::sort(ends.begin(), ends.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  return ends;
}

std::string Name(const PathTime& path) {
  return absl::StrCat("rank ", path.src.value, " to rank ", path.dst.value);
}

void AddPaths(const SlowNetwork& network, Verdict& verdict) {
  for (std::size_t i = 0; i < network.paths.size(); ++i) {
    const PathTime& path = network.paths[i];
    const bool speaks_for =
        network.end == kNoRank ? i == 0 : path.src == network.end || path.dst == network.end;
    auto& list = speaks_for ? verdict.evidence : verdict.counter_evidence;
    if (list.size() >= kPathsShown + 1) continue;
    list.push_back({absl::StrCat("Time per megabyte from ", Name(path), ", and before."),
                    path.since_s_per_mb, "s", path.before_s_per_mb, "link_slow"});
  }
}

}  // namespace

std::optional<SlowNetwork> FindSlowNetwork(const JobView& view, const std::vector<RankId>& members,
                                           const DiagnosisConfig& config) {
  SlowNetwork network;
  network.paths = PathsOf(view, members, config);
  if (network.paths.size() < static_cast<std::size_t>(config.link_paths)) return std::nullopt;
  const PathTime& worst = network.paths.front();
  if (worst.since_s_per_mb < config.link_factor * worst.before_s_per_mb) return std::nullopt;
  if (worst.excess_s > config.link_contrast * network.paths[1].excess_s) return network;
  const auto ends = RankedEnds(network.paths);
  if (ends.size() < 2 || ends[0].first <= config.link_contrast * ends[1].first) {
    return std::nullopt;
  }
  network.end = ends[0].second;
  return network;
}

void NameSlowNetwork(const JobView& view, const SlowNetwork& network, Verdict& verdict) {
  const PathTime& worst = network.paths.front();
  verdict.cause = Cause::kLinkSlow;
  std::string where;
  if (network.end != kNoRank) {
    verdict.entity = {EntityType::kNic, {network.end}, NodeOf(view, network.end), "", "", ""};
    where = absl::StrCat("what goes to and from rank ", network.end.value, " is slow");
  } else {
    verdict.entity = {EntityType::kLink,
                      {worst.src, worst.dst},
                      "",
                      "",
                      absl::StrCat("rank ", worst.src.value),
                      absl::StrCat("rank ", worst.dst.value)};
    where = absl::StrCat("the path from ", Name(worst), " is slow");
  }
  absl::StrAppend(&verdict.sentence, " Of its paths, ", where, ": ",
                  absl::StrFormat("%s a megabyte instead of %s.", Duration(worst.since_s_per_mb),
                                  Duration(worst.before_s_per_mb)));
  AddPaths(network, verdict);
  verdict.action_text = absl::StrCat("Look at the network device and link of rank ",
                                     network.end != kNoRank ? network.end.value : worst.src.value,
                                     ": speed, errors, drops, limits.");
  verdict.action_command = "ip -s link; ethtool -S DEVICE; tc -s qdisc; ss -ti";
}

}  // namespace fathom::diagnosis
