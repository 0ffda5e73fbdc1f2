#include "collector/cli/render/what_if_block.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "collector/cli/render/quantity.h"
#include "collector/cli/text.h"

namespace fathom::cli {
namespace {

constexpr std::size_t kNamed = 4;
constexpr double kWorthNaming = 1.005;

// "3 1.23x, 0 1.01x": the largest, down to what rounds to nothing.
std::string Largest(const Json& shares, std::string (*name)(const Json&)) {
  std::string out;
  std::size_t named = 0;
  for (const Json& share : shares) {
    const double slowdown = NumberField(share, "slowdown");
    if (slowdown < kWorthNaming || named++ == kNamed) break;
    AppendTo(&out, out.empty() ? "" : ", ", name(share), " ", Times(slowdown));
  }
  return out.empty() ? "none" : out;
}

std::string IndexName(const Json& share) { return Cat(IntField(share, "index")); }
std::string KindName(const Json& share) { return TextField(share, "name"); }
std::string WorkerName(const Json& share) {
  const std::vector<std::int64_t> ranks = IntsField(share, "ranks");
  return ranks.empty() ? "-" : Cat(ranks.front());
}

std::string Percent(double share) { return absl::StrFormat("%.0f %%", 100 * share); }

}  // namespace

std::string WhatIfBlock(const Json& what_if, const Terminal& terminal) {
  const double ideal = NumberField(what_if, "ideal_s");
  if (!(ideal > 0)) return "";
  std::string out = Paint(terminal, Ink::kBold, "What if nothing straggled");
  AppendTo(&out, "\n  a step of ", Seconds(NumberField(what_if, "replayed_s")), " would take ",
           Seconds(ideal), " (", Times(NumberField(what_if, "slowdown")), "); measured ",
           Seconds(NumberField(what_if, "measured_s")), "\n");
  const Json& only = ObjectField(what_if, "only");
  AppendTo(&out, "  by one alone   stage ", Largest(ListField(only, "stage"), IndexName),
           "; replica ", Largest(ListField(only, "replica"), IndexName), "; rank ",
           Largest(ListField(only, "worker"), WorkerName), "\n");
  AppendTo(&out, "  by kind of op  ", Largest(ListField(only, "kind"), KindName), "\n");
  AppendTo(&out, "  won back by repairing the last stage ",
           Percent(NumberField(what_if, "last_stage_share")), ", the worst workers ",
           Percent(NumberField(what_if, "worst_workers_share")), "\n");
  return out;
}

}  // namespace fathom::cli
