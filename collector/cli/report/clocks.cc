#include "collector/cli/report/clocks.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>

#include "collector/cli/render/quantity.h"
#include "collector/cli/render/verdict_view.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

struct Alike {
  std::vector<std::int64_t> ranks;
  double residual = 0;
};

std::string LineOf(const Json& clock, double offset, double residual) {
  return Cat("rank ", IntField(clock, "rank"), ": ", offset < 0 ? "-" : "+",
             Seconds(std::abs(offset)), " against rank ", IntField(clock, "reference"),
             ", to within ", Seconds(residual), ", by ",
             Counted(static_cast<std::size_t>(IntField(clock, "shared")), "collective"));
}

}  // namespace

std::vector<std::string> ClockLines(const Json& report) {
  std::map<std::int64_t, Alike> alike;  // by reference
  std::vector<std::string> lines;
  for (const Json& clock : ListField(ObjectField(report, "coverage"), "clocks")) {
    const double offset = NumberField(clock, "offset_s");
    const double residual = NumberField(clock, "residual_s");
    Alike& same = alike[IntField(clock, "reference")];
    if (std::abs(offset) > residual) {
      lines.push_back(LineOf(clock, offset, residual));
      continue;
    }
    same.ranks.push_back(IntField(clock, "rank"));
    same.residual = std::max(same.residual, residual);
  }
  for (const auto& [reference, same] : alike) {
    if (same.ranks.size() < 2) continue;
    lines.push_back(Cat(RankNames(same.ranks), ": alike, to within ", Seconds(same.residual)));
  }
  return lines;
}

}  // namespace fathom::cli
