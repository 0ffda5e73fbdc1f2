// Which iterations and ranks a page draws, and what it is told of their ops.
#include "collector/export/html/one_iteration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace fathom::collector {
namespace {

using diagnosis::CommOp;
using Json = nlohmann::json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::int64_t kUs = 1'000;

std::vector<Episode> Naming(std::vector<RankId> ranks, std::int64_t onset,
                            std::vector<RankId> victims = {}) {
  Episode episode;
  episode.verdict.entity.ranks = std::move(ranks);
  episode.verdict.since_iteration = Iteration(onset);
  episode.verdict.victims = std::move(victims);
  return {episode};
}

std::vector<RankId> RanksFrom(std::uint32_t first, std::uint32_t count) {
  std::vector<RankId> ranks;
  for (std::uint32_t i = 0; i < count; ++i) ranks.emplace_back(first + i);
  return ranks;
}

// A window of iterations that last as given, in µs, from iteration `first` on.
diagnosis::JobView Lasting(std::int64_t first, const std::vector<std::int64_t>& durations) {
  diagnosis::JobView view;
  for (const std::int64_t us : durations) {
    auto& summary = view.window.emplace_back();
    summary.index = Iteration(first++);
    auto& row = summary.ranks.emplace_back();
    row.duration = Nanos(us * kUs);
  }
  return view;
}

std::vector<std::string> Worth(const diagnosis::JobView& view, const std::vector<Episode>& told) {
  std::vector<std::string> out;
  for (const Picture& picture : WorthAPicture(view, told)) {
    out.push_back(std::string(picture.why) + " " + std::to_string(picture.iteration.value));
  }
  return out;
}

TEST(WorthAPictureTest, WithoutAVerdictTheMiddleAndTheNewest) {
  EXPECT_THAT(Worth({}, {}), IsEmpty());
  EXPECT_THAT(Worth(Lasting(5, {1}), {}), ElementsAre("middle 5")) << "one is drawn once";
  EXPECT_THAT(Worth(Lasting(5, {1, 1, 1, 1, 1}), {}), ElementsAre("middle 7", "newest 9"));
}

TEST(WorthAPictureTest, TheSlowestSoonAfterTheOnsetAndOneWellBeforeIt) {
  const std::vector<std::int64_t> durations = {9, 1, 1, 1, 1, 2, 3, 7, 3, 3, 3, 3, 3, 99, 3};
  const auto view = Lasting(10, durations);
  EXPECT_THAT(Worth(view, Naming({}, 14)), ElementsAre("slow 17", "before 11", "newest 24"))
      << "99 comes later than the onset's neighbours";
  EXPECT_THAT(Worth(view, Naming({}, 15)), ElementsAre("slow 23", "before 12", "newest 24"));
  EXPECT_THAT(Worth(view, Naming({}, 10)), ElementsAre("slow 10", "newest 24"))
      << "nothing is before the first";
  EXPECT_THAT(Worth(view, Naming({}, 11)), ElementsAre("slow 17", "before 10", "newest 24"));
  EXPECT_THAT(Worth(view, Naming({}, 24)), ElementsAre("slow 24", "before 21"));
}

TEST(WorthAPictureTest, AnOnsetOutsideOfWhatIsKnownIsNone) {
  const auto view = Lasting(10, {1, 1, 1, 1});
  for (const std::int64_t onset : {-1, 9, 14}) {
    EXPECT_THAT(Worth(view, Naming({}, onset)), ElementsAre("middle 12", "newest 13")) << onset;
  }
}

TEST(RanksToDrawTest, AreNeverMoreThanThePageDrawsAndOnlySuchAsAreThere) {
  EXPECT_THAT(RanksToDraw({}, Naming({RankId(1)}, 0), {RankId(2)}), IsEmpty());
  EXPECT_EQ(RanksToDraw(RanksFrom(0, 3), {}, {}).size(), 3u);
  EXPECT_EQ(RanksToDraw(RanksFrom(0, 16), {}, {}).size(), 16u);
  for (const std::uint32_t count : {17u, 100u, 1000u}) {
    const auto drawn = RanksToDraw(RanksFrom(0, count), {}, {});
    EXPECT_EQ(drawn.size(), kMostRanksDrawn) << count;
    EXPECT_LT(*drawn.rbegin(), RankId(count));
  }
  const auto drawn = RanksToDraw(RanksFrom(0, 1000), {}, {});
  EXPECT_GT(*drawn.rbegin(), RankId(900)) << "some from everywhere";
}

TEST(RanksToDrawTest, AskedForComesBeforeNamedAndNamedBeforeTheRest) {
  const std::vector<RankId> all = RanksFrom(0, 1000);
  auto drawn = RanksToDraw(all, Naming({RankId(501)}, 0, RanksFrom(701, 10)), {RankId(333)});
  EXPECT_TRUE(drawn.contains(RankId(333)));
  EXPECT_TRUE(drawn.contains(RankId(501)));
  for (const std::uint32_t victim : {701u, 702u, 703u, 704u}) {
    EXPECT_TRUE(drawn.contains(RankId(victim))) << victim;
  }
  EXPECT_FALSE(drawn.contains(RankId(705))) << "a few victims tell";
  drawn = RanksToDraw(all, Naming({RankId(501)}, 0), RanksFrom(100, 20));
  EXPECT_FALSE(drawn.contains(RankId(501))) << "what was asked for fills the page";
  drawn = RanksToDraw(all, Naming({RankId(2000)}, 0), {RankId(3000)});
  EXPECT_EQ(drawn.size(), kMostRanksDrawn) << "ranks of which no rows came take no place";
}

TEST(RanksToDrawTest, OfAVerdictOnManyThoseThatAreThereAreDrawn) {
  std::vector<RankId> available = RanksFrom(0, 100);
  for (std::uint32_t rank = 520; rank < 530; ++rank) available.emplace_back(rank);
  const auto drawn = RanksToDraw(available, Naming(RanksFrom(500, 30), 0), {});
  for (std::uint32_t rank = 520; rank < 528; ++rank) {
    EXPECT_TRUE(drawn.contains(RankId(rank))) << rank << ": of the first twenty no rows came";
  }
  EXPECT_EQ(drawn.size(), kMostRanksDrawn);
}

// Two ranks of which the rows of one iteration are there; rank 1 comes 30 µs later.
struct Pictured {
  Pictured() {
    view.groups.push_back({GroupId(7), "0", "dp", 2, RanksFrom(0, 2), false});
    auto& summary = view.window.emplace_back();
    summary.index = Iteration(4);
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      auto& facts = view.ranks.emplace_back();
      facts.rank = RankId(rank);
      facts.node = "n";
      auto& row = summary.ranks.emplace_back();
      row.rank = RankId(rank);
      row.begin = MonoNs(1'000 * kUs);
      row.duration = Nanos(100 * kUs);
      AddOp(rank, 1'040 + 30 * rank, 1'090);
    }
  }

  CommOp& AddOp(std::uint32_t rank, std::int64_t enter_us, std::int64_t end_us) {
    CommOp& op = view.rows[RankId(rank)].ops.emplace_back();
    op.group = GroupId(7);
    op.sequence = Sequence(view.rows[RankId(rank)].ops.size());
    op.kind = CollectiveKind::kAllReduce;
    op.iteration = Iteration(4);
    op.enter = MonoNs(enter_us * kUs);
    op.end = MonoNs(end_us * kUs);
    return op;
  }

  Json Write(const std::vector<Picture>& pictures = {{Iteration(4), "chosen"}},
             const std::set<RankId>& ranks = {RankId(0), RankId(1)}) const {
    JsonWriter json;
    WritePictures(view, pictures, ranks, json);
    return Json::parse(json.Take());
  }
  Json Only() const { return Write()["iterations"].at(0); }

  diagnosis::JobView view;
};

TEST(WritePicturesTest, AnOpTellsKindGroupTimesWaitBytesAndWhetherItRuns) {
  Pictured job;
  job.view.rows[RankId(0)].ops[0].bytes = 4096;
  const Json written = job.Write();
  EXPECT_EQ(written["kinds"], Json({"all_reduce"}));
  EXPECT_EQ(written["groups"], Json({"dp"}));
  const Json& picture = written["iterations"].at(0);
  EXPECT_EQ(picture["index"], 4);
  EXPECT_EQ(picture["why"], "chosen");
  EXPECT_EQ(picture["duration_us"], 100);
  EXPECT_EQ(picture["whole"], true);
  EXPECT_EQ(picture["aligned"], false) << "one node has one clock";
  EXPECT_EQ(picture["ranks"][0]["ops"], Json::parse("[[0,0,40,90,30,4096,0]]"));
  EXPECT_EQ(picture["ranks"][1]["ops"], Json::parse("[[0,0,70,90,0,0,0]]"));
}

TEST(WritePicturesTest, WhatIsMissingLeavesThePictureOutOrSaysSo) {
  Pictured job;
  EXPECT_THAT(job.Write({})["iterations"], IsEmpty());
  EXPECT_THAT(job.Write({{Iteration(5), "chosen"}})["iterations"], IsEmpty());
  EXPECT_THAT(job.Write({{Iteration(4), "chosen"}}, {RankId(9)})["iterations"], IsEmpty());
  EXPECT_EQ(job.Only()["whole"], true);
  job.view.groups[0].members = RanksFrom(0, 3);
  EXPECT_EQ(job.Only()["whole"], false) << "the third member may have come last";
  job.view.groups[0].members.clear();
  EXPECT_EQ(job.Only()["whole"], false) << "who its members are is not known";
  job.view.groups.clear();
  EXPECT_EQ(job.Only()["whole"], false) << "nothing is known of the communicator";
}

TEST(WritePicturesTest, AnOpInFlightEndsWithTheIterationAndWaitsForNothingKnown) {
  Pictured job;
  job.view.rows[RankId(0)].ops[0].end = MonoNs();
  EXPECT_EQ(job.Only()["ranks"][0]["ops"], Json::parse("[[0,0,40,100,0,0,1]]"));
}

TEST(WritePicturesTest, OpsThatDoNotKeepAllMembersTogetherShowNoWait) {
  Pictured job;
  for (const std::uint32_t rank : {0u, 1u}) {
    job.view.rows[RankId(rank)].ops[0].kind = CollectiveKind::kBroadcast;
  }
  EXPECT_EQ(job.Only()["ranks"][0]["ops"], Json::parse("[[0,0,40,90,0,0,0]]"));
}

TEST(WritePicturesTest, StretchesAreClippedAndAFunctionAsLongAsTheIterationSaysNothing) {
  Pictured job;
  auto& rows = job.view.rows[RankId(1)];
  const auto at = [](std::int64_t us) { return MonoNs(us * kUs); };
  rows.marks = {{diagnosis::MarkKind::kGc, at(990), at(1'010), 0, {}},
                {diagnosis::MarkKind::kDataLoader, at(1'060), {}, 0, {}},
                {diagnosis::MarkKind::kGc, at(1'100), at(1'200), 0, {}},
                {diagnosis::MarkKind::kGc, at(900), at(1'000), 0, {}}};
  rows.functions = {{"t.py(1): whole", at(1'005), at(1'095), 0, {}},
                    {"t.py(2): part", at(1'010), at(1'090), 0, {}}};
  EXPECT_EQ(job.Only()["ranks"][1]["stretches"],
            Json::parse(R"([{"name":"garbage collection","begin_us":0,"end_us":10},
                            {"name":"data loading","begin_us":60,"end_us":100},
                            {"name":"t.py(2): part","begin_us":10,"end_us":90}])"));
}

TEST(WritePicturesTest, ARankOfManyOpsIsCutAtTheLimitAndSaysSo) {
  Pictured job;
  while (job.view.rows[RankId(0)].ops.size() < kMostOpsDrawn) job.AddOp(0, 1'091, 1'092);
  EXPECT_EQ(job.Only()["ranks"][0]["ops"].size(), kMostOpsDrawn);
  EXPECT_EQ(job.Only()["ranks"][0]["cut"], false);
  job.AddOp(0, 1'093, 1'094);
  EXPECT_EQ(job.Only()["ranks"][0]["ops"].size(), kMostOpsDrawn);
  EXPECT_EQ(job.Only()["ranks"][0]["cut"], true);
  EXPECT_EQ(job.Only()["ranks"][1]["cut"], false);
}

TEST(WritePicturesTest, ARankWithoutASummaryIsDrawnFromItsOps) {
  Pictured job;
  job.view.window[0].ranks.clear();
  const Json picture = job.Only();
  EXPECT_EQ(picture["duration_us"], 50) << "from the first op to the last end";
  EXPECT_EQ(picture["ranks"][1]["ops"], Json::parse("[[0,0,30,50,0,0,0]]"));
}

TEST(WritePicturesTest, WithoutASummaryTheLineEndsWithTheLastThatIsKnownOfAnyOp) {
  Pictured job;
  job.view.window[0].ranks.clear();
  job.AddOp(0, 1'060, 1'070);                 // inside the one before
  job.AddOp(1, 1'080, 1'095).end = MonoNs();  // in flight
  const Json picture = job.Only();
  EXPECT_EQ(picture["duration_us"], 50);
  EXPECT_EQ(picture["ranks"][0]["ops"][0][3], 50);
  EXPECT_EQ(picture["ranks"][1]["ops"][1], Json::parse("[0,0,40,50,0,0,1]"));
}

TEST(WritePicturesTest, ANodeWithAnotherClockIsMovedByItsSharedCollectives) {
  Pictured job;
  for (int i = 0; i < 2; ++i) {
    for (const std::uint32_t rank : {0u, 1u}) job.AddOp(rank, 1'091 + 2 * i, 1'092 + 2 * i);
  }
  const Json together = job.Only()["ranks"];
  job.view.ranks[1].node = "other";
  job.view.window[0].ranks[1].begin = MonoNs(9'000 * kUs);
  for (CommOp& op : job.view.rows[RankId(1)].ops) {
    op.enter = op.enter + Nanos(8'000 * kUs);
    op.end = op.end + Nanos(8'000 * kUs);
  }
  EXPECT_EQ(job.Only()["ranks"], together);
  EXPECT_EQ(job.Only()["aligned"], true);
}

}  // namespace
}  // namespace fathom::collector
