// Plots of printed tables: the figures of the table are where they belong, and nothing else is.
#include "collector/simulate/experiment/table_plot.h"

#include <regex>
#include <string>

#include "collector/simulate/experiment/plot.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace fathom::simulate {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* kTable =
    "| ranks | runs | top-1 right, % | Holmes, % |\n"
    "| --- | --- | --- | --- |\n"
    "| 512 | 10 | 100.0 (72.2–100.0) | – |\n"
    "| 2048 | 10 | 90.0 (59.6–98.2) | 97.2 |\n"
    "| 8192 | 5 | 80.0 (37.6–96.4) | 88.2 |\n";

std::size_t Count(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(TablePlotTest, DrawsADotForEachFigureAndABarForEachInterval) {
  const auto plots = PlotsOf("scale", kTable);
  ASSERT_THAT(plots, SizeIs(1));
  EXPECT_EQ(plots[0].name, "accuracy_by_scale");
  const std::string& svg = plots[0].svg;
  EXPECT_EQ(Count(svg, "<circle"), 3u + 1u) << "ours, and the legend's";
  EXPECT_EQ(Count(svg, "<rect x="), 2u + 1u) << "of the paper, where it has any";
  for (const char* ranks : {">512<", ">2048<", ">8192<"}) EXPECT_THAT(svg, HasSubstr(ranks));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

TEST(TablePlotTest, HigherFiguresStandHigher) {
  const std::string svg = PlotsOf("scale", kTable)[0].svg;
  const std::regex dot("<circle cx=\"([0-9.]+)\" cy=\"([0-9.]+)\"");
  std::vector<double> x, y;
  for (std::sregex_iterator at(svg.begin(), svg.end(), dot), end; at != end; ++at) {
    x.push_back(std::stod((*at)[1]));
    y.push_back(std::stod((*at)[2]));
  }
  ASSERT_THAT(x, SizeIs(4));  // the legend's comes first
  EXPECT_LT(x[1], x[2]);
  EXPECT_LT(x[2], x[3]);
  EXPECT_LT(y[1], y[2]);
  EXPECT_LT(y[2], y[3]);
  EXPECT_NEAR(y[3] - y[2], y[2] - y[1], 0.3) << "ten percent each";
}

TEST(TablePlotTest, APageIsDrawnByTheCommandAboveEachTable) {
  const std::string page = std::string("# Page\n\n    fathom simulate --experiment scale\n\n") +
                           kTable + "\n    fathom simulate --experiment kinds\n\n" + kTable;
  const auto plots = PlotsOfPage(page);
  ASSERT_THAT(plots, SizeIs(1));
  EXPECT_EQ(plots[0].svg, PlotsOf("scale", kTable)[0].svg);
}

TEST(TablePlotTest, ATableWithoutFiguresHasNoPlot) {
  EXPECT_THAT(PlotsOf("scale", "| ranks | top-1 right, % |\n| --- | --- |\n| 512 | – |\n"),
              IsEmpty());
  EXPECT_THAT(PlotsOf("scale", "no table"), IsEmpty());
}

TEST(PlotTest, TextOfALabelCannotBecomeMarkup) {
  const std::string svg =
      ToSvg({"a<b>&c", "x", "y", false, false, false, {{"<s>", {{1, 1, 1, 1}, {2, 2, 2, 2}}}}});
  EXPECT_THAT(svg, HasSubstr("a&lt;b&gt;&amp;c"));
  EXPECT_THAT(svg, Not(HasSubstr("<s>")));
}

}  // namespace
}  // namespace fathom::simulate
