#include "diagnosis/evidence/command.h"

#include <algorithm>

#include "absl/strings/ascii.h"

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

}  // namespace fathom::diagnosis
