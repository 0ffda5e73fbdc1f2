#include "collector/cli/report/what_if_block.h"

#include "collector/cli/render/quantity.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

constexpr std::size_t kNamed = 3;
constexpr double kWorthNaming = 0.005;  // of a step

std::string StageName(const Json& share) { return Cat("stage ", IntField(share, "index")); }
std::string KindName(const Json& share) { return TextField(share, "name"); }
std::string WorkerName(const Json& share) {
  const std::vector<std::int64_t> ranks = IntsField(share, "ranks");
  return ranks.empty() ? "-" : Cat("rank ", ranks.front());
}

struct Named {
  std::string name;
  double seconds = 0;
};

// "stage 3 401 ms, rank 7 12.0 ms": largest first, down to what is too little to be worth naming.
std::string Largest(std::vector<Named> parts, double step) {
  std::stable_sort(parts.begin(), parts.end(),
                   [](const Named& a, const Named& b) { return a.seconds > b.seconds; });
  std::string out;
  std::size_t named = 0;
  for (const Named& part : parts) {
    if (part.seconds < kWorthNaming * step || named++ == kNamed) break;
    AppendTo(&out, out.empty() ? "" : ", ", part.name, " ", Seconds(part.seconds));
  }
  return out;
}

std::vector<Named> Saved(const Json& shares, std::string (*name)(const Json&)) {
  std::vector<Named> saved;
  for (const Json& share : shares) saved.push_back({name(share), NumberField(share, "saved_s")});
  return saved;
}

std::string Repairs(const Json& only, double step) {
  const std::string stages = Largest(Saved(ListField(only, "stage"), StageName), step);
  const std::string workers = Largest(Saved(ListField(only, "worker"), WorkerName), step);
  if (stages.empty() && workers.empty()) return "none alone would save anything to speak of";
  return Cat(stages, stages.empty() || workers.empty() ? "" : "; ", workers);
}

std::string Kinds(const Json& only, double ideal, double step) {
  std::vector<Named> costs;
  for (const Json& kind : ListField(only, "kind")) {
    costs.push_back({KindName(kind), (NumberField(kind, "slowdown") - 1) * ideal});
  }
  const std::string text = Largest(std::move(costs), step);
  return text.empty() ? "none" : text;
}

std::string LastStage(const Json& what_if) {
  const double share = NumberField(what_if, "last_stage_share");
  std::string out = Cat(PercentOf(share, 1), " of that");
  if (share > 1) {
    AppendTo(&out, "; above 100 %, as the other stages take less than the mean already");
  }
  return out;
}

}  // namespace

std::string WhatIfBlock(const Json& what_if, const Terminal& terminal) {
  const double ideal = NumberField(what_if, "ideal_s");
  const double step = NumberField(what_if, "replayed_s");
  if (!(ideal > 0)) return "";
  const Json& only = ObjectField(what_if, "only");
  const auto columns = TextColumns(terminal);
  const auto line = [&](const std::string& text) {
    return Cat("  ", Wrap(text, columns - 2, "    "), "\n");
  };
  const bool saves = step > ideal;
  std::string out = Cat(Paint(terminal, Ink::kBold, "What if nothing straggled"), "\n");
  AppendTo(&out, line(Cat("ops of usual length everywhere would save ",
                          saves ? Seconds(step - ideal) : "nothing", " of ", Seconds(step),
                          " a step (", Seconds(NumberField(what_if, "measured_s")),
                          " as recorded, with what lies between ops)")));
  AppendTo(&out, line(Cat("repairing one alone would save: ", Repairs(only, step))));
  if (saves && !ListField(only, "stage").empty()) {
    AppendTo(&out, line(Cat("the last stage, by the measure of the what-if paper: ",
                            LastStage(what_if))));
  }
  AppendTo(&out, line(Cat("stragglers' cost by kind of op: ", Kinds(only, ideal, step))));
  return out;
}

}  // namespace fathom::cli
