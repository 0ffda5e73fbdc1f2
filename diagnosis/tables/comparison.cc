#include "diagnosis/tables/comparison.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "diagnosis/stats/robust.h"

namespace fathom::diagnosis {
namespace {

constexpr const char* kCompute = "compute";
constexpr const char* kCommunication = "communication";
constexpr const char* kCopies = "copies";
constexpr const char* kIdle = "idle";

double PerIteration(const JobTables& tables) {
  const double count = static_cast<double>(tables.iterations.size() * tables.ranks.size());
  return count > 0 ? 1 / count : 0;
}

PartChange KindChange(const char* what, double Breakdown::*part, const JobTables& after,
                      const JobTables& before) {
  PartChange change{what, what, 0, 0};
  for (const RankTables& rank : before.ranks) change.before += rank.breakdown.*part;
  for (const RankTables& rank : after.ranks) change.after += rank.breakdown.*part;
  change.before *= PerIteration(before);
  change.after *= PerIteration(after);
  return change;
}

bool StartsWithOneOf(const std::string& name, std::initializer_list<std::string_view> starts) {
  return std::any_of(starts.begin(), starts.end(), [&name](std::string_view start) {
    return std::string_view(name).substr(0, start.size()) == start;
  });
}

// An op of the framework that communicates counts as such: its time is not computing.
const char* KindOf(const KernelRow& row) {
  if (row.kind == "copy") return kCopies;
  const bool talks = row.kind == "communication" ||
                     StartsWithOneOf(row.name, {"c10d::", "gloo:", "nccl:", "record_param_comms"});
  return talks ? kCommunication : kCompute;
}

using Parts = std::map<std::string, PartChange>;

void AddParts(const JobTables& tables, double PartChange::*when, Parts& parts) {
  const double each = PerIteration(tables);
  for (const RankTables& rank : tables.ranks) {
    for (const KernelRow& row : rank.kernels) {
      const char* const what = row.kind == "op" ? "op " : row.kind == "copy" ? "copy " : "kernel ";
      PartChange& part = parts[absl::StrCat(what, row.name)];
      part.kind = KindOf(row);
      part.*when += row.sum * each;
    }
  }
}

// The smaller of the two shares that lie in parts which both have; 1 where one has no parts.
double SharedTime(const Parts& parts) {
  double before = 0, after = 0, shared_before = 0, shared_after = 0;
  for (const auto& [what, part] : parts) {
    before += part.before;
    after += part.after;
    if (part.before <= 0 || part.after <= 0) continue;
    shared_before += part.before;
    shared_after += part.after;
  }
  if (before <= 0 || after <= 0) return 1;
  return std::min(shared_before / before, shared_after / after);
}

// Empty: they can be of one job.
std::string WhyUnrelated(const JobTables& after, const JobTables& before, const Parts& parts,
                         double least_shared) {
  const std::uint32_t now = after.world_size, then = before.world_size;
  if (now > 0 && then > 0 && now != then) {
    return absl::StrFormat("this one has %d rank%s, the other %d", now, now == 1 ? "" : "s", then);
  }
  const double shared = SharedTime(parts);
  if (shared >= least_shared) return "";
  return absl::StrFormat("only %.0f %% of the time lies in kernels and ops that both have",
                         100 * shared);
}

std::vector<PartChange> LargestOf(Parts parts, const Comparison& comparison) {
  const PartChange* const leading = comparison.LeadingKind();
  const double sign = comparison.growth() < 0 ? -1 : 1;
  const double worth = kWorthNaming * std::abs(comparison.growth());
  std::vector<PartChange> changed;
  for (auto& [what, part] : parts) {
    part.what = what;
    if (std::abs(part.growth()) >= worth) changed.push_back(std::move(part));
  }
  const auto explains = [&](const PartChange& part) {
    return leading != nullptr && part.kind == leading->kind && part.growth() * sign > 0;
  };
  std::stable_sort(changed.begin(), changed.end(), [&](const PartChange& a, const PartChange& b) {
    if (explains(a) != explains(b)) return explains(a);
    return std::abs(a.growth()) > std::abs(b.growth());
  });
  if (changed.size() > kPartsNamed) changed.resize(kPartsNamed);
  return changed;
}

Outcome OutcomeOf(const Comparison& comparison, const Chances& chances,
                  const DiagnosisConfig& config) {
  if (chances.rise < config.recorded_chance &&
      comparison.after > config.delta * comparison.before) {
    return Outcome::kSlower;
  }
  if (chances.fall < config.recorded_chance &&
      comparison.before > config.delta * comparison.after) {
    return Outcome::kFaster;
  }
  return Outcome::kSame;
}

}  // namespace

const PartChange* Comparison::LeadingKind() const {
  const double sign = growth() < 0 ? -1 : 1;
  const PartChange* leading = nullptr;
  for (const PartChange& kind : kinds) {
    const double change = kind.growth() * sign;
    if (change > 0 && (leading == nullptr || change > leading->growth() * sign)) leading = &kind;
  }
  return leading;
}

std::vector<double> Durations(const JobTables& tables) {
  std::vector<double> durations;
  for (const IterationRow& row : tables.iterations) durations.push_back(row.duration);
  if (durations.size() > 2) durations.erase(durations.begin());
  return durations;
}

Comparison Compare(const JobTables& after, const JobTables& before,
                   const std::optional<Chances>& chances, const DiagnosisConfig& config) {
  Comparison comparison;
  comparison.most_chance = config.recorded_chance;
  comparison.established_chance = config.sure_chance();
  comparison.after = Median(Durations(after));
  comparison.before = Median(Durations(before));
  Parts parts;
  AddParts(before, &PartChange::before, parts);
  AddParts(after, &PartChange::after, parts);
  comparison.why = WhyUnrelated(after, before, parts, config.mostly_share);
  if (!comparison.why.empty()) {
    comparison.outcome = Outcome::kUnrelated;
    return comparison;
  }
  if (comparison.before <= 0 || comparison.after <= 0) {
    comparison.why = "iterations of both recordings";
    return comparison;
  }
  if (chances) {
    comparison.chance = comparison.growth() < 0 ? chances->fall : chances->rise;
    comparison.outcome = OutcomeOf(comparison, *chances, config);
  } else {
    comparison.why = "more iterations of both recordings";
  }
  if (after.ranks.empty() || before.ranks.empty()) return comparison;
  comparison.kinds = {KindChange(kCompute, &Breakdown::compute, after, before),
                      KindChange(kCommunication, &Breakdown::communication, after, before),
                      KindChange(kCopies, &Breakdown::copies, after, before),
                      KindChange(kIdle, &Breakdown::idle, after, before)};
  comparison.parts = LargestOf(std::move(parts), comparison);
  return comparison;
}

}  // namespace fathom::diagnosis
