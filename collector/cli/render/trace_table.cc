#include "collector/cli/render/trace_table.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "collector/cli/render/quantity.h"
#include "collector/cli/render/table.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

constexpr auto kRight = Table::Align::kRight;

// What a reason's word means to whoever reads it.
std::string Explain(const std::string& reason) {
  constexpr std::pair<const char*, const char*> kWords[] = {
      {"agent_away", "the agent of its node is not connected"},
      {"no_op", "it has not come to that iteration yet; it switches when it does"},
      {"no_period", "no iteration of it is known"},
      {"old_tracer", "its tracer is too old to be switched"},
      {"only_source",
       "nothing else tells of its iterations: it is on its own, or links NCCL statically"},
      {"process_gone", "its process is gone"},
      {"replaced", "a newer order took its place"},
      {"unknown_rank", "there is no such rank"}};
  for (const auto& [word, meaning] : kWords) {
    if (reason == word) return meaning;
  }
  return reason;
}

std::string SwitchedOff(const Json& trace) {
  const Json& off = ObjectField(trace, "switched_off");
  if (off.empty()) return "nothing is switched off\n";
  std::string out;
  for (auto at = off.begin(); at != off.end(); ++at) {
    const auto count = static_cast<std::size_t>(IntField(off, at.key().c_str()));
    AppendTo(&out, at.key(), " is switched off on ", Counted(count, "rank"), "\n");
  }
  return out;
}

}  // namespace

std::string TraceTable(const Json& trace) {
  if (ListField(trace, "ranks").empty()) return SwitchedOff(trace);
  Table table({{"RANK", kRight}, {"STATE"}, {"BEHIND OP", kRight}, {"WHY"}});
  for (const Json& rank : ListField(trace, "ranks")) {
    const bool done = TextField(rank, "state") == "done";
    table.Add({Cat(IntField(rank, "rank")), TextField(rank, "state"),
               done ? Cat(IntField(rank, "at_sequence")) : "", Explain(TextField(rank, "reason"))});
  }
  return Cat("from iteration ", IntField(trace, "first_iteration"), " on\n", table.ToString(), "\n",
             SwitchedOff(trace));
}

std::string StacksText(const Json& stacks) {
  std::vector<std::pair<std::string, std::string>> parts;  // stack, ranks
  for (const Json& rank : ListField(stacks, "ranks")) {
    std::string text;
    for (const Json& frame : ListField(rank, "frames")) {
      AppendTo(&text, "    ", frame.is_string() ? frame.get<std::string>() : "", "\n");
    }
    if (text.empty()) text = Cat("    none: ", Explain(TextField(rank, "reason")), "\n");
    const std::string name = Cat(IntField(rank, "rank"));
    const auto same = [&](const auto& part) { return part.first == text; };
    const auto at = std::find_if(parts.begin(), parts.end(), same);
    if (at == parts.end()) {
      parts.emplace_back(text, name);
    } else {
      AppendTo(&at->second, ", ", name);
    }
  }
  std::string out;
  for (const auto& [text, ranks] : parts) {
    AppendTo(&out, ranks.find(',') == std::string::npos ? "rank " : "ranks ", ranks, "\n", text);
  }
  return out;
}

}  // namespace fathom::cli
