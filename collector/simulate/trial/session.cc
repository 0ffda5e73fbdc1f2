#include "collector/simulate/trial/session.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "diagnosis/engine/look_ahead.h"

namespace fathom::simulate {
namespace {

constexpr std::uint32_t kRanksAtOnce = 8192;  // whose ops are kept in one replay

double Typical(const diagnosis::JobView& view) {
  std::vector<double> seconds;
  for (const auto& it : view.window) seconds.push_back(it.ranks.front().duration.Seconds());
  if (seconds.empty()) return 0;
  std::nth_element(seconds.begin(), seconds.begin() + seconds.size() / 2, seconds.end());
  return seconds[seconds.size() / 2];
}

}  // namespace

std::string Subject(const diagnosis::Verdict& verdict) {
  std::string subject =
      std::string(ToString(verdict.cause)) + " " + std::string(ToString(verdict.entity.type));
  if (!verdict.entity.link_src.empty()) {
    absl::StrAppend(&subject, " ", verdict.entity.link_src, "-", verdict.entity.link_dst);
  }
  if (verdict.entity.type == diagnosis::EntityType::kHost) {
    return absl::StrCat(subject, " ", verdict.entity.node);
  }
  constexpr std::size_t kShown = 8;
  for (std::size_t i = 0; i < std::min(kShown, verdict.entity.ranks.size()); ++i) {
    absl::StrAppend(&subject, " ", verdict.entity.ranks[i].value);
  }
  if (verdict.entity.ranks.size() > kShown) absl::StrAppend(&subject, " …");
  return subject;
}

Session::Session(const Scenario& scenario, SessionOptions options)
    : scenario_(scenario),
      options_(std::move(options)),
      player_(scenario_),
      observer_(scenario_, player_) {
  view_.name = scenario.name;
  view_.world_size = player_.layout().world();
  view_.nodes = player_.layout().nodes();
  view_.groups = player_.layout().Groups();
  view_.ranks = observer_.FreshFacts();
}

Outcome Session::Run() {
  while (outcome_.iterations < scenario_.iterations && !outcome_.hung) {
    if (options_.stopped && options_.stopped()) {
      outcome_.interrupted = true;
      break;
    }
    PlayNext();
    const bool due = outcome_.iterations % options_.look_every == 0;
    if (due || outcome_.hung || outcome_.iterations == scenario_.iterations) Look();
  }
  return outcome_;
}

void Session::PlayNext() {
  const double start = options_.now();
  const std::int64_t iteration = outcome_.iterations;
  const double begin = next_begin_;
  const std::uint64_t before = player_.ops_played();
  player_.Play(iteration, begin);
  outcome_.begin_s.push_back(begin);
  outcome_.ops_played += player_.ops_played() - before;
  if (std::isinf(player_.end())) {
    Hang();
    outcome_.simulating_s += options_.now() - start;
    return;
  }
  view_.window.push_back(observer_.Summarise(iteration, begin));
  if (options_.played) options_.played(view_.window.back());
  next_begin_ = player_.end();
  outcome_.iteration_s.push_back(player_.end() - begin);
  if (view_.window.size() > options_.window) view_.window.erase(view_.window.begin());
  view_.iterations_seen = ++outcome_.iterations;
  view_.now = observer_.Wall(player_.end());
  outcome_.simulating_s += options_.now() - start;
}

void Session::Hang() {
  outcome_.hung = true;
  const std::int64_t iteration = outcome_.iterations;
  const double begin = outcome_.begin_s.back(), typical = Typical(view_);
  const double now = begin + typical + scenario_.stuck_s;
  for (std::uint32_t from = 0; from < view_.world_size; from += kRanksAtOnce) {
    std::vector<std::uint32_t> watched;
    for (std::uint32_t r = from; r < std::min(view_.world_size, from + kRanksAtOnce); ++r) {
      watched.push_back(r);
    }
    player_.Play(iteration, begin, watched);
    for (std::uint32_t r : watched) observer_.Stuck(iteration, typical, now, view_.ranks[r]);
  }
  view_.now = observer_.Wall(now);
}

void Session::Fetch(const diagnosis::RowsWanted& wanted) {
  const double start = options_.now();
  view_.rows.clear();
  std::vector<std::uint32_t> ranks;
  for (RankId rank : wanted.ranks) ranks.push_back(rank.value);
  std::vector<Nanos> busy(ranks.size());
  const std::set<Iteration> iterations(wanted.iterations.begin(), wanted.iterations.end());
  for (const auto& summary : view_.window) {
    if (iterations.contains(summary.index)) {
      const double begin = outcome_.begin_s[static_cast<std::size_t>(summary.index.value)];
      player_.Play(summary.index.value, begin, ranks);
      for (std::size_t i = 0; i < ranks.size(); ++i) {
        observer_.AddRows(summary.index.value, ranks[i], begin, busy[i],
                          view_.rows[RankId(ranks[i])]);
      }
    }
    for (std::size_t i = 0; i < ranks.size(); ++i) busy[i] += summary.ranks[ranks[i]].cpu;
  }
  if (outcome_.hung && iterations.contains(Iteration(outcome_.iterations))) {
    const double begin = outcome_.begin_s.back();
    player_.Play(outcome_.iterations, begin, ranks);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      observer_.AddRows(outcome_.iterations, ranks[i], begin, busy[i],
                        view_.rows[RankId(ranks[i])]);
    }
  }
  if (scenario_.cluster.flows_told && !outcome_.hung) AddFlows(ranks);
  CountFetched();
  outcome_.simulating_s += options_.now() - start;
}

void Session::AddFlows(const std::vector<std::uint32_t>& ranks) {
  for (diagnosis::RankFacts& facts : view_.ranks) facts.flows.clear();
  observer_.AddFlows(ranks, view_.window.front().index.value, outcome_.suspicion.onset.value,
                     outcome_.iterations, view_.ranks);
}

// The collector keeps rows that came; only what is new crosses the network.
void Session::CountFetched() {
  const std::uint64_t before = outcome_.fetched.ops;
  std::set<RankId> ranks;
  for (const auto& [rank, rows] : view_.rows) {
    std::set<Iteration> fresh;
    for (const diagnosis::CommOp& op : rows.ops) {
      if (fresh.contains(op.iteration) || !at_hand_.contains({rank, op.iteration})) {
        fresh.insert(op.iteration);
        ++outcome_.fetched.ops;
      }
    }
    for (Iteration iteration : fresh) at_hand_.insert({rank, iteration});
  }
  for (const auto& [rank, iteration] : at_hand_) ranks.insert(rank);
  outcome_.fetched.ranks = ranks.size();
  if (outcome_.fetched.ops > before) ++outcome_.fetched.rounds;
}

void Session::Look() {
  double start = options_.now();
  outcome_.suspicion = diagnosis::Watch(view_, options_.config);
  double took = options_.now() - start;
  view_.episode = outcome_.suspicion.episode;
  view_.past = outcome_.suspicion.past;
  view_.spikes = outcome_.suspicion.spikes;
  outcome_.diagnosis = {};
  if (outcome_.suspicion.slow || outcome_.suspicion.stalled || outcome_.suspicion.differs) {
    Fetch(outcome_.suspicion.rows);
    start = options_.now();
    outcome_.diagnosis = diagnosis::Diagnose(view_, outcome_.suspicion, options_.config);
    diagnosis::Remember(outcome_.diagnosis, view_.episode);
    took += options_.now() - start;
  } else if (options_.look_ahead) {
    LookAhead();
  }
  outcome_.looking_s += took;
  ++outcome_.looks;
  if (outcome_.first_verdict < 0) outcome_.localising_s = took;
  for (const diagnosis::Verdict& verdict : outcome_.diagnosis.verdicts) {
    if (!Convicts(verdict)) continue;
    Remember(verdict);
    if (outcome_.first_verdict >= 0) continue;
    outcome_.first_verdict = outcome_.iterations;
    outcome_.until_verdict = outcome_.fetched;
    outcome_.ops_until_verdict = outcome_.ops_played;
  }
}

void Session::LookAhead() {
  if (!diagnosis::MayBeSlowSoon(view_, outcome_.suspicion, options_.config)) return;
  const diagnosis::DiagnosisConfig ahead = diagnosis::LookingAhead(options_.config);
  const diagnosis::Suspicion suspicion = diagnosis::Watch(view_, ahead);
  if (!suspicion.slow) return;
  Fetch(suspicion.rows);
  view_.episode.asked = suspicion.rows.ranks;
}

void Session::Remember(const diagnosis::Verdict& verdict) {
  const std::string subject = Subject(verdict);
  const auto same = std::find_if(outcome_.ever.begin(), outcome_.ever.end(),
                                 [&](const auto& known) { return Subject(known) == subject; });
  if (same == outcome_.ever.end()) {
    outcome_.ever.push_back(verdict);
  } else if (verdict.grade > same->grade) {
    *same = verdict;
  }
}

}  // namespace fathom::simulate
