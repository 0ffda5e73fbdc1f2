#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "collector/import/side_files/json_tree.h"
#include "collector/import/side_files/side_files.h"

namespace fathom::collector::side_files {
namespace {

using diagnosis::ProcessState;

ProcessState StateOf(std::string_view letter) {
  if (letter.empty()) return ProcessState::kUnknown;
  switch (letter[0]) {
    case 'R':
      return ProcessState::kRunning;
    case 'S':
    case 'I':
      return ProcessState::kSleeping;
    case 'D':
      return ProcessState::kUninterruptible;
    case 'T':
    case 't':
      return ProcessState::kStopped;
    case 'Z':
      return ProcessState::kZombie;
    case 'X':
      return ProcessState::kGone;
    default:
      return ProcessState::kUnknown;
  }
}

void AddMainThread(const Json& process, std::int64_t pid, diagnosis::RankFacts& facts) {
  const Json* threads = At(process, "threads");
  if (threads == nullptr || !threads->is_array()) return;
  for (const Json& thread : *threads) {
    if (IntegerAt(thread, "tid") != pid) continue;
    facts.wait_channel = TextAt(thread, "wchan");
    facts.cpu_while_silent = Nanos(IntegerAt(thread, "cpu_ms_in_1s") * 1'000'000);
    facts.silent_for = Nanos(1'000'000'000);  // the second over which it was measured
  }
}

void AddProcess(const Json& process, diagnosis::RankFacts& facts) {
  const std::int64_t pid = IntegerAt(process, "pid");
  if (pid > 0 && pid <= 0x7fffffff) facts.pid = static_cast<std::uint32_t>(pid);
  facts.state = StateOf(TextAt(process, "state"));
  const Json* alive = At(process, "alive");
  if (alive != nullptr && alive->is_boolean() && !alive->get<bool>()) {
    facts.state = ProcessState::kGone;
  }
  AddMainThread(process, pid, facts);
}

}  // namespace

bool AddProcesses(std::string_view text, Recording& recording) {
  const Json json = Parse(text);
  if (!json.is_object()) return false;
  bool any = false;
  for (const auto& [key, process] : json.items()) {
    const auto rank = Unsigned(key);
    if (!rank || RecordOf(recording, RankId(*rank)) == nullptr) continue;
    AddProcess(process, FactsOf(recording, RankId(*rank)));
    any = true;
  }
  return any;
}

}  // namespace fathom::collector::side_files
