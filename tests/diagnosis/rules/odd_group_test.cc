// A recording in which the communication of one group is slow from the first iteration on.
#include "diagnosis/rules/odd_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "diagnosis/engine/diagnose.h"

namespace fathom::diagnosis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Members = std::vector<std::uint32_t>;

struct Recorded {
  std::map<std::string, std::vector<Members>> groups = {
      {"TENSOR", {{0, 1}, {2, 3}, {4, 5}, {6, 7}}}, {"DATA", {{0, 2, 4, 6}, {1, 3, 5, 7}}}};
  std::map<Members, double> times = {};         // of these groups: × the usual
  std::map<Members, std::uint64_t> bytes = {};  // of these groups: not the usual
  std::function<std::string(std::uint32_t)> node = [](std::uint32_t rank) {
    return absl::StrCat("node-", rank / 4);
  };
  double transfer_ms = 10;
  double late_ms = 0;  // of rank 4, into every op
  int iterations = 8;
  int from = 0;  // the first in which `times` holds
  bool guessed = false;
};

constexpr double kIterationMs = 100;

DiagnosisConfig ConfigOfRecordings() {
  DiagnosisConfig config;
  config.odd_group_iterations = 5;
  return config;
}

void AddFactsAndWindow(const Recorded& job, JobView& view) {
  for (std::uint32_t rank = 0; rank < view.world_size; ++rank) {
    RankFacts facts;
    facts.rank = RankId(rank);
    facts.node = job.node(rank);
    view.ranks.push_back(facts);
  }
  for (int i = 0; i < job.iterations; ++i) {
    IterationSummary summary;
    summary.index = Iteration(i);
    for (const RankFacts& facts : view.ranks) {
      RankIteration row;
      row.rank = facts.rank;
      row.duration = Nanos::FromSeconds(kIterationMs * 1e-3);
      summary.ranks.push_back(row);
    }
    view.window.push_back(std::move(summary));
  }
}

// One all-reduce of a group in an iteration; the members come 0.1 ms apart.
void AddOp(const Recorded& job, const Group& group, const Members& members, int iteration,
           double at_ms, JobView& view) {
  const auto slow = job.times.find(members);
  const bool now = slow != job.times.end() && iteration >= job.from;
  const double transfer = job.transfer_ms * (now ? slow->second : 1) * (1 + 0.05 * (iteration % 3));
  const auto size = job.bytes.find(members);
  const double last = at_ms + 0.1 * static_cast<double>(members.size()) + job.late_ms;
  for (std::size_t m = 0; m < members.size(); ++m) {
    CommOp op;
    op.group = group.id;
    op.sequence = Sequence(static_cast<std::uint64_t>(iteration));
    op.kind = CollectiveKind::kAllReduce;
    op.bytes = size == job.bytes.end() ? 1'000'000 : size->second;
    op.iteration = Iteration(iteration);
    const bool comes_last = members[m] == 4 || (job.late_ms == 0 && m + 1 == members.size());
    const double enter = comes_last ? last : at_ms + 0.1 * static_cast<double>(m);
    op.enter = MonoNs(1'000'000 + static_cast<std::int64_t>(enter * 1e6));
    op.end = MonoNs(1'000'000 + static_cast<std::int64_t>((last + transfer) * 1e6));
    view.rows[RankId(members[m])].ops.push_back(op);
  }
}

JobView ViewOf(const Recorded& job) {
  JobView view;
  std::vector<Members> of_group;
  for (const auto& [description, groups] : job.groups) {
    for (const Members& members : groups) {
      Group group;
      group.name = absl::StrCat(view.groups.size());
      group.description = description;
      group.id = GroupId(view.groups.size() + 1);
      for (const std::uint32_t rank : members) {
        group.members.emplace_back(rank);
        view.world_size = std::max(view.world_size, rank + 1);
      }
      group.size = static_cast<std::uint32_t>(members.size());
      group.guessed = job.guessed;
      view.groups.push_back(group);
      of_group.push_back(members);
    }
  }
  AddFactsAndWindow(job, view);
  for (int i = 0; i < job.iterations; ++i) {
    for (std::size_t g = 0; g < of_group.size(); ++g) {
      const double at = kIterationMs * i + (of_group[g].size() > 2 ? 50 : 0);
      AddOp(job, view.groups[g], of_group[g], i, at, view);
    }
  }
  return view;
}

Diagnosis JudgedOf(const Recorded& job) {
  return Diagnose(ViewOf(job), Suspicion{}, ConfigOfRecordings());
}

TEST(OddGroup, IsALeadOnTheGroup) {
  const Diagnosis found = JudgedOf({.times = {{{4, 5}, 3}}});
  ASSERT_THAT(found.verdicts, SizeIs(1));
  const Verdict& lead = found.verdicts[0];
  EXPECT_EQ(lead.grade, Grade::kHypothesis);
  EXPECT_EQ(lead.cause, Cause::kCommunicationSlow);
  EXPECT_EQ(lead.entity.type, EntityType::kGroup);
  EXPECT_THAT(lead.entity.ranks, ElementsAre(RankId(4), RankId(5)));
  EXPECT_NEAR(lead.cost.seconds_per_iteration, 0.021, 0.001);
  EXPECT_THAT(lead.sentence,
              HasSubstr("took 3.0 times as long as in 3 communicators like it, all through the 8 "
                        "recorded iterations"));
}

TEST(OddGroup, NamesTheRankInWhichOddGroupsMeet) {
  const Diagnosis found = JudgedOf({.times = {{{4, 5}, 3}, {{1, 3, 5, 7}, 2.5}}});
  ASSERT_THAT(found.verdicts, SizeIs(1));
  EXPECT_EQ(found.verdicts[0].grade, Grade::kHypothesis);
  EXPECT_EQ(found.verdicts[0].cause, Cause::kLinkSlow);
  EXPECT_EQ(found.verdicts[0].entity.type, EntityType::kNic);
  EXPECT_THAT(found.verdicts[0].entity.ranks, ElementsAre(RankId(5)));
  EXPECT_EQ(found.verdicts[0].entity.node, "node-1");
}

TEST(OddGroup, NamesTheNodeInWhichOddGroupsMeet) {
  Recorded job;
  job.groups = {{"DATA", {{0, 4}, {1, 5}, {2, 6}, {3, 7}, {8, 12}, {9, 13}, {10, 14}, {11, 15}}}};
  job.node = [](std::uint32_t rank) { return rank < 2 ? "a" : absl::StrCat("n", rank); };
  job.times = {{{0, 4}, 3}, {{1, 5}, 3}};
  const Diagnosis found = JudgedOf(job);
  ASSERT_THAT(found.verdicts, SizeIs(1));
  EXPECT_EQ(found.verdicts[0].entity.node, "a");
  EXPECT_THAT(found.verdicts[0].sentence, HasSubstr("have only node a in common"));
}

TEST(OddGroup, TwoThatShareNothingAreNoLead) {
  EXPECT_THAT(JudgedOf({.groups = {{"TENSOR", {{0, 1}, {2, 3}, {4, 5}, {6, 7}, {8, 9}}}},
                        .times = {{{0, 1}, 3}, {{8, 9}, 3}}})
                  .verdicts,
              IsEmpty());
}

TEST(OddGroup, LateArrivalIsNoSlowCommunication) {
  EXPECT_THAT(JudgedOf({.late_ms = 40}).verdicts, IsEmpty());
}

TEST(OddGroup, SaysNothingOfLessThanItsThresholds) {
  EXPECT_THAT(JudgedOf({}).verdicts, IsEmpty()) << "healthy";
  EXPECT_THAT(JudgedOf({.times = {{{4, 5}, 1.8}}}).verdicts, IsEmpty()) << "not twice as long";
  EXPECT_THAT(JudgedOf({.times = {{{4, 5}, 3}}, .from = 3}).verdicts, IsEmpty())
      << "not from the first on";
  EXPECT_THAT(JudgedOf({.times = {{{4, 5}, 3}}, .transfer_ms = 1}).verdicts, IsEmpty())
      << "a fiftieth of the iteration";
  EXPECT_THAT(JudgedOf({.times = {{{4, 5}, 3}}, .iterations = 4}).verdicts, IsEmpty())
      << "too short";
  EXPECT_THAT(JudgedOf({.times = {{{1, 3, 5, 7}, 3}}}).verdicts, IsEmpty())
      << "one of two: which is odd?";
}

TEST(OddGroup, ComparesOnlyWhatIsAlike) {
  Recorded larger{.times = {{{4, 5}, 3}}};
  larger.bytes = {{{4, 5}, 3'000'000}};
  EXPECT_THAT(JudgedOf(larger).verdicts, IsEmpty()) << "other sizes";
  Recorded across{.times = {{{4, 5}, 3}}};
  across.node = [](std::uint32_t rank) { return rank < 5 ? "a" : "b"; };
  EXPECT_THAT(JudgedOf(across).verdicts, IsEmpty()) << "the only one that crosses nodes";
  EXPECT_THAT(JudgedOf({.times = {{{4, 5}, 3}}, .guessed = true}).verdicts, IsEmpty())
      << "who is in which group is a guess";
}

TEST(OddGroup, AsksForNodesWhereOneMayCrossThem) {
  Recorded job{.times = {{{4, 5}, 3}}};
  job.node = [](std::uint32_t) { return std::string(); };
  const Diagnosis found = JudgedOf(job);
  EXPECT_THAT(found.verdicts, IsEmpty());
  ASSERT_THAT(found.abstained, SizeIs(1));
  EXPECT_THAT(found.abstained[0].missing, HasSubstr("the nodes of its ranks"));
}

TEST(OddGroup, IsNotAskedOfLiveJobs) {
  EXPECT_THAT(Diagnose(ViewOf({.times = {{{4, 5}, 3}}}), Suspicion{}, DiagnosisConfig{}).verdicts,
              IsEmpty());
}

}  // namespace
}  // namespace fathom::diagnosis
