#include "collector/import/kineto/user_marks.h"

#include <algorithm>
#include <map>
#include <optional>

#include "absl/strings/str_cat.h"
#include "collector/import/kineto/trace/comm_joiner.h"

namespace fathom::collector::kineto {
namespace {

constexpr double kMostOfTrace = 0.8;
constexpr std::size_t kFewestMarks = 2;

using Kinds = std::vector<CollectiveKind>;
using MarksByName = std::map<std::string, std::vector<Stretch>>;

// Of the training thread, by begin; those that lie within one of the same name are none.
MarksByName MarksOf(const RankTrace& trace) {
  const std::int64_t thread = TrainingThread(trace);
  MarksByName marks;
  for (const PythonCall& each : trace.annotations) {
    if (each.thread != thread) continue;
    std::vector<Stretch>& all = marks[each.name];
    if (all.empty() || each.begin >= all.back().end) all.push_back({each.begin, each.end});
  }
  return marks;
}

bool Covers(const std::vector<Stretch>& marks, const RankTrace& trace) {
  std::int64_t covered = 0;
  for (const Stretch& mark : marks) covered += mark.end - mark.begin;
  const auto whole = static_cast<double>(trace.last - trace.first);
  return marks.size() >= kFewestMarks && static_cast<double>(covered) >= kMostOfTrace * whole;
}

// What was called from each mark to the next.
std::vector<Kinds> CallsOf(const std::vector<Stretch>& marks, const RankTrace& trace) {
  std::vector<Kinds> calls(marks.size());
  for (const CommEvent& comm : trace.comms) {
    if (comm.part != CommPart::kCall || IsPointToPoint(comm.kind)) continue;
    const auto after =
        std::upper_bound(marks.begin(), marks.end(), comm.begin,
                         [](std::int64_t time, const Stretch& mark) { return time < mark.begin; });
    if (after != marks.begin()) {
      calls[static_cast<std::size_t>(after - marks.begin()) - 1].push_back(comm.kind);
    }
  }
  return calls;
}

bool Fits(const std::string& name, const std::vector<MarksByName>& of_ranks,
          const std::vector<RankTrace>& traces) {
  std::vector<Kinds> first;
  for (std::size_t i = 0; i < traces.size(); ++i) {
    const auto found = of_ranks[i].find(name);
    if (found == of_ranks[i].end() || !Covers(found->second, traces[i])) return false;
    std::vector<Kinds> calls = CallsOf(found->second, traces[i]);
    if (i == 0) {
      first = std::move(calls);
    } else if (calls != first) {
      return false;
    }
  }
  return std::any_of(first.begin(), first.end(), [](const Kinds& kinds) { return !kinds.empty(); });
}

std::optional<std::string> NameOfSteps(const std::vector<MarksByName>& of_ranks,
                                       const std::vector<RankTrace>& traces) {
  std::optional<std::string> best;
  std::size_t least = 0;
  for (const auto& [name, marks] : of_ranks.front()) {
    if (best && marks.size() >= least) continue;
    if (!Fits(name, of_ranks, traces)) continue;
    best = name;
    least = marks.size();
  }
  return best;
}

void PutMarks(const std::vector<Stretch>& marks, RankTrace& trace) {
  const std::int64_t thread = TrainingThread(trace);
  for (std::size_t i = 0; i < marks.size(); ++i) {
    trace.steps.push_back(
        {static_cast<std::int64_t>(i), marks[i].begin, marks[i].end, thread, kAbsent});
  }
}

}  // namespace

std::string MarkStepsOfUser(std::vector<RankTrace>& traces) {
  std::vector<MarksByName> of_ranks;
  for (const RankTrace& trace : traces) {
    if (!trace.steps.empty()) return {};
    of_ranks.push_back(MarksOf(trace));
  }
  if (traces.empty()) return {};
  const std::optional<std::string> name = NameOfSteps(of_ranks, traces);
  if (!name) return {};
  for (std::size_t i = 0; i < traces.size(); ++i) PutMarks(of_ranks[i].at(*name), traces[i]);
  return absl::StrCat("no trace has ProfilerStep marks: each \"", *name, "\" is taken for one");
}

}  // namespace fathom::collector::kineto
