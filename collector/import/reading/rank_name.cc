#include "collector/import/reading/rank_name.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace fathom::collector {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::optional<RankId> Number(std::string_view digits) {
  std::uint32_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value);
  if (error != std::errc() || stop != end || value == kNoRank.value) return std::nullopt;
  return RankId(value);
}

}  // namespace

std::optional<RankId> RankOfFileName(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  const std::size_t word = name.rfind("rank");
  if (word != std::string_view::npos) {
    std::string_view rest = name.substr(word + 4);
    while (!rest.empty() && (rest[0] == '_' || rest[0] == '-' || rest[0] == '.')) {
      rest.remove_prefix(1);
    }
    const auto end = std::find_if_not(rest.begin(), rest.end(), IsDigit);
    if (end != rest.begin())
      return Number(rest.substr(0, static_cast<std::size_t>(end - rest.begin())));
  }
  // ".json.gz", ".pickle": extensions hold no number.
  for (std::size_t dot = name.rfind('.'); dot != std::string_view::npos && dot > 0;
       dot = name.rfind('.')) {
    if (std::all_of(name.begin() + static_cast<std::ptrdiff_t>(dot) + 1, name.end(), IsDigit))
      break;
    name = name.substr(0, dot);
  }
  std::size_t begin = name.size();
  while (begin > 0 && IsDigit(name[begin - 1])) --begin;
  return begin == name.size() ? std::nullopt : Number(name.substr(begin));
}

}  // namespace fathom::collector
