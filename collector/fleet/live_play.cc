#include "collector/fleet/live_play.h"

#include <poll.h>

#include <algorithm>
#include <map>
#include <utility>

#include "collector/fleet/agent_messages.h"
#include "collector/simulate/play/layout.h"

namespace fathom::simulate {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::chrono::seconds kHealthEvery{1};
constexpr std::chrono::seconds kPatience{60};  // for a collector to take what was sent
constexpr milliseconds kNap{200};              // between looks at what is not a descriptor

steady_clock::duration Span(double seconds) {
  return std::chrono::duration_cast<steady_clock::duration>(std::chrono::duration<double>(seconds));
}

double Between(steady_clock::time_point from, steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

Nanos ShiftToToday(const Rehearsal& rehearsal) {
  const auto wall = std::chrono::system_clock::now().time_since_epoch();
  const std::int64_t today = std::chrono::duration_cast<std::chrono::nanoseconds>(wall).count();
  return rehearsal.iterations.empty() ? Nanos()
                                      : Nanos(today - rehearsal.iterations.front().begin.ns);
}

std::size_t OnsetOf(const Scenario& scenario) {
  std::int64_t onset = scenario.iterations;
  for (const Fault& fault : scenario.faults) onset = std::min(onset, fault.from);
  return static_cast<std::size_t>(std::max<std::int64_t>(0, onset));
}

}  // namespace

LivePlay::LivePlay(const Scenario& scenario, const Rehearsal& rehearsal, RowLog& rows, Fleet& fleet,
                   VerdictWatch& verdicts, PlaySettings settings)
    : scenario_(scenario),
      rehearsal_(rehearsal),
      rows_(rows),
      fleet_(fleet),
      verdicts_(verdicts),
      settings_(std::move(settings)),
      nodes_(Layout(scenario).nodes()),
      wall_shift_(ShiftToToday(rehearsal)),
      busy_(rehearsal.ranks.size()),
      now_(rehearsal.ranks) {
  for (diagnosis::RankFacts& facts : now_) {
    facts.open_ops.clear();
    facts.groups.clear();
    facts.silent_for = facts.cpu_while_silent = Nanos();
    facts.state = diagnosis::ProcessState::kRunning;
  }
}

bool LivePlay::Over() const {
  return !fleet_.trouble().ok() || (settings_.stopped && settings_.stopped());
}

void LivePlay::Serve() {
  const std::vector<Fleet::Request> requests = fleet_.TakeRequests();
  std::vector<v1::RowsRequest> wanted;
  for (const Fleet::Request& request : requests) wanted.push_back(request.rows);
  rows_.Prepare(wanted);
  for (const Fleet::Request& request : requests) {
    const Time now = steady_clock::now();
    if (rounds_ == 0 || now - last_asked_ > kRoundGap) {
      ++rounds_;
      round_began_ = now;
    }
    last_asked_ = now;
    v1::AgentMessage message;
    *message.mutable_rows() = rows_.Answer(request.rows);
    fleet_.Send(request.node, std::move(message));
  }
}

void LivePlay::NoteVerdict() {
  if (outcome_.verdict_iteration >= 0 || verdicts_.convictions().empty() || sent_.empty()) return;
  const Time told = verdicts_.convictions().front().at;
  outcome_.verdict_iteration = static_cast<std::int64_t>(sent_.size()) - 1;
  outcome_.localising_s = Between(sent_.back(), told);
  if (const std::size_t onset = OnsetOf(scenario_); onset < sent_.size()) {
    outcome_.since_fault_s = Between(sent_[onset], told);
  }
  if (rounds_ > 0 && round_began_ >= sent_.back()) {
    outcome_.fetching_s = Between(round_began_, told);
  }
  outcome_.until_verdict = fleet_.traffic();
  outcome_.rounds = rounds_;
}

void LivePlay::Wait(Time until, const std::function<bool()>& done) {
  while (!Over()) {
    Serve();
    NoteVerdict();
    const Time now = steady_clock::now();
    if (now >= health_due_) TellHealth();
    if (done() || now >= until) return;
    const auto left = std::chrono::ceil<milliseconds>(std::min(until, health_due_) - now);
    pollfd wanted[] = {{fleet_.wake_fd(), POLLIN, 0}, {verdicts_.fd(), POLLIN, 0}};
    poll(wanted, 2, static_cast<int>(std::clamp(left, milliseconds(1), kNap).count()));
    fleet_.ClearWake();
    verdicts_.Read();
  }
}

bool LivePlay::AwaitQuiet() {
  Wait(steady_clock::now() + kPatience, [this] { return fleet_.Quiet(); });
  return fleet_.Quiet();
}

void LivePlay::Introduce() {
  const auto wall = std::chrono::system_clock::now().time_since_epoch();
  const WallNs begun(std::chrono::duration_cast<std::chrono::nanoseconds>(wall).count());
  const auto world = static_cast<std::uint32_t>(now_.size());
  const std::uint32_t gpus = scenario_.cluster.gpus_per_node;
  for (std::uint32_t rank = 0; rank < world; ++rank) {
    v1::AgentMessage message;
    *message.mutable_rank() = ToRankInfo(settings_.job, now_[rank], rank % gpus, world, begun);
    fleet_.Send(rank / gpus, std::move(message));
  }
  AwaitQuiet();  // a group is taken only from a rank that is known
  for (const diagnosis::Group& group : rehearsal_.groups) {
    for (std::size_t place = 0; place < group.members.size(); ++place) {
      v1::AgentMessage message;
      *message.mutable_group() = ToGroupInfo(settings_.job, group, place);
      fleet_.Send(group.members[place].value / gpus, std::move(message));
    }
  }
  AwaitQuiet();
}

void LivePlay::TellHealth() {
  const std::uint32_t gpus = scenario_.cluster.gpus_per_node;
  for (std::uint32_t node = 0; node < nodes_; ++node) {
    v1::AgentMessage message;
    for (std::uint32_t r = node * gpus; r < std::min<std::size_t>(now_.size(), (node + 1) * gpus);
         ++r) {
      *message.mutable_health()->add_ranks() = ToHealth(settings_.job, now_[r], busy_[r]);
    }
    fleet_.Send(node, std::move(message));
  }
  health_due_ = steady_clock::now() + kHealthEvery * std::max(1u, nodes_ / kNodesASecond);
}

void LivePlay::TellIterations(std::size_t first, std::size_t end) {
  std::vector<v1::AgentMessage> messages;
  std::map<RankId, std::size_t> of_rank;  // its newest message
  for (std::size_t index = first; index < end; ++index) {
    const diagnosis::IterationSummary& iteration = rehearsal_.iterations[index];
    for (const diagnosis::RankIteration& rank : iteration.ranks) {
      busy_[rank.rank.value] += rank.cpu;
      now_[rank.rank.value].typical_iteration = rank.duration;
      now_[rank.rank.value].iterations_seen = iteration.index.value + 1;
      const auto [at, is_new] = of_rank.try_emplace(rank.rank, messages.size());
      if (!is_new && AddIteration(rank, *messages[at->second].mutable_summary())) continue;
      at->second = messages.size();
      *messages.emplace_back().mutable_summary() =
          ToBatch(settings_.job, iteration, rank, wall_shift_);
    }
  }
  // A real agent makes those of its node only, while the others make theirs.
  sent_.resize(end, steady_clock::now());
  for (v1::AgentMessage& message : messages) {
    const std::uint32_t node = message.summary().rank() / scenario_.cluster.gpus_per_node;
    fleet_.Send(node, std::move(message));
  }
  if (AwaitQuiet()) outcome_.iterations += static_cast<std::int64_t>(end - first);
}

void LivePlay::Stick() {
  TellHealth();
  AwaitQuiet();
  now_ = rehearsal_.ranks;
  sent_.push_back(steady_clock::now());
  TellHealth();
}

void LivePlay::SayGoodbye() {
  const std::uint32_t gpus = scenario_.cluster.gpus_per_node;
  for (const diagnosis::RankFacts& facts : now_) {
    v1::AgentMessage message;
    v1::RankGone& gone = *message.mutable_gone();
    gone.set_job(settings_.job);
    gone.set_rank(facts.rank.value);
    gone.set_pid(facts.pid);
    gone.set_how("exited");
    gone.set_orderly(true);
    gone.set_wait_status(1);
    fleet_.Send(facts.rank.value / gpus, std::move(message));
  }
  // Not Wait(): an interruption ends all waiting but this.
  const Time until = steady_clock::now() + kHealthEvery;
  while (!fleet_.Quiet() && steady_clock::now() < until && fleet_.trouble().ok()) {
    poll(nullptr, 0, 1);
  }
}

absl::StatusOr<PlayOutcome> LivePlay::Run() {
  Introduce();
  const std::size_t onset = OnsetOf(scenario_);
  const auto told = [this] { return outcome_.verdict_iteration >= 0; };
  const auto enough = [&] { return settings_.until_verdict && told(); };
  const std::size_t together = std::clamp<std::size_t>(now_.size() / kRanksOfOne, 1, kMostTogether);
  const std::size_t all = rehearsal_.iterations.size();
  for (std::size_t i = 0; i < all && !Over() && !enough();) {
    const std::size_t end = i < onset ? std::min({i + together, onset, all}) : i + 1;
    TellIterations(i, end);
    if (i >= onset) Wait(sent_.back() + Span(settings_.pace_s), enough);
    i = end;
  }
  if (rehearsal_.outcome.hung && !Over()) Stick();
  if (!enough()) Wait(steady_clock::now() + Span(settings_.linger_s), told);
  outcome_.interrupted = settings_.stopped && settings_.stopped();
  outcome_.convictions = verdicts_.convictions();
  if (outcome_.verdict_iteration < 0) {
    outcome_.until_verdict = fleet_.traffic();
    outcome_.rounds = rounds_;
  }
  if (const absl::Status trouble = fleet_.trouble(); !trouble.ok()) return trouble;
  SayGoodbye();
  return outcome_;
}

}  // namespace fathom::simulate
