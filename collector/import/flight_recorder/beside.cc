#include "collector/import/flight_recorder/beside.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "absl/strings/str_cat.h"

namespace fathom::collector::flight_recorder {
namespace {

bool IsLight(const DumpEntry& entry) {
  return entry.from_thread && !entry.is_p2p && !entry.closes_batch &&
         std::max(entry.elements, entry.output_elements) <= kLightElements;
}

bool CarriesData(const DumpEntry& entry) {
  return !entry.from_thread && std::max(entry.elements, entry.output_elements) > kLightElements;
}

// Names of groups that nobody uses for anything else; empty where no data goes elsewhere, or
// nothing else is open.
std::set<std::string> FindBeside(const std::map<RankId, Dump>& dumps) {
  std::set<std::string> light, heavy;
  bool data = false, stuck = false;
  for (const auto& [rank, dump] : dumps) {
    for (const DumpEntry& entry : dump.entries) {
      if (entry.group_name.empty()) return {};  // whose it is cannot be told here
      (IsLight(entry) ? light : heavy).insert(entry.group_name);
      data = data || CarriesData(entry);
    }
  }
  for (const std::string& name : heavy) light.erase(name);
  for (const auto& [rank, dump] : dumps) {
    stuck = stuck || std::any_of(dump.entries.begin(), dump.entries.end(), [&](const auto& entry) {
              return entry.open && !light.contains(entry.group_name);
            });
  }
  return data && stuck ? light : std::set<std::string>();
}

void LeaveOut(const std::set<std::string>& beside, Dump& dump) {
  std::set<std::int64_t> numbers;
  for (const DumpEntry& entry : dump.entries) {
    if (beside.contains(entry.group_name)) numbers.insert(entry.pg_id);
  }
  std::erase_if(dump.entries,
                [&](const DumpEntry& entry) { return beside.contains(entry.group_name); });
  std::erase_if(dump.status,
                [&](const DumpStatus& status) { return numbers.contains(status.pg_id); });
  dump.left_out = dump.left_out || !numbers.empty();
}

}  // namespace

bool IsFromThread(const Value* frames) {
  if (frames == nullptr || frames->Items().empty()) return false;
  const Value& outermost = *frames->Items().back();
  const Value* file = outermost.Find("filename");
  const Value* name = outermost.Find("name");
  if (file == nullptr || name == nullptr) return false;
  const std::string_view where = file->Text().value_or("");
  return name->Text().value_or("") == "_bootstrap" &&
         (where == "threading.py" || where.ends_with("/threading.py"));
}

void LeaveOutBeside(std::map<RankId, Dump>& dumps, std::vector<std::string>& notes) {
  const std::set<std::string> beside = FindBeside(dumps);
  if (beside.empty()) return;
  for (auto& [rank, dump] : dumps) LeaveOut(beside, dump);
  for (const std::string& name : beside) {
    notes.push_back(
        absl::StrCat("group ", name, " is left out: only a thread beside the training uses it"));
  }
}

}  // namespace fathom::collector::flight_recorder
