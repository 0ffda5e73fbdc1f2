#include "collector/cli/remedy/still_wanted.h"

#include "collector/cli/render/verdict_view.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

std::string NodeOf(const Json& verdict) {
  return TextField(ObjectField(verdict, "entity"), "node");
}

std::string WhyNot(const Json& verdict, bool weak) {
  const std::string proof = TextField(ObjectField(verdict, "proof"), "state");
  if (proof == "refuted") return "a probe of the node speaks against the verdict";
  const std::string grade = TextField(verdict, "grade");
  if (weak || grade == "established" || proof == "confirmed") return "";
  return Cat("the verdict is no longer established (", grade, ")");
}

}  // namespace

std::string WhyNotAnyMore(const Json& verdicts, const std::string& verdict, const Remedy& remedy,
                          bool weak) {
  std::string why = Cat("verdict ", verdict, " on ", remedy.sick, " is no longer open");
  for (const Json& each : ListField(verdicts, "verdicts")) {
    if (!IsOpen(each)) continue;
    const bool same = TextField(each, "id") == verdict;
    if (NodeOf(each) != remedy.sick) {
      if (same) why = Cat("verdict ", verdict, " names ", NodeOf(each), " now");
      continue;
    }
    const std::string not_this = WhyNot(each, weak);
    if (not_this.empty()) return "";
    why = not_this;
  }
  return why;
}

std::string WhyNotThere(const Json& verdicts, const Remedy& remedy) {
  for (const Json& each : ListField(verdicts, "verdicts")) {
    const bool counts = GradeStrength(TextField(each, "grade")) >= GradeStrength("supported");
    if (IsOpen(each) && counts && !remedy.spare.empty() && NodeOf(each) == remedy.spare)
      return Cat("verdict ", TextField(each, "id"), " names the spare, ", remedy.spare);
  }
  return "";
}

JobPace PaceOf(const Json& job, const Remedy& remedy) {
  JobPace pace;
  pace.iteration = IntField(job, "iteration", -1);
  pace.iteration_s = NumberField(job, "iteration_s");
  std::int64_t living = 0;
  for (const Json& rank : ListField(job, "rank_info")) {
    if (TextField(rank, "state") == "gone") continue;
    if (TextField(rank, "node") == remedy.sick) return pace;
    ++living;
  }
  pace.without_sick = living > 0 && living >= IntField(job, "world_size");
  return pace;
}

std::vector<std::int64_t> PidsOn(const Json& job, const std::string& node) {
  std::vector<std::int64_t> pids;
  for (const Json& rank : ListField(job, "rank_info")) {
    if (TextField(rank, "node") == node) pids.push_back(IntField(rank, "pid"));
  }
  return pids;
}

}  // namespace fathom::cli
