#include "collector/cli/report/nothing_found.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "collector/cli/render/quantity.h"
#include "collector/cli/render/verdict_view.h"
#include "collector/cli/text/text.h"
#include "collector/import/analysis.h"
#include "collector/import/passed_stretch.h"
#include "diagnosis/hang/records/stopped_job.h"

namespace fathom::cli {
namespace {

// Where iterations vary less, any change worth a verdict stands out.
constexpr double kWorthTelling = 1.2;

// The first iteration of a slow stretch, of the kind that Watch() gave it.
const Json* FirstOf(const Json& report, std::string_view kind) {
  const Json& irregular = ListField(ObjectField(report, "iterations"), "irregular");
  const auto first = std::find_if(irregular.begin(), irregular.end(), [&](const Json& each) {
    return TextField(each, "kind") == kind;
  });
  return first == irregular.end() ? nullptr : &*first;
}

// What is told of a slow stretch that was over; empty where there is none.
std::string PassedStretch(const Json& report) {
  const Json& iterations = ObjectField(report, "iterations");
  std::vector<std::pair<std::int64_t, double>> slow;
  for (const Json& each : ListField(iterations, "irregular")) {
    if (TextField(each, "kind") != collector::kPassed) continue;
    slow.emplace_back(IntField(each, "index"), NumberField(each, "duration_s"));
  }
  if (slow.empty()) return {};
  const auto first = slow.front().first, last = slow.back().first;
  const auto middle = slow.begin() + static_cast<std::ptrdiff_t>(slow.size() / 2);
  std::nth_element(slow.begin(), middle, slow.end(),
                   [](const auto& a, const auto& b) { return a.second < b.second; });
  return Cat("Iterations ", first, " to ", last, " took longer, ", Seconds(middle->second),
             " instead of ", Seconds(NumberField(iterations, "median_s")),
             ", and were as before behind it. Who held them back could not be told: see Not told.");
}

bool Asks(const Json& report, std::string_view question) {
  const Json& abstained = ListField(report, "abstained");
  return std::any_of(abstained.begin(), abstained.end(),
                     [&](const Json& each) { return TextField(each, "question") == question; });
}

// The recordings are dumps of a job that stood still, as a question about it shows.
bool StoodStill(const Json& report) {
  return Asks(report, diagnosis::kWhyItStandsStill) || Asks(report, diagnosis::kWhoHoldsUp) ||
         Asks(report, diagnosis::kWhoBrokeTheOrder);
}

// "Ranks 2 and 5 left no whole dump. "
std::string WithoutDump(const Json& report) {
  const auto missing = IntsField(ObjectField(report, "coverage"), "ranks_missing");
  if (missing.empty()) return "";
  return Cat(missing.size() == 1 ? "Rank " : "Ranks ", RankList(missing), " left no dump. ");
}

bool HoldsRecords(const Json& report) {
  const Json& signals = ListField(ObjectField(report, "coverage"), "signals");
  return std::any_of(signals.begin(), signals.end(), [](const Json& signal) {
    return TextField(signal, "name") == "flight recorder" && TextField(signal, "state") != "off";
  });
}

}  // namespace

std::string NothingFound(const Json& report, double shortest, double longest) {
  const bool untold = !ListField(report, "abstained").empty();
  if (const Json* first = FirstOf(report, "degradation"); first != nullptr) {
    return Cat("The job became slower at iteration ", IntField(*first, "index"),
               ", and who holds it back could not be told",
               untold ? ": see Not told." : " before the recording ended.");
  }
  if (FirstOf(report, "fluctuation") != nullptr && untold) {
    return "Some iterations took longer, and who held the job back could not be told: see Not "
           "told.";
  }
  if (std::string passed = PassedStretch(report); !passed.empty()) return passed;
  const bool no_iterations = IntField(ObjectField(report, "iterations"), "count") == 0;
  if (no_iterations && untold && HoldsRecords(report)) {
    return Cat(
        WithoutDump(report),
        StoodStill(report)
            ? "The job stood still, and who is at fault could not be told: see Not told."
            : "Whether the job stood still, and who is at fault then, could not be told from "
              "these dumps: see Not told.");
  }
  if (no_iterations && untold) {
    return "Whether anything is wrong cannot be told from these recordings: see Not told.";
  }
  if (Asks(report, collector::kWhetherSlower)) {
    return Cat("Nothing wrong was found, but ", collector::kWhetherSlower,
               " could not be told: see Not told.");
  }
  std::string out = "Nothing wrong was found in these recordings.";
  if (shortest > 0 && longest >= kWorthTelling * shortest) {
    out += Cat(" Iterations vary by themselves: 8 of 10 took ", Seconds(shortest), " to ",
               Seconds(longest), "; what adds less does not stand out.");
  }
  return out;
}

}  // namespace fathom::cli
