#include "collector/cli/render/yaml.h"
#include "collector/cli/text/text.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace fathom::cli {
namespace {

constexpr int kMaxDepth = 64;

bool IsPlain(std::string_view text) {
  constexpr std::array<std::string_view, 10> kWords = {"true", "false", "null", "yes", "no",
                                                       "on",   "off",   "y",    "n",   "nan"};
  if (text.empty() || !IsAsciiAlnum(text[0]) || text[0] <= '9') return false;
  const bool safe = std::all_of(text.begin(), text.end(), [](char c) {
    return IsAsciiAlnum(c) || c == '_' || c == '-' || c == '.';
  });
  const std::string lower = LowerCase(text);
  return safe && std::find(kWords.begin(), kWords.end(), lower) == kWords.end();
}

std::string Scalar(const Json& value) {
  if (value.is_string() && IsPlain(value.get_ref<const std::string&>())) {
    return value.get<std::string>();
  }
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool IsBlock(const Json& value, int depth) {
  return value.is_structured() && !value.empty() && depth < kMaxDepth;
}

void Write(const Json& value, int indent, int depth, std::string* out) {
  bool first = true;
  const std::string margin(static_cast<std::size_t>(indent), ' ');
  for (auto at = value.begin(); at != value.end(); ++at) {
    // The first line of a mapping inside a list stands behind the list's dash.
    if (!first || out->empty() || out->back() == '\n') AppendTo(out, margin);
    first = false;
    const bool block = IsBlock(*at, depth + 1);
    if (value.is_array()) {
      AppendTo(out, "- ");
      if (block) Write(*at, indent + 2, depth + 1, out);
    } else {
      AppendTo(out, Scalar(Json(at.key())), ":", block ? "\n" : " ");
      if (block) Write(*at, indent + 2, depth + 1, out);
    }
    if (!block) AppendTo(out, Scalar(*at), "\n");
  }
}

}  // namespace

std::string ToYaml(const Json& value) {
  std::string out;
  if (!IsBlock(value, 0)) return Scalar(value) + "\n";
  Write(value, 0, 0, &out);
  return out;
}

}  // namespace fathom::cli
