#include "collector/config/host_list.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

namespace fathom::collector {
namespace {

absl::Status Wrong(std::string_view text, std::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("'", std::string(text.substr(0, 80)), "': ", std::string(why)));
}

bool Number(std::string_view text, std::uint64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

// "01-03" or "7".
absl::Status AddRange(std::string_view range, std::size_t most, std::vector<std::string>& numbers) {
  const std::size_t dash = range.find('-');
  const std::string_view first = range.substr(0, dash);
  const std::string_view last = dash == std::string_view::npos ? first : range.substr(dash + 1);
  std::uint64_t from = 0, to = 0;
  if (!Number(first, from) || !Number(last, to)) {
    return Wrong(range, "a range is two numbers with - between, or one number");
  }
  if (to < from) return Wrong(range, "the range ends before it begins");
  if (to - from >= most) return Wrong(range, absl::StrCat("more than ", most, " names"));
  for (std::uint64_t n = from; n <= to; ++n) {
    std::string number = absl::StrCat(n);
    if (number.size() < first.size()) number.insert(0, first.size() - number.size(), '0');
    numbers.push_back(std::move(number));
  }
  return absl::OkStatus();
}

// One name with its brackets.
absl::Status AddName(std::string_view name, std::size_t most, std::vector<std::string>& out) {
  std::vector<std::string> names{""};
  while (!name.empty()) {
    const std::size_t open = name.find('[');
    for (std::string& each : names) each += std::string(name.substr(0, open));
    if (open == std::string_view::npos) break;
    const std::size_t close = name.find(']', open);
    if (close == std::string_view::npos) return Wrong(name, "'[' without ']'");
    std::vector<std::string> numbers, longer;
    const std::vector<std::string> ranges =
        absl::StrSplit(std::string(name.substr(open + 1, close - open - 1)), ',');
    for (const std::string& range : ranges) {
      if (auto status = AddRange(range, most, numbers); !status.ok()) return status;
    }
    if (names.size() * numbers.size() > most) {
      return Wrong(name, absl::StrCat("more than ", most, " names"));
    }
    for (const std::string& each : names) {
      for (const std::string& number : numbers) longer.push_back(each + number);
    }
    names = std::move(longer);
    name = name.substr(close + 1);
  }
  if (names.front().empty()) return Wrong(name, "a name is missing between commas");
  out.insert(out.end(), names.begin(), names.end());
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ExpandHostList(std::string_view text, std::size_t most) {
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin <= text.size();) {
    std::size_t end = begin, depth = 0;
    for (; end < text.size() && (text[end] != ',' || depth > 0); ++end) {
      if (text[end] == ']' && depth == 0) return Wrong(text.substr(begin), "']' without '['");
      depth += text[end] == '[' ? 1 : 0;
      depth -= text[end] == ']' ? 1 : 0;
    }
    if (auto status = AddName(text.substr(begin, end - begin), most, out); !status.ok()) {
      return status;
    }
    if (out.size() > most) return Wrong(text, absl::StrCat("more than ", most, " names"));
    begin = end + 1;
  }
  return out;
}

}  // namespace fathom::collector
