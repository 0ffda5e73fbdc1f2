// A recording in which the communication of one group is slow from the first iteration on.
#include "diagnosis/slowness/rules/odd_group.h"

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
  std::map<Members, int> from = {};                   // of these: the first in which `times` holds
  std::map<std::uint32_t, std::uint64_t> sends = {};  // bytes of these ranks: not their group's
  CollectiveKind kind = CollectiveKind::kAllReduce;
  double transfer_ms = 10;
  double late_ms = 0;      // of rank 4, into every op of its groups
  double blocked_ms = 60;  // of every rank, of kIterationMs
  int buckets = 1;         // ops of a group in an iteration, entered at once, done in turn
  int iterations = 8;
  bool guessed = false;
  bool stages = false;  // rank 0 sends rank 4 a message in each iteration
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
      row.blocked = Nanos::FromSeconds(job.blocked_ms * 1e-3);
      summary.ranks.push_back(row);
    }
    view.window.push_back(std::move(summary));
  }
}

std::uint64_t BytesOf(const Recorded& job, const Members& group, std::uint32_t rank) {
  const auto of_rank = job.sends.find(rank);
  if (of_rank != job.sends.end()) return of_rank->second;
  const auto of_group = job.bytes.find(group);
  return of_group == job.bytes.end() ? 1'000'000 : of_group->second;
}

double TransferMs(const Recorded& job, const Members& group, int iteration) {
  const auto slow = job.times.find(group);
  const auto from = job.from.find(group);
  const bool now = slow != job.times.end() && (from == job.from.end() || iteration >= from->second);
  return job.transfer_ms * (now ? slow->second : 1) * (1 + 0.05 * (iteration % 3));
}

// The ops of a group in an iteration; the members come 0.1 ms apart.
void AddOps(const Recorded& job, const Group& group, const Members& members, int iteration,
            double at_ms, JobView& view) {
  const double transfer = TransferMs(job, members, iteration);
  const bool late =
      job.late_ms > 0 && std::find(members.begin(), members.end(), 4U) != members.end();
  const std::uint32_t comes_last = late ? 4 : members.back();
  const double last = at_ms + 0.1 * static_cast<double>(members.size()) + (late ? job.late_ms : 0);
  for (std::size_t m = 0; m < members.size(); ++m) {
    const double enter = members[m] == comes_last ? last : at_ms + 0.1 * static_cast<double>(m);
    for (int bucket = 0; bucket < job.buckets; ++bucket) {
      CommOp op;
      op.group = group.id;
      op.sequence = Sequence(static_cast<std::uint64_t>(iteration * job.buckets + bucket));
      op.kind = job.kind;
      op.bytes = BytesOf(job, members, members[m]);
      op.iteration = Iteration(iteration);
      op.enter = MonoNs(1'000'000 + static_cast<std::int64_t>(enter * 1e6));
      op.end =
          MonoNs(1'000'000 + static_cast<std::int64_t>((last + transfer * (bucket + 1)) * 1e6));
      view.rows[RankId(members[m])].ops.push_back(op);
    }
  }
}

void AddMessage(int iteration, JobView& view) {
  CommOp op;
  op.group = view.groups.front().id;
  op.iteration = Iteration(iteration);
  op.enter = MonoNs(1'000'000 + static_cast<std::int64_t>((kIterationMs * iteration + 90) * 1e6));
  op.end = op.enter + Nanos(1'000'000);
  op.kind = CollectiveKind::kSend;
  op.peer = RankId(4);
  view.rows[RankId(0)].ops.push_back(op);
  op.kind = CollectiveKind::kRecv;
  op.peer = RankId(0);
  view.rows[RankId(4)].ops.push_back(op);
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
      AddOps(job, view.groups[g], of_group[g], i, at, view);
    }
    if (job.stages) AddMessage(i, view);
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
  EXPECT_EQ(found.verdicts[0].cause, Cause::kCommunicationSlow);
  EXPECT_EQ(found.verdicts[0].entity.type, EntityType::kRank) << "one is within the node";
  EXPECT_THAT(found.verdicts[0].entity.ranks, ElementsAre(RankId(5)));
  EXPECT_EQ(found.verdicts[0].entity.node, "node-1");
  EXPECT_THAT(found.verdicts[0].victims, ElementsAre(RankId(1), RankId(3), RankId(4), RankId(7)));
}

// Four nodes of two ranks; rank 5 in two groups that cross them, and in one that does not.
Recorded AcrossNodes() {
  Recorded job;
  job.groups = {{"TENSOR", {{0, 1}, {2, 3}, {4, 5}, {6, 7}}},
                {"CONTEXT", {{0, 2}, {1, 3}, {4, 6}, {5, 7}}},
                {"DATA", {{0, 4}, {1, 5}, {2, 6}, {3, 7}}}};
  job.node = [](std::uint32_t rank) { return absl::StrCat("node-", rank / 2); };
  job.times = {{{5, 7}, 3}, {{1, 5}, 3}};
  return job;
}

TEST(OddGroup, NamesTheNetworkWhereAllCrossNodes) {
  const Diagnosis found = JudgedOf(AcrossNodes());
  ASSERT_THAT(found.verdicts, SizeIs(1));
  EXPECT_EQ(found.verdicts[0].cause, Cause::kLinkSlow);
  EXPECT_EQ(found.verdicts[0].entity.type, EntityType::kNic);
  EXPECT_THAT(found.verdicts[0].entity.ranks, ElementsAre(RankId(5)));
}

TEST(OddGroup, ARankWithPathsThatAreWellIsNotNamed) {
  Recorded job = AcrossNodes();
  job.groups["PIPE"] = {{0, 6}, {1, 7}, {5, 11}, {2, 8}};  // of other nodes, and well
  job.groups["PIPE"].push_back({3, 9});
  EXPECT_THAT(JudgedOf(job).verdicts, IsEmpty()) << "two odd groups, one rank, and that is cleared";
  Recorded grid{.times = {{{4, 5}, 3}, {{1, 3, 5, 7}, 2.5}}};
  grid.groups["CONTEXT"] = {{0, 4}, {1, 5}, {2, 6}, {3, 7}};
  const Diagnosis found = JudgedOf(grid);
  ASSERT_THAT(found.verdicts, SizeIs(1));
  EXPECT_EQ(found.verdicts[0].entity.type, EntityType::kGroup) << "what is odd without doubt";
  EXPECT_THAT(found.verdicts[0].entity.ranks, ElementsAre(RankId(4), RankId(5)));
}

TEST(OddGroup, NamesTheInnermostOfThoseThatShareTheirRanks) {
  const std::vector<Members> pairs = {{0, 1}, {2, 3}, {4, 5}, {6, 7}};
  Recorded twice{.groups = {{"TENSOR", pairs}, {"TENSOR_EXPERT", pairs}}, .times = {{{4, 5}, 3}}};
  twice.transfer_ms = 5;
  Recorded within{.groups = {{"TENSOR", {{0, 1}, {2, 3}, {4, 5}, {6, 7}, {8, 9}, {10, 11}}},
                             {"MODEL", {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}}}},
                  .times = {{{4, 5}, 3}, {{4, 5, 6, 7}, 3}}};
  for (const Recorded& job : {twice, within}) {
    const Diagnosis found = JudgedOf(job);
    ASSERT_THAT(found.verdicts, SizeIs(1)) << job.groups.begin()->first;
    EXPECT_EQ(found.verdicts[0].entity.type, EntityType::kGroup);
    EXPECT_THAT(found.verdicts[0].entity.ranks, ElementsAre(RankId(4), RankId(5)));
  }
}

TEST(OddGroup, NamesTheNodeInWhichOddGroupsMeet) {
  Recorded job;
  job.groups = {{"DATA", {{0, 4}, {1, 5}, {2, 6}, {3, 7}, {8, 12}, {9, 13}, {10, 14}, {11, 15}}}};
  job.node = [](std::uint32_t rank) { return rank < 2 ? "a" : absl::StrCat("n", rank); };
  job.times = {{{0, 4}, 3}, {{1, 5}, 3}};
  const Diagnosis found = JudgedOf(job);
  ASSERT_THAT(found.verdicts, SizeIs(1));
  EXPECT_EQ(found.verdicts[0].entity.type, EntityType::kHost);
  EXPECT_EQ(found.verdicts[0].entity.node, "a");
  EXPECT_THAT(found.verdicts[0].entity.ranks, ElementsAre(RankId(0), RankId(1)));
  EXPECT_THAT(found.verdicts[0].victims, ElementsAre(RankId(4), RankId(5)));
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

TEST(OddGroup, CountsOnlyWhatNoWorkHides) {
  EXPECT_THAT(JudgedOf({.times = {{{4, 5}, 3}}, .blocked_ms = 0}).verdicts, IsEmpty());
  EXPECT_THAT(JudgedOf({.times = {{{4, 5}, 3}}, .blocked_ms = 8}).verdicts, IsEmpty())
      << "most of it is hidden";
  const Diagnosis found = JudgedOf({.times = {{{4, 5}, 3}}, .blocked_ms = 15});
  ASSERT_THAT(found.verdicts, SizeIs(1));
  EXPECT_NEAR(found.verdicts[0].cost.seconds_per_iteration, 0.015, 0.0001);
}

TEST(OddGroup, CountsTransfersThatOverlapOnce) {
  const Diagnosis found =
      JudgedOf({.times = {{{4, 5}, 3}}, .transfer_ms = 1, .blocked_ms = 100, .buckets = 10});
  ASSERT_THAT(found.verdicts, SizeIs(1));
  EXPECT_NEAR(found.verdicts[0].cost.seconds_per_iteration, 0.021, 0.001);
}

TEST(OddGroup, OneThatIsFastOrUnsteadyHidesNoSlowOne) {
  const std::vector<Members> pairs = {{0, 1}, {2, 3}, {4, 5}, {6, 7}, {8, 9}};
  const std::map<std::string, std::map<Members, double>> cases = {
      {"fast", {{{0, 1}, 0.3}, {{8, 9}, 3}}},
      {"at once", {{{0, 1}, 0}, {{8, 9}, 3}}},
      {"unsteady", {{{0, 1}, 2.5}, {{8, 9}, 3}}}};
  for (const auto& [name, times] : cases) {
    Recorded job{.groups = {{"TENSOR", pairs}}, .times = times};
    if (name == "unsteady") job.from = {{{0, 1}, 2}};
    const Diagnosis found = JudgedOf(job);
    ASSERT_THAT(found.verdicts, SizeIs(1)) << name;
    EXPECT_THAT(found.verdicts[0].entity.ranks, ElementsAre(RankId(8), RankId(9))) << name;
  }
}

TEST(OddGroup, OfTwoHalvesNeitherIsOdd) {
  EXPECT_THAT(JudgedOf({.times = {{{4, 5}, 3}, {{6, 7}, 3}}}).verdicts, IsEmpty());
}

TEST(OddGroup, SaysNothingOfLessThanItsThresholds) {
  EXPECT_THAT(JudgedOf({}).verdicts, IsEmpty()) << "healthy";
  EXPECT_THAT(JudgedOf({.times = {{{4, 5}, 1.8}}}).verdicts, IsEmpty()) << "not twice as long";
  EXPECT_THAT(JudgedOf({.times = {{{4, 5}, 3}}, .from = {{{4, 5}, 3}}}).verdicts, IsEmpty())
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
  Recorded halves{.times = {{{6, 7}, 3}}};
  halves.bytes = {{{4, 5}, 3'000'000}, {{6, 7}, 3'000'000}};
  EXPECT_THAT(JudgedOf(halves).verdicts, IsEmpty()) << "two of each size: which is odd?";
  Recorded across{.times = {{{4, 5}, 3}}};
  across.node = [](std::uint32_t rank) { return rank < 5 ? "a" : "b"; };
  EXPECT_THAT(JudgedOf(across).verdicts, IsEmpty()) << "the only one that crosses nodes";
  EXPECT_THAT(JudgedOf({.times = {{{4, 5}, 3}}, .guessed = true}).verdicts, IsEmpty())
      << "who is in which group is a guess";
}

TEST(OddGroup, ComparesOnlyWhatIsEqualForAllMembers) {
  Recorded busy{.times = {{{4, 5}, 3}}};
  busy.kind = CollectiveKind::kAllToAll;
  EXPECT_THAT(JudgedOf(busy).verdicts, IsEmpty()) << "a busy expert is no slow path";
  Recorded uneven{.times = {{{4, 5}, 3}}};
  uneven.kind = CollectiveKind::kAllGather;
  EXPECT_THAT(JudgedOf(uneven).verdicts, SizeIs(1));
  uneven.sends = {{5, 9'000'000}};
  EXPECT_THAT(JudgedOf(uneven).verdicts, IsEmpty()) << "rank 5 sends more than rank 4";
  Recorded unknown{.times = {{{4, 5}, 3}}};
  for (std::uint32_t rank = 0; rank < 8; ++rank) unknown.sends[rank] = 0;
  EXPECT_THAT(JudgedOf(unknown).verdicts, SizeIs(1)) << "all-reduces of replicas are alike";
  unknown.kind = CollectiveKind::kAllGather;
  EXPECT_THAT(JudgedOf(unknown).verdicts, IsEmpty()) << "shards may differ in size";
  unknown.kind = CollectiveKind::kAllReduce;
  unknown.stages = true;
  EXPECT_THAT(JudgedOf(unknown).verdicts, IsEmpty()) << "and so may stages";
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
