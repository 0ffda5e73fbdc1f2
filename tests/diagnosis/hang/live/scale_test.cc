// A large job of tensor, expert, pipeline and data groups in which one rank hangs: is it still
// named, and what does that cost? Times are printed, never asserted.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "diagnosis/engine/diagnose.h"
#include "diagnosis/watch/watch.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace fathom::diagnosis {
namespace {

using ::testing::ElementsAre;

constexpr std::uint32_t kTensor = 8, kStages = 4, kCulprit = 1234;
constexpr std::size_t kKinds = 5;  // tensor, expert, pipeline, data, all: the order of an iteration

using Counts = std::array<std::uint64_t, kKinds>;  // ops entered, by kind of group

// Rank r = (replica × stages + stage) × tensor + lane. Experts: blocks of 8 along a data group.
class LargeJob {
 public:
  explicit LargeJob(std::uint32_t world) : replicas_(world / kTensor / kStages), place_(world) {
    view_.world_size = world;
    view_.nodes = world / kTensor;
    view_.now = WallNs(1'000'000'000'000'000);
    for (std::uint32_t r = 0; r < world; ++r) AddRank(r);
  }

  // Every rank goes on, op by op, until each stands in an op that somebody has not entered.
  // `skipped`: the op (of the first iteration) that the culprit leaves out; −1: it stops before 0.
  void Stall(int skipped) {
    std::vector<Counts> entered(place_.size());
    std::vector<int> step(place_.size(), 0);  // the op that a rank is at
    for (std::uint32_t r = 0; r < place_.size(); ++r) Enter(r, step[r], skipped, entered[r]);
    for (bool moved = true; moved;) {
      moved = false;
      const std::vector<std::uint64_t> least = Least(entered);
      for (std::uint32_t r = 0; r < place_.size(); ++r) {
        if ((skipped < 0 && r == kCulprit) || !Complete(r, step[r], skipped, entered[r], least))
          continue;
        step[r] += 1;
        Enter(r, step[r], skipped, entered[r]);
        moved = true;
      }
    }
    for (std::uint32_t r = 0; r < place_.size(); ++r) Describe(r, step[r], skipped, entered[r]);
  }

  JobView& view() { return view_; }
  RankFacts& culprit() { return view_.ranks[kCulprit]; }

 private:
  void AddRank(std::uint32_t r) {
    const std::uint32_t lane = r % kTensor, stage = r / kTensor % kStages;
    const std::uint32_t replica = r / kTensor / kStages;
    place_[r] = {GroupOf(0, r / kTensor, "TENSOR", r),
                 GroupOf(1, (stage * kTensor + lane) * replicas_ + replica / 8, "EXPERT", r),
                 GroupOf(2, replica * kTensor + lane, "PIPELINE", r),
                 GroupOf(3, stage * kTensor + lane, "DATA", r), GroupOf(4, 0, "WORLD", r)};
    RankFacts facts;
    facts.rank = RankId(r);
    facts.node = "node" + std::to_string(r / kTensor);
    facts.state = ProcessState::kSleeping;
    facts.silent_for = Nanos::FromSeconds(10);
    facts.typical_iteration = Nanos::FromSeconds(0.2);
    facts.iterations_seen = 100;
    view_.ranks.push_back(facts);
  }

  std::size_t GroupOf(std::uint64_t kind, std::uint64_t number, const char* name, std::uint32_t r) {
    const auto [at, added] = index_.try_emplace({kind, number}, view_.groups.size());
    if (added) {
      view_.groups.push_back(
          {GroupId(view_.groups.size() + 1), std::to_string(number), name, 0, {}, false});
    }
    Group& group = view_.groups[at->second];
    group.members.push_back(RankId(r));
    ++group.size;
    return at->second;
  }

  static bool Skips(std::uint32_t r, int step, int skipped) {
    return r == kCulprit && step == skipped;
  }
  static void Enter(std::uint32_t r, int step, int skipped, Counts& entered) {
    if (skipped < 0 && r == kCulprit) return;
    if (!Skips(r, step, skipped)) ++entered[static_cast<std::size_t>(step) % kKinds];
  }
  // Of each group, how many ops its slowest member has entered.
  std::vector<std::uint64_t> Least(const std::vector<Counts>& entered) const {
    std::vector<std::uint64_t> least(view_.groups.size(), ~std::uint64_t{0});
    for (std::size_t r = 0; r < entered.size(); ++r) {
      for (std::size_t kind = 0; kind < kKinds; ++kind) {
        std::uint64_t& count = least[place_[r][kind]];
        count = std::min(count, entered[r][kind]);
      }
    }
    return least;
  }
  bool Complete(std::uint32_t r, int step, int skipped, const Counts& entered,
                const std::vector<std::uint64_t>& least) const {
    if (Skips(r, step, skipped)) return true;
    const std::size_t kind = static_cast<std::size_t>(step) % kKinds;
    return least[place_[r][kind]] >= entered[kind];
  }
  void Describe(std::uint32_t r, int step, int skipped, const Counts& entered) {
    RankFacts& facts = view_.ranks[r];
    for (std::size_t kind = 0; kind < kKinds; ++kind) {
      const std::uint64_t count = 100 + entered[kind];
      facts.groups.push_back({view_.groups[place_[r][kind]].id, count, count, count - 1});
    }
    if (skipped < 0 && r == kCulprit) return;
    const std::size_t kind = static_cast<std::size_t>(step) % kKinds;
    OpenOp op;
    op.group = view_.groups[place_[r][kind]].id;
    op.sequence = Sequence(100 + entered[kind] - 1);
    op.kind = CollectiveKind::kAllReduce;
    op.bytes = 1024;
    op.age = facts.silent_for;
    facts.open_ops.push_back(op);
  }

  const std::uint32_t replicas_;
  JobView view_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::size_t> index_;
  std::vector<std::array<std::size_t, kKinds>> place_;
};

struct Fault {
  const char* name;
  Cause cause;
  std::function<void(LargeJob&)> make;
};

// The rows that the last five iterations would hold, and of the culprit what it did now.
void AddRows(JobView& view, const std::vector<RankId>& ranks) {
  for (const RankId rank : ranks) {
    const auto& groups = view.ranks[rank.value].groups;
    std::vector<CommOp>& ops = view.rows[rank].ops;
    const auto add = [&](std::size_t kind, std::uint64_t sequence) {
      CommOp op;
      op.group = groups[kind].group;
      op.sequence = Sequence(sequence);
      op.kind = CollectiveKind::kAllReduce;
      op.bytes = 1024;
      ops.push_back(op);
    };
    for (std::uint64_t iteration = 95; iteration < 100; ++iteration) {
      for (std::size_t kind = 0; kind < kKinds; ++kind) add(kind, iteration);
    }
    for (std::size_t kind = 0; kind < kKinds; ++kind) {
      if (groups[kind].entered > 100) add(kind, 100);
    }
  }
}

const std::vector<Fault>& Faults() {
  static const auto* const kFaults = new std::vector<Fault>{
      {"blocked", Cause::kNonCommunicationHang, [](LargeJob& job) { job.Stall(-1); }},
      {"stopped", Cause::kProcessStopped,
       [](LargeJob& job) {
         job.Stall(-1);
         job.culprit().state = ProcessState::kStopped;
       }},
      {"dead", Cause::kProcessDead,
       [](LargeJob& job) {
         job.Stall(-1);
         job.culprit().state = ProcessState::kGone;
       }},
      {"other size", Cause::kMismatch,
       [](LargeJob& job) {
         job.Stall(-1);
         const RankFacts& peer = job.view().ranks[kCulprit + 1];
         job.culprit().open_ops = {peer.open_ops[0]};
         job.culprit().open_ops[0].bytes = 4096;
         job.culprit().groups = peer.groups;
       }},
      {"op left out", Cause::kMismatch, [](LargeJob& job) { job.Stall(0); }},
  };
  return *kFaults;
}

class HangScaleTest : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(HangScaleTest, TheCulpritIsNamedWhateverItDid) {
  const DiagnosisConfig config;
  std::printf("%-12s %7s %8s %12s %8s\n", "fault", "ranks", "groups", "rows asked", "ms");
  for (const Fault& fault : Faults()) {
    LargeJob job(GetParam());
    fault.make(job);
    IterationSummary newest;
    newest.index = Iteration(99);
    newest.ranks.emplace_back();
    newest.ranks.back().duration = Nanos::FromSeconds(0.2);
    job.view().window = {newest};
    const auto start = std::chrono::steady_clock::now();
    const Suspicion suspicion = Watch(job.view(), config);
    AddRows(job.view(), suspicion.rows.ranks);
    const Diagnosis said = Diagnose(job.view(), suspicion, config);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    std::printf("%-12s %7u %8zu %12zu %8.1f\n", fault.name, GetParam(), job.view().groups.size(),
                suspicion.rows.ranks.size(), took.count());
    ASSERT_EQ(said.verdicts.size(), 1u)
        << fault.name << ": " << (said.abstained.empty() ? "" : said.abstained[0].missing);
    EXPECT_EQ(said.verdicts[0].cause, fault.cause) << fault.name;
    EXPECT_THAT(said.verdicts[0].entity.ranks, ElementsAre(RankId(kCulprit))) << fault.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, HangScaleTest, ::testing::Values(2048u, 8192u));

}  // namespace
}  // namespace fathom::diagnosis
