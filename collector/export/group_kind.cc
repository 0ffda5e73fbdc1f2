#include "collector/export/group_kind.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <string_view>
#include <utility>

namespace fathom::collector {
namespace {

constexpr std::pair<std::string_view, const char*> kWords[] = {
    {"tensor", "tensor"}, {"pipeline", "pipeline"}, {"expert", "expert"},  {"context", "context"},
    {"data", "data"},     {"tp", "tensor"},         {"pp", "pipeline"},    {"ep", "expert"},
    {"cp", "context"},    {"dp", "data"},           {"replicate", "data"}, {"shard", "data"}};

// `word` stands by itself in `text`, or is long enough to be meant as it stands.
bool Says(std::string_view text, std::string_view word) {
  const auto letter = [&](std::size_t i) {
    return i < text.size() && std::isalpha(static_cast<unsigned char>(text[i])) != 0;
  };
  for (auto at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const bool alone = (at == 0 || !letter(at - 1)) && !letter(at + word.size());
    if (alone || word.size() > 2) return true;
  }
  return false;
}

}  // namespace

std::string GroupKind(const diagnosis::Group& group, std::uint32_t world_size) {
  std::string text = group.description + " " + group.name;
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (Says(text, "default_pg")) return "world";
  for (const auto& [word, kind] : kWords) {
    if (Says(text, word)) return kind;
  }
  return world_size > 0 && group.size == world_size ? "world" : "unknown";
}

std::string GroupIdText(GroupId id) {
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(id.value));
  return text;
}

}  // namespace fathom::collector
