// The reading half of JobState: the view for diagnosis, and figures for lists and metrics.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "collector/job/orders/trace_sources.h"
#include "collector/job/state/job_state.h"
#include "diagnosis/peers/beside_time.h"

namespace fathom::collector {
namespace {

// Until then an episode that goes on may not be seen to, where its iterations were not recalled.
constexpr std::size_t kFirstIterations = 10;
constexpr Nanos kHealthFresh{10'000'000'000};  // agents send every second

using Level = diagnosis::SignalState::Level;

Level LevelOf(std::size_t have, std::size_t of) {
  if (have == 0) return Level::kOff;
  return have >= of ? Level::kOn : Level::kPartly;
}

// Empty where nobody switched that source off.
std::string SwitchedOffText(const RankTable& ranks, std::uint32_t bit) {
  const auto off = std::count_if(
      ranks.ranks().begin(), ranks.ranks().end(),
      [bit](const auto& entry) { return (entry.second.health.sources_off & bit) != 0; });
  if (off == 0) return "";
  return absl::StrCat(" (switched off by `fathom trace` on ", off, " ranks)");
}

// Of how many ranks NCCL's profiler plugin alone tells: no call of theirs is hooked.
std::size_t Unhooked(const RankTable& ranks) {
  return static_cast<std::size_t>(
      std::count_if(ranks.ranks().begin(), ranks.ranks().end(), [](const auto& entry) {
        return (entry.second.health.sources_seen & (kNccl | kNcclPlugin)) == kNcclPlugin;
      }));
}

void Tell(const RankTrouble& trouble, diagnosis::RankFacts& facts) {
  facts.open_mark = trouble.open_mark;
  facts.in_mark_for = trouble.open_mark_age;
  if (trouble.stack != nullptr) facts.stack = *trouble.stack;
  facts.open_ops = trouble.open_ops;
  facts.groups = trouble.groups;
  facts.newest_group = trouble.newest_group;
  facts.transfers = trouble.transfers;
}

std::span<const RankSocket> SocketsOf(const RankState& state) {
  if (state.health.trouble == nullptr) return {};
  return state.health.trouble->sockets;
}

}  // namespace

diagnosis::RankFacts JobState::FactsOf(RankId rank, const RankState& state, bool connected) const {
  const RankHealthState& health = state.health;
  diagnosis::RankFacts facts;
  facts.rank = rank;
  facts.node = ranks_.NodeOf(state);
  if (state.gpu != nullptr) facts.gpu = *state.gpu;
  facts.pid = state.process.pid;
  facts.state = health.state;
  facts.exited_orderly = state.exited_orderly;
  facts.wait_channel = health.wait_channel;
  const MonoNs now = clock_.Mono();
  facts.silent_for = health.last_event_age;
  if (state.gone) facts.silent_for = health.last_event_age + (now - health.received_mono);
  if (state.summary_mono > health.received_mono) {
    facts.silent_for = std::min(facts.silent_for, now - state.summary_mono);
  }
  facts.cpu_while_silent =
      Nanos(std::max<std::int64_t>(0, health.cpu_ns - health.cpu_at_silence_ns));
  facts.starved_while_silent =
      Nanos(std::max<std::int64_t>(0, health.runqueue_ns - health.runqueue_at_silence_ns));
  facts.io_while_silent = health.io_bytes - std::min(health.io_bytes, health.io_at_silence);
  facts.faults_while_silent = health.faults - std::min(health.faults, health.faults_at_silence);
  facts.samples = health.samples;
  facts.oom_kills = health.oom_kills;
  facts.frozen = health.frozen;
  facts.gone_at = state.gone_at;
  facts.wait_status = state.wait_status;
  facts.communication_failed = state.communication_failed;
  facts.typical_iteration = health.typical_iteration;
  facts.iterations_seen = health.iterations_seen;
  facts.recent_pause = Nanos(std::int64_t{health.recent_pause_ms} * 1'000'000);
  facts.longest_pause = Nanos(std::int64_t{health.longest_pause_ms} * 1'000'000);
  facts.agent_reachable = InReach(state, connected);
  if (health.trouble != nullptr) Tell(*health.trouble, facts);
  return facts;
}

bool JobState::InReach(const RankState& state, bool connected) const {
  const bool fresh = !state.health.known || HeardAgo(state) < kHealthFresh;
  return connected && (fresh || state.gone);
}

// Matches the connections of ranks by both ends: the one's local address is the other's peer.
void JobState::JoinSockets(diagnosis::JobView& view) const {
  std::map<std::pair<std::string_view, std::string_view>, RankId> ends;
  for (const auto& [rank, state] : ranks_.ranks()) {
    for (const RankSocket& socket : SocketsOf(state)) {
      ends.emplace(std::pair(std::string_view(socket.local), std::string_view(socket.peer)), rank);
    }
  }
  if (ends.empty()) return;
  for (diagnosis::RankFacts& facts : view.ranks) {
    for (const RankSocket& socket : SocketsOf(ranks_.ranks().at(facts.rank))) {
      const auto other = ends.find({socket.peer, socket.local});
      if (other == ends.end() || other->second == facts.rank) continue;
      facts.paths.push_back(socket.state);
      facts.paths.back().peer = other->second;
    }
  }
}

std::vector<diagnosis::SignalState> JobState::Signals() const {
  const std::size_t world = ranks_.world_size();
  std::size_t reporting = 0, health = 0, python = 0, gloo = 0, nccl = 0;
  std::size_t timed = 0, launches = 0, windows = 0;
  for (const auto& [rank, state] : ranks_.ranks()) {
    reporting += state.summary_mono.known();
    health += state.health.known;
    python += (state.process.sources & ~state.health.sources_off & kPython) != 0;
    gloo += (state.process.sources & kGloo) != 0;
    nccl += (state.process.sources & kNccl) != 0;
    const std::uint32_t seen = state.health.sources_seen & ~state.health.sources_off;
    timed += (seen & kNcclPlugin) != 0;
    launches += (seen & kCuda) != 0;
    windows += (seen & kCupti) != 0;
  }
  const std::size_t named = groups_.with_members();
  std::vector<diagnosis::SignalState> signals = {
      {"ranks", LevelOf(ranks_.ranks().size(), world),
       "whatever happens on ranks that are not seen"},
      {"summaries", LevelOf(reporting, world), "iterations, and whether the job is slow"},
      {"process_health", LevelOf(health, world), "stopped, dead and starved processes"},
      {"communicators", LevelOf(named, std::max<std::size_t>(groups_.size(), 1)),
       "who waits for whom"},
      {"communication_ops", LevelOf(std::max(gloo, nccl), world), "who came late to an op"},
      {"python_marks", LevelOf(python, world), "garbage collection and data loading as causes"},
      {"gpu_times", LevelOf(timed, world), "when a GPU came to an op: slow GPUs, slow transfers"},
      {"gpu_launches", LevelOf(launches, world), "hosts that launch too slowly for their GPU"},
      {"gpu_kernels", LevelOf(windows, world),
       "which kernel takes the time; `fathom profile` opens a window"},
  };
  const std::pair<const char*, std::uint32_t> kMaySwitch[] = {{"python_marks", kPython},
                                                              {"gpu_times", kNcclPlugin},
                                                              {"gpu_launches", kCuda},
                                                              {"gpu_kernels", kCupti}};
  const std::size_t unhooked = Unhooked(ranks_);
  for (diagnosis::SignalState& signal : signals) {
    if (signal.name == "communication_ops" && unhooked > 0) {
      if (signal.level == Level::kOn) signal.level = Level::kPartly;
      absl::StrAppend(&signal.hides, ": NCCL is linked statically on ", unhooked,
                      " ranks, where its profiler plugin alone tells of ops");
    }
    for (const auto& [name, bit] : kMaySwitch) {
      if (signal.name == name) signal.hides += SwitchedOffText(ranks_, bit);
    }
  }
  return signals;
}

// The window is most of it, and is unfolded once the lock is let go of.
diagnosis::JobView JobState::View(const NodeConnected& connected) const {
  service::MutexLock lock(mutex_);
  diagnosis::JobView view;
  view.name = name_;
  view.world_size = ranks_.world_size();
  view.nodes = static_cast<std::uint32_t>(ranks_.nodes().size());
  view.now = clock_.Wall();
  view.groups = groups_.View();
  std::vector<bool> reachable;
  for (const auto& node : ranks_.nodes()) reachable.push_back(connected(node));
  view.ranks.reserve(ranks_.ranks().size());
  for (const auto& [rank, state] : ranks_.ranks()) {
    view.ranks.push_back(FactsOf(rank, state, reachable[state.process.node]));
    const auto& h = state.health;
    view.records_dropped += h.records_lost + h.records_torn + h.records_invalid;
    if (h.trouble == nullptr) continue;
    for (const auto& [reason, count] : h.trouble->tracer_drops) view.records_dropped += count;
  }
  JoinSockets(view);
  view.signals = Signals();
  view.device_windows = detail_.View();
  view.episode = suspicion_.episode;
  view.past = suspicion_.past;
  view.spikes = suspicion_.spikes;
  std::optional<SummaryWindow::Snapshot> window(window_.Share());
  lock.Unlock();
  view.window = window->View();
  window.reset();
  for (diagnosis::IterationSummary& each : view.window) {
    diagnosis::SettleBlocked(view.groups, each);
  }
  if (!view.window.empty()) view.iterations_seen = view.window.back().index.value + 1;
  lock.Lock();
  // Agents that were without a collector bring more iterations than a first look has otherwise.
  const bool first_look = suspicion_.past.empty();
  if (first_look || view.window.size() < kFirstIterations) GoOnFromRecalled(view);
  return view;
}

void JobState::GoOnFromRecalled(diagnosis::JobView& view) const {
  if (view.window.empty() || view.episode.onset.value >= 0) return;
  if (!recalled_ || !of_this_life_) return;
  auto learnt = Renumbered(*recalled_, view.window);
  if (!learnt) return;
  view.episode = std::move(learnt->episode);
  if (view.past.empty()) view.past = std::move(learnt->past);
}

std::optional<Learnt> JobState::learnt() const {
  const service::MutexLock lock(mutex_);
  if (ended_ || suspicion_.past.empty()) return std::nullopt;
  return Learnt{clock_.Wall(), ranks_.Life(), suspicion_.episode, suspicion_.past,
                window_.Numbering()};
}

Iteration JobState::onset() const {
  const service::MutexLock lock(mutex_);
  return suspicion_.episode.onset;
}

JobState::Progress JobState::progress() const {
  const service::MutexLock lock(mutex_);
  return {.newest = window_.newest(),
          .whole = window_.whole(),
          .partial_since = partial_since_,
          .took = window_.longest_whole(),
          .usual = suspicion_.expected,
          .noise = suspicion_.noise,
          .whole_since = whole_since_,
          .rising = window_.rising(),
          .rank_lost = rank_lost_};
}

std::size_t JobState::shown_rows() const {
  const service::MutexLock lock(mutex_);
  return shown_.rows();
}

JobFigures JobState::Figures() const {
  const service::MutexLock lock(mutex_);
  JobFigures figures;
  figures.name = name_;
  figures.world_size = ranks_.world_size();
  figures.ranks = static_cast<std::uint32_t>(ranks_.ranks().size());
  figures.nodes = static_cast<std::uint32_t>(ranks_.nodes().size());
  figures.incarnation = ranks_.incarnation();
  figures.restart_count = ranks_.restart_count();
  figures.ended = ended_;
  figures.iteration = window_.newest();
  figures.recent = window_.RecentDuration(kRecentIterations);
  figures.baseline = suspicion_.expected;
  figures.slow = suspicion_.slow;
  figures.slow_since = suspicion_.onset.value;
  figures.stalled = suspicion_.stalled;
  figures.authenticated = !heard_from_anybody_;
  figures.recalled = of_this_life_;
  if (suspicion_.expected.count > 0 && suspicion_.measured.count > 0) {
    figures.slowdown = std::max(1.0, suspicion_.measured.Seconds() / suspicion_.expected.Seconds());
  }
  figures.started = WallNs(ranks_.started_wall_ns());
  figures.last_seen = last_seen_;
  for (const auto& [rank, state] : ranks_.ranks()) {
    if (state.gone || state.health.sources_off == 0) continue;
    for (const TraceSource& source : kTraceSources) {
      if ((state.health.sources_off & source.bit) != 0) ++figures.switched_off[source.name];
    }
  }
  const Nanos unheard = clock_.Mono() - last_seen_mono_;
  if (unheard >= kHealthFresh) figures.unheard = unheard;
  return figures;
}

diagnosis::Suspicion JobState::suspicion() const {
  const service::MutexLock lock(mutex_);
  return suspicion_;
}

diagnosis::Diagnosis JobState::last_diagnosis() const {
  const service::MutexLock lock(mutex_);
  return diagnosis_;
}

IterationHistogram JobState::Histogram() const {
  const service::MutexLock lock(mutex_);
  return histogram_;
}

std::vector<diagnosis::SignalState> JobState::SignalStates() const {
  const service::MutexLock lock(mutex_);
  return Signals();
}

DetailWindows JobState::detail() const {
  const service::MutexLock lock(mutex_);
  return detail_;
}

std::size_t JobState::RanksOn(std::string_view node) const {
  const service::MutexLock lock(mutex_);
  return ranks_.RanksOn(node);
}

bool JobState::ended() const {
  const service::MutexLock lock(mutex_);
  return ended_;
}

std::size_t JobState::rank_count() const {
  const service::MutexLock lock(mutex_);
  return ranks_.ranks().size();
}

std::size_t JobState::BytesPerRank() const {
  const service::MutexLock lock(mutex_);
  constexpr std::size_t kMapNode = 4 * sizeof(void*);
  std::size_t largest = 0;
  for (const auto& [rank, state] : ranks_.ranks()) {
    largest = std::max(largest, sizeof(rank) + sizeof(state) + kMapNode + window_.BytesOf(rank));
  }
  return largest;
}

void JobState::Read(const std::function<void(const RankTable&, const GroupTable&,
                                             const SummaryWindow&)>& read) const {
  const service::MutexLock lock(mutex_);
  read(ranks_, groups_, window_);
}

}  // namespace fathom::collector
