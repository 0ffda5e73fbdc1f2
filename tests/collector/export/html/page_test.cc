#include "collector/export/html/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>

namespace fathom::collector {
namespace {

using diagnosis::JobView;
using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kStart = 1'790'000'000'000 * kMs;

// A job in which the ops of one communicator fill the end of each iteration; `late` comes 30 ms
// late from `onset` on, and the others wait for it.
JobView MakeJob(std::uint32_t ranks, std::int64_t iterations, RankId late, std::int64_t onset) {
  JobView view;
  view.name = "train";
  view.world_size = ranks;
  view.nodes = 1;
  view.groups.push_back({GroupId(7), "0", "default_pg", ranks, {}, false});
  for (std::uint32_t r = 0; r < ranks; ++r) {
    view.ranks.emplace_back();
    view.ranks.back().rank = RankId(r);
    view.ranks.back().node = "n0";
  }
  for (std::int64_t i = 0; i < iterations; ++i) {
    const std::int64_t begin = kStart + i * 100 * kMs;
    diagnosis::IterationSummary& summary = view.window.emplace_back();
    summary.index = Iteration(i);
    summary.begin = WallNs(begin);
    for (std::uint32_t r = 0; r < ranks; ++r) {
      const bool comes_late = RankId(r) == late && i >= onset;
      diagnosis::CommOp op;
      op.group = GroupId(7);
      op.sequence = Sequence(static_cast<std::uint64_t>(i));
      op.kind = CollectiveKind::kAllReduce;
      op.iteration = Iteration(i);
      op.enter = MonoNs(begin + (comes_late ? 90 : 60) * kMs);
      op.end = MonoNs(begin + 95 * kMs);
      view.rows[RankId(r)].ops.push_back(op);
      diagnosis::RankIteration row;
      row.rank = RankId(r);
      row.begin = MonoNs(begin);
      row.duration = Nanos(100 * kMs);
      row.groups.push_back({GroupId(7), 1, op.elapsed(), op.elapsed(), op.elapsed(), op.elapsed()});
      summary.ranks.push_back(row);
    }
  }
  return view;
}

std::vector<Episode> Blame(RankId rank, std::int64_t onset) {
  Episode episode;
  episode.id = "v000000000001";
  episode.verdict.entity.ranks = {rank};
  episode.verdict.since_iteration = Iteration(onset);
  return {episode};
}

TEST(KeptIterationsTest, AShortRecordingIsKeptWhole) {
  EXPECT_EQ(KeptIterations(MakeJob(4, 200, RankId(1), 50), Iteration(50)).size(), 200u);
}

TEST(KeptIterationsTest, OfALongOneTheNewestAndThoseAroundTheOnset) {
  JobView view;
  for (std::int64_t i = 0; i < 10'000; ++i) {
    view.window.emplace_back();
    view.window.back().index = Iteration(i);
    for (std::uint32_t r = 0; r < 400; ++r)
      view.window.back().ranks.emplace_back().rank = RankId(r);
  }
  const auto kept = KeptIterations(view, Iteration(3000));
  EXPECT_EQ(kept.size(), 1000u) << "400,000 cells of 400 ranks";
  EXPECT_EQ(kept.front(), 2940u);
  EXPECT_EQ(kept.back(), 9999u);
  EXPECT_TRUE(std::is_sorted(kept.begin(), kept.end()));
  EXPECT_EQ(KeptIterations(view, Iteration(-1)).front(), 9000u);
}

TEST(PageDataTest, ALateRankIsLateAndTheOthersWait) {
  const JobView view = MakeJob(4, 20, RankId(2), 10);
  const std::vector<Episode> verdicts = Blame(RankId(2), 10);
  const std::string data = PageData({view, verdicts, "{}", {}, {}});
  EXPECT_THAT(data, HasSubstr("[0,0,30000,0],[0,0,30000,0]")) << "late, µs, a column a rank";
  EXPECT_THAT(data, HasSubstr("[30000,30000,0,30000]")) << "waited";
  EXPECT_THAT(data, HasSubstr("\"onset\":10"));
}

TEST(PageDataTest, PicturesShowTheWaitingPartOfAnOp) {
  const JobView view = MakeJob(3, 20, RankId(2), 10);
  const std::vector<Episode> verdicts = Blame(RankId(2), 10);
  const std::string data = PageData({view, verdicts, "{}", {}, {}});
  // kind, group, begin, end, waited, bytes, in flight
  EXPECT_THAT(data, HasSubstr("[0,0,60000,95000,30000,0,0]"));
  EXPECT_THAT(data, HasSubstr("[0,0,90000,95000,0,0,0]"));
  EXPECT_THAT(data, HasSubstr("\"index\":10,\"why\":\"slow\""));
  EXPECT_THAT(data, HasSubstr("\"index\":7,\"why\":\"before\""));
}

TEST(PageDataTest, NodesWithOtherClocksAreDrawnTogether) {
  JobView view = MakeJob(2, 5, RankId(9), 9);
  view.ranks[1].node = "n1";
  constexpr std::int64_t kApart = 5'000'000 * kMs;
  for (diagnosis::CommOp& op : view.rows[RankId(1)].ops) {
    op.enter = MonoNs(op.enter.ns + kApart);
    op.end = MonoNs(op.end.ns + kApart);
  }
  for (auto& summary : view.window) {
    summary.ranks[1].begin = MonoNs(summary.ranks[1].begin.ns + kApart);
  }
  const std::string data = PageData({view, {}, "{}", {}, {}});
  EXPECT_THAT(data, HasSubstr("\"duration_us\":100000,\"aligned\":true"));
}

TEST(WriteHtmlTest, NamesOfARecordingNeverBecomeMarkup) {
  JobView view = MakeJob(2, 3, RankId(9), 9);
  view.ranks[0].node = "</script><script>alert(1)</script>";
  const std::string path = testing::TempDir() + "hostile.html";
  const std::vector<std::string> notes = {"<!--<script>"};
  const absl::Status written =
      WriteHtml({view, {}, "{\"job\":{\"name\":\"<b>\"}}", notes, {}}, path);
  if (absl::IsFailedPrecondition(written)) GTEST_SKIP() << "built without the page";
  ASSERT_TRUE(written.ok());
  std::ifstream in(path);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  EXPECT_THAT(text, Not(HasSubstr("alert(1)</script>")));
  EXPECT_THAT(text, HasSubstr("\\u003c/script>\\u003cscript>alert(1)"));
  EXPECT_THAT(text, Not(HasSubstr("<!--<script>")));
}

TEST(WriteHtmlTest, ThePageHoldsItsDataAsItIs) {
  JobView view = MakeJob(3, 20, RankId(2), 10);
  view.ranks[1].node = "<!-- \\u003c & \"<\"";
  const std::vector<Episode> verdicts = Blame(RankId(2), 10);
  const std::vector<std::string> notes = {"a < b"};
  const PageInput input{view, verdicts, R"({"a":"<"})", notes, {{"<rec>", "kineto"}}};
  const std::string path = testing::TempDir() + "whole.html";
  const absl::Status written = WriteHtml(input, path);
  if (absl::IsFailedPrecondition(written)) GTEST_SKIP() << "built without the page";
  ASSERT_TRUE(written.ok()) << written;
  std::ifstream in(path);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const std::string_view opened = "id=\"recording\">";
  const std::size_t begin = text.find(opened) + opened.size();
  const std::string held = text.substr(begin, text.find("</script>", begin) - begin);
  EXPECT_EQ(nlohmann::json::parse(held), nlohmann::json::parse(PageData(input)));
}

TEST(WriteHtmlTest, AFileThatCannotBeWrittenIsSaid) {
  const JobView view = MakeJob(1, 1, RankId(9), 9);
  for (const std::string path : {"/proc/no/page.html", "/dev/full"}) {
    const absl::Status written = WriteHtml({view, {}, "{}", {}, {}}, path);
    if (absl::IsFailedPrecondition(written)) GTEST_SKIP() << "built without the page";
    EXPECT_TRUE(absl::IsUnavailable(written)) << written;
    EXPECT_THAT(std::string(written.message()), HasSubstr(path));
  }
}

// A page of 1,000 ranks, which tests/web opens in a browser.
TEST(WriteHtmlTest, AThousandRanks) {
  const JobView view = MakeJob(1000, 500, RankId(637), 300);
  const std::vector<Episode> verdicts = Blame(RankId(637), 300);
  const std::string report =
      R"({"schema":"fathom.v1.Report","job":{"name":"large","ranks":1000,"nodes":1,"source":"test"},)"
      R"("iterations":{"count":"500","median_s":0.1},"verdicts":[{"id":"v000000000001",)"
      R"("grade":"established","cause":"host_slow","entity":{"type":"rank","ranks":[637]},)"
      R"("sentence":"Rank 637 holds the job back.","since":{"iteration":"300"},"cost":{"slowdown":1.3}}]})";
  const char* folder = std::getenv("FATHOM_BINARY_DIR");
  const std::string path =
      std::string(folder != nullptr ? folder : testing::TempDir()) + "/tests/page_1000_ranks.html";
  const absl::Status written = WriteHtml({view, verdicts, report, {}, {}}, path);
  if (absl::IsFailedPrecondition(written)) GTEST_SKIP() << "built without the page";
  ASSERT_TRUE(written.ok()) << written;
  std::ifstream in(path, std::ios::ate);
  EXPECT_LT(in.tellg(), 16 << 20);
}

}  // namespace
}  // namespace fathom::collector
