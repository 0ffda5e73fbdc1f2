#include "collector/cli/remedy/backend/placeholders.h"

#include <filesystem>
#include <map>
#include <string_view>

#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

using Values = std::map<std::string, std::string, std::less<>>;

Values ValuesOf(const Remedy& remedy, const std::string& node, Step step) {
  return {{"node", node},
          {"job", remedy.job},
          {"id", remedy.id},
          {"sick", remedy.sick},
          {"spare", remedy.spare},
          {"checkpoint", remedy.checkpoint},
          {"step", std::string(Word(step))}};
}

// The name at `at` of "{name}"; empty: no placeholder begins there.
std::string_view NameAt(std::string_view word, std::size_t at) {
  if (word[at] != '{') return "";
  const std::size_t end = word.find('}', at);
  if (end == word.npos) return "";
  const std::string_view name = word.substr(at + 1, end - at - 1);
  return name.find_first_not_of("abcdefghijklmnopqrstuvwxyz") == name.npos ? name : "";
}

std::string QuotedForShell(const std::string& word) {
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

absl::Status CheckPlaceholders(const std::vector<std::string>& words) {
  const Values known = ValuesOf({}, "", Step::kNone);
  for (const std::string& word : words) {
    for (std::size_t at = 0; at < word.size(); ++at) {
      const std::string_view name = NameAt(word, at);
      if (!name.empty() && !known.contains(name)) {
        return absl::InvalidArgumentError(Cat("'", word, "': there is no {", name,
                                              "}, but {node}, {job}, {id}, {sick}, {spare}, "
                                              "{checkpoint}, {step}"));
      }
    }
  }
  return absl::OkStatus();
}

std::string Filled(const std::string& word, const Remedy& remedy, const std::string& node,
                   Step step) {
  const Values values = ValuesOf(remedy, node, step);
  std::string filled;
  for (std::size_t at = 0; at < word.size(); ++at) {
    const std::string_view name = NameAt(word, at);
    const auto value = values.find(name);
    if (value == values.end()) {
      filled += word[at];
      continue;
    }
    filled += value->second;
    at += name.size() + 1;
  }
  return filled;
}

std::vector<std::string> Filled(const std::vector<std::string>& words, const Remedy& remedy,
                                const std::string& node, Step step) {
  std::vector<std::string> filled;
  for (const std::string& word : words) filled.push_back(Filled(word, remedy, node, step));
  return filled;
}

std::vector<std::string> Behind(std::vector<std::string> prefix,
                                const std::vector<std::string>& command) {
  const bool shell = !prefix.empty() && std::filesystem::path(prefix.front()).filename() == "ssh";
  for (const std::string& word : command) prefix.push_back(shell ? QuotedForShell(word) : word);
  return prefix;
}

}  // namespace fathom::cli
