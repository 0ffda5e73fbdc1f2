#include "diagnosis/slowness/rules/link_slow.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "diagnosis/hardware/tell/path_flows.h"
#include "diagnosis/model/lookup.h"
#include "diagnosis/stats/robust.h"
#include "diagnosis/wording/phrase.h"

namespace fathom::diagnosis {
namespace {

constexpr double kBytesPerMegabyte = 1e6;
constexpr std::size_t kPathsShown = 3;
constexpr double kSureOf = 4;          // × link_megabytes: what names nobody then will name nobody
constexpr Nanos kSoon{8'000'000'000};  // three tellings of a source, and their way
constexpr Nanos kFound{12'000'000'000};  // agents look for new connections every 10 s

double MegabytesOf(std::uint64_t bytes) { return static_cast<double>(bytes) / kBytesPerMegabyte; }

bool AnyFlows(const JobView& view) {
  return std::any_of(view.ranks.begin(), view.ranks.end(),
                     [](const RankFacts& facts) { return !facts.flows.empty(); });
}

// Of the flows between members that carried enough since.
std::vector<PathTime> PathsOf(const JobView& view, const std::vector<RankId>& members,
                              const DiagnosisConfig& config) {
  std::vector<PathTime> paths;
  if (!AnyFlows(view)) return paths;
  const std::set<RankId> within(members.begin(), members.end());
  for (const RankFacts& facts : view.ranks) {
    if (!within.contains(facts.rank)) continue;
    for (const PathFlow& flow : facts.flows) {
      const double before = MegabytesOf(flow.bytes_before), since = MegabytesOf(flow.bytes_since);
      if (!within.contains(flow.peer) || since < config.link_megabytes) continue;
      PathTime path{facts.rank, flow.peer, 0, flow.busy_since.Seconds() / since, 0, since};
      path.within_host = flow.within_host;
      if (before >= config.link_megabytes) {
        path.before_s_per_mb = flow.busy_before.Seconds() / before;
      }
      paths.push_back(path);
    }
  }
  return paths;
}

// Paths within a node and between nodes are not alike.
bool AllAlike(const JobView& view, const std::vector<PathTime>& paths) {
  std::size_t within = 0;
  for (const PathTime& path : paths) within += NodeOf(view, path.src) == NodeOf(view, path.dst);
  return within == 0 || within == paths.size();
}

bool AreEnough(const std::vector<PathTime>& paths) { return paths.size() >= kFewestForMedian; }

// False where too few can be compared.
bool TakeBefore(SlowNetwork& network) {
  std::vector<PathTime> dated = network.paths;
  std::erase_if(dated, [](const PathTime& path) { return path.before_s_per_mb <= 0; });
  if (!AreEnough(dated)) return false;
  for (PathTime& path : dated) path.usual_s_per_mb = path.before_s_per_mb;
  network.paths = std::move(dated);
  return true;
}

// What stays within a host is as fast as its cores let sender and receiver be: that one path is
// slower than another says nothing of the network.
bool TakeFastest(const JobView& view, SlowNetwork& network) {
  std::erase_if(network.paths, [](const PathTime& path) { return path.within_host; });
  if (!AreEnough(network.paths) || !AllAlike(view, network.paths)) return false;
  network.young = true;
  double fastest = network.paths.front().since_s_per_mb;
  for (const PathTime& path : network.paths) fastest = std::min(fastest, path.since_s_per_mb);
  for (PathTime& path : network.paths) path.usual_s_per_mb = fastest;
  return fastest > 0;
}

void ToExcess(std::vector<PathTime>& paths) {
  for (PathTime& path : paths) {
    path.excess_s = path.since_mb * (path.since_s_per_mb - path.usual_s_per_mb);
  }
  std::sort(paths.begin(), paths.end(),
            [](const PathTime& a, const PathTime& b) { return a.excess_s > b.excess_s; });
  const double common = paths.back().excess_s;
  for (PathTime& path : paths) path.excess_s -= common;
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
    const char* against = network.young ? ", and of the fastest path." : ", and before.";
    list.push_back({absl::StrCat("Time per megabyte from ", Name(path), against),
                    path.since_s_per_mb, "s", path.usual_s_per_mb, "link_slow"});
  }
}

// Of a job so young that its agents may not have found its connections.
bool AwaitsPaths(const JobView& view) {
  const bool whole = view.iterations_seen <= static_cast<std::int64_t>(view.window.size());
  if (!whole || view.window.back().begin - view.window.front().begin > kFound) return false;
  return std::any_of(view.signals.begin(), view.signals.end(),
                     [](const SignalState& signal) { return signal.name == kPathsAwaited; });
}

// Requires: each path has its usual time. `factor`: of it, that the slowest takes.
std::optional<SlowNetwork> Compared(SlowNetwork network, double factor,
                                    const DiagnosisConfig& config) {
  ToExcess(network.paths);
  const PathTime& worst = network.paths.front();
  if (worst.since_s_per_mb < factor * worst.usual_s_per_mb) return std::nullopt;
  if (worst.excess_s > config.link_contrast() * network.paths[1].excess_s) return network;
  const auto ends = RankedEnds(network.paths);
  if (ends.size() < 2 || ends[0].first <= config.link_contrast() * ends[1].first) {
    return std::nullopt;
  }
  network.end = ends[0].second;
  return network;
}

}  // namespace

std::optional<SlowNetwork> FindSlowNetwork(const JobView& view, const std::vector<RankId>& members,
                                           const DiagnosisConfig& config) {
  SlowNetwork network;
  network.paths = PathsOf(view, members, config);
  if (!TakeBefore(network) && !TakeFastest(view, network)) return std::nullopt;
  return Compared(std::move(network), config.link_factor, config);
}

std::optional<SlowNetwork> FindOddNetwork(const JobView& view, const std::vector<RankId>& members,
                                          const DiagnosisConfig& config) {
  SlowNetwork network;
  network.paths = PathsOf(view, members, config);
  if (!TakeFastest(view, network)) return std::nullopt;
  return Compared(std::move(network), config.link_factor * config.link_factor, config);
}

bool NetworkMayTellSoon(const JobView& view, const std::vector<RankId>& members,
                        const Suspicion& suspicion, const DiagnosisConfig& config) {
  if (view.window.empty() || view.window.back().begin - suspicion.onset_time > kSoon) return false;
  if (AwaitsPaths(view)) return true;
  const std::set<RankId> within(members.begin(), members.end());
  bool carried = false;
  for (const RankFacts& facts : view.ranks) {
    for (const PathFlow& flow : facts.flows) {
      carried |= within.contains(facts.rank) && within.contains(flow.peer);
    }
  }
  DiagnosisConfig sure = config;
  sure.link_megabytes *= kSureOf;
  return carried && !AreEnough(PathsOf(view, members, sure));
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
  absl::StrAppend(
      &verdict.sentence, " Of its paths, ", where, ": ",
      absl::StrFormat("%s a megabyte instead of %s%s.", Duration(worst.since_s_per_mb),
                      Duration(worst.usual_s_per_mb), network.young ? " as on the fastest" : ""));
  AddPaths(network, verdict);
  verdict.action_text = absl::StrCat("Look at the network device and link of rank ",
                                     network.end != kNoRank ? network.end.value : worst.src.value,
                                     ": speed, errors, drops, limits.");
  verdict.action_command = "ip -s link; ethtool -S DEVICE; tc -s qdisc; ss -ti";
}

}  // namespace fathom::diagnosis
