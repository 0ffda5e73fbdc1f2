#include "diagnosis/wording/command.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace fathom::diagnosis {
namespace {

bool IsPlain(std::string_view name) {
  return !name.empty() && name.front() != '-' &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return absl::ascii_isalnum(c) || c == '.' || c == '_' || c == '-';
         });
}

}  // namespace

std::string CommandWith(std::string_view before, std::string_view name, std::string_view after) {
  if (!IsPlain(name)) return {};
  std::string command(before);
  command.append(name).append(after);
  return command;
}

std::string CommandOnProcess(std::string_view command, const RankFacts* facts) {
  constexpr char kPlace[] = "PID";
  const bool known = facts != nullptr && facts->pid != 0;
  if (!known && command.find(kPlace) != std::string_view::npos) return {};
  const std::string text(command);
  return known ? absl::StrReplaceAll(text, {{kPlace, absl::StrCat(facts->pid)}}) : text;
}

std::string RanksCommand(const JobView& view) {
  return view.iterations_seen > 0 ? CommandWith("fathom get ranks --job ", view.name, " -o wide")
                                  : std::string();
}

}  // namespace fathom::diagnosis
