#include "collector/agents/probe_requests.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "collector/probe/probe_run.h"
#include "proto/types/probe_time.h"

namespace fathom::collector {
namespace {

constexpr double kTravelSeconds = 30;
constexpr std::size_t kMostPast = 20;
constexpr std::size_t kMostPeers = 64;

v1::ProbeOrder OrderOf(std::uint64_t id, const ProbeWish& wish) {
  v1::ProbeOrder order;
  order.set_request_id(id);
  order.set_full(wish.full);
  order.set_probes(wish.probes);
  order.set_seconds(wish.seconds);
  order.set_memory_mib(wish.memory_mib);
  order.set_beside_training(wish.beside_training);
  return order;
}

// The agent's own patience, and the way there and back.
Nanos PatienceFor(const ProbeWish& wish) {
  const double patience_s = ProbeProgramSeconds(ProbeSeconds(wish.full, wish.seconds));
  return Nanos::FromSeconds(patience_s + kTravelSeconds);
}

absl::Status Check(const ProbeWish& wish) {
  if (wish.nodes.empty()) return absl::InvalidArgumentError("no node is named");
  if (wish.nodes.size() > ProbeRequests::kMostNodes) {
    return absl::InvalidArgumentError(
        absl::StrCat("at most ", ProbeRequests::kMostNodes, " nodes at once"));
  }
  const bool sound = std::isfinite(wish.seconds) && wish.seconds >= 0 &&
                     wish.seconds <= ProbeRequests::kMostSeconds;
  if (!sound) return absl::InvalidArgumentError("seconds is a number from 0 to 3600");
  const bool plain = std::all_of(wish.probes.begin(), wish.probes.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == ',';
  });
  if (!plain || wish.probes.size() > 400) {
    return absl::InvalidArgumentError("probes is a list like exact,disk");
  }
  return absl::OkStatus();
}

v1::NodeProbe Refused(const std::string& node, const std::string& why, WallNs now) {
  v1::NodeProbe run;
  run.set_node(node);
  run.set_began_wall_ns(now.ns);
  run.set_refused(why);
  return run;
}

// What the program complained about comes through the same pipe.
std::string LinesOfJson(const std::string& printed) {
  std::string lines;
  for (const absl::string_view line : absl::StrSplit(printed, '\n')) {
    if (absl::StartsWith(line, "{")) absl::StrAppend(&lines, line, "\n");
  }
  return lines;
}

v1::NodeProbe RunOf(std::string_view node, const v1::ProbeAnswer& answer) {
  v1::NodeProbe run;
  const absl::Status read = ReadProbeLines(LinesOfJson(answer.lines()), run);
  run.set_node(std::string(node));
  run.set_began_wall_ns(answer.began_wall_ns());
  run.set_refused(answer.refused());
  if (!answer.refused().empty()) return run;
  if (!read.ok()) {
    run.set_refused(absl::StrCat("what it printed cannot be read: ", read.message()));
  } else if (run.results().empty()) {
    run.set_refused("it printed no result");
  }
  return run;
}

// The newest run of each node that was measured, but of those of the order.
std::vector<v1::NodeProbe> PeersBeside(const ProbeRequest& request,
                                       std::vector<v1::NodeProbe> kept) {
  std::set<std::string> seen;
  std::vector<v1::NodeProbe> peers;
  for (v1::NodeProbe& run : kept) {
    if (request.runs.contains(run.node()) || !seen.insert(run.node()).second) continue;
    if (!FoundSomething(run) && peers.size() < kMostPeers) peers.push_back(std::move(run));
  }
  return peers;
}

}  // namespace

bool ProbeRequests::Send(const std::string& node, const v1::ProbeOrder& order) const {
  const auto channel = registry_.ChannelOf(node);
  return channel != nullptr && channel->SendProbe(order);
}

std::size_t ProbeRequests::UnderWay() const {
  return static_cast<std::size_t>(
      std::count_if(requests_.begin(), requests_.end(),
                    [](const auto& entry) { return !entry.second.request.ended.known(); }));
}

absl::StatusOr<std::uint64_t> ProbeRequests::Ask(const ProbeWish& wish) {
  if (absl::Status bad = Check(wish); !bad.ok()) return bad;
  ProbeRequest over;
  std::uint64_t id = 0;
  {
    const service::MutexLock lock(mutex_);
    if (UnderWay() >= kMostUnderWay) {
      return absl::ResourceExhaustedError(
          absl::StrCat(kMostUnderWay, " orders are under way; wait for one of them"));
    }
    // Wall time first: after a restart no agent takes an old answer for a new order's.
    id = last_id_ =
        std::max(last_id_ + 1, static_cast<std::uint64_t>(clock_.Wall().ns / 1'000'000));
    Entry& entry = requests_[id];
    entry.request.id = id;
    entry.request.wish = wish;
    entry.request.asked = clock_.Wall();
    entry.deadline = clock_.Mono() + PatienceFor(wish);
    const v1::ProbeOrder order = OrderOf(id, wish);
    for (const std::string& node : wish.nodes) {
      if (Send(node, order)) {
        entry.request.waits.insert(node);
      } else {
        entry.request.runs[node] = Refused(node, "its agent is out of reach", clock_.Wall());
      }
    }
    ForgetOld();
    if (!entry.request.waits.empty()) return id;
    over = entry.request;
  }
  Conclude(std::move(over));
  return id;
}

absl::Status ProbeRequests::Stop(std::uint64_t id) {
  const service::MutexLock lock(mutex_);
  const auto at = requests_.find(id);
  if (at == requests_.end()) return absl::NotFoundError(absl::StrCat("no order ", id));
  v1::ProbeOrder order;
  order.set_request_id(id);
  order.set_stop(true);
  for (const std::string& node : at->second.request.waits) Send(node, order);
  return absl::OkStatus();
}

Rejection ProbeRequests::OnAnswer(std::string_view node, const v1::ProbeAnswer& answer) {
  v1::NodeProbe run = RunOf(node, answer);
  ProbeRequest over;
  {
    const service::MutexLock lock(mutex_);
    const auto at = requests_.find(answer.request_id());
    if (at == requests_.end()) return RejectReason::kUnasked;
    ProbeRequest& request = at->second.request;
    const std::string name(node);
    if (request.waits.erase(name) == 0) return RejectReason::kUnasked;
    request.runs[name] = std::move(run);
    if (!request.waits.empty()) return std::nullopt;
    over = request;
  }
  Conclude(std::move(over));
  return std::nullopt;
}

void ProbeRequests::Expire() {
  std::vector<ProbeRequest> over;
  {
    const service::MutexLock lock(mutex_);
    for (auto& [id, entry] : requests_) {
      ProbeRequest& request = entry.request;
      if (request.waits.empty() || clock_.Mono() < entry.deadline) continue;
      for (const std::string& node : std::exchange(request.waits, {})) {
        request.runs[node] = Refused(node, "its agent did not answer in time", clock_.Wall());
      }
      over.push_back(request);
    }
  }
  for (ProbeRequest& request : over) Conclude(std::move(request));
}

void ProbeRequests::Conclude(ProbeRequest request) {
  const std::vector<v1::NodeProbe> beside = PeersBeside(request, history_(""));
  const std::map<std::string, v1::NodeProbe> unjudged = request.runs;
  for (auto& [node, run] : request.runs) {
    if (!run.refused().empty()) continue;
    std::vector<v1::NodeProbe> peers = beside;
    for (const auto& [other, others] : unjudged) {
      if (other != node && others.refused().empty()) peers.push_back(others);
    }
    std::vector<v1::NodeProbe> past = history_(node);
    if (past.size() > kMostPast) past.resize(kMostPast);
    JudgeRun(peers, past, {}, run);
  }
  request.ended = clock_.Wall();
  {
    const service::MutexLock lock(mutex_);
    if (const auto at = requests_.find(request.id); at != requests_.end()) {
      at->second.request = request;
    }
  }
  done_(request);
}

void ProbeRequests::ForgetOld() {
  for (auto at = requests_.begin(); requests_.size() > kMostKept && at != requests_.end();) {
    at = at->second.request.ended.known() ? requests_.erase(at) : std::next(at);
  }
}

std::vector<ProbeRequest> ProbeRequests::All() const {
  const service::MutexLock lock(mutex_);
  std::vector<ProbeRequest> all;
  for (auto at = requests_.rbegin(); at != requests_.rend(); ++at)
    all.push_back(at->second.request);
  return all;
}

absl::StatusOr<ProbeRequest> ProbeRequests::Find(std::uint64_t id) const {
  const service::MutexLock lock(mutex_);
  const auto at = requests_.find(id);
  if (at == requests_.end()) return absl::NotFoundError(absl::StrCat("no order ", id));
  return at->second.request;
}

}  // namespace fathom::collector
