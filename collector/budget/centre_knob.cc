#include "collector/budget/centre_knob.h"

#include <absl/strings/str_format.h>

#include <array>

#include "collector/budget/centre_work.h"

namespace fathom::collector {
namespace {

constexpr std::array<service::KnobFacts, kCentreKnobs> kFacts = {{
    {"looks", 4, {250, 500, 1000, 2000}, {0, 0.1, 0.3, 0.7}},
    {"paths", 3, {2000, 4000, 8000}, {0, 0.15, 0.4}},
    {"news", 4, {1000, 2000, 5000, 10'000}, {0, 0.05, 0.15, 0.3}},
    {"writes", 4, {1, 2, 4, 8}, {0, 0.05, 0.15, 0.4}},
    {"captures", 3, {1, 0.5, 0.25}, {0, 0.5, 1.2}},
    {"shown", 4, {1, 0.5, 0.25, 0.125}, {0, 0.1, 0.3, 0.8}},
}};

}  // namespace

const service::KnobFacts& FactsOf(CentreKnob knob) {
  return kFacts[static_cast<std::size_t>(knob)];
}

std::string RateInWords(CentreKnob knob, std::size_t level) {
  const double value = FactsOf(knob).values[level];
  switch (knob) {
    case CentreKnob::kLooks:
    case CentreKnob::kPaths:
    case CentreKnob::kNews:
      return absl::StrFormat("every %.0f ms", value);
    case CentreKnob::kWrites:
      return level == 0 ? "as set" : absl::StrFormat("%.0f times the rest", value);
    case CentreKnob::kCaptures:
      return level == 0 ? "as set" : absl::StrFormat("%.0f %% of those an hour", 100 * value);
    case CentreKnob::kShown:
      return level == 0 ? "as set" : absl::StrFormat("%.1f %% of the rows", 100 * value);
  }
  return "";
}

const char* NameOf(CentrePart part) {
  constexpr std::array<const char*, kCentreParts> kNames = {
      "messages", "journal", "rows",     "turns",  "looks",   "urgent",  "diagnosis", "paths",
      "captures", "news",    "accounts", "writes", "answers", "scrapes", "exports"};
  return kNames[static_cast<std::size_t>(part)];
}

}  // namespace fathom::collector
