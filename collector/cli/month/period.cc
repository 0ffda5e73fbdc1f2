#include "collector/cli/month/period.h"

#include <string_view>

#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

constexpr std::int64_t kMostHours = 2 * 365 * 24;

std::int64_t HoursIn(char unit) {
  switch (unit) {
    case 'h':
      return 1;
    case 'd':
      return 24;
    case 'w':
      return 7 * 24;
    default:
      return 0;
  }
}

}  // namespace

absl::StatusOr<std::int64_t> HoursOf(const std::string& period) {
  const std::int64_t unit = period.empty() ? 0 : HoursIn(period.back());
  std::int64_t count = 0;
  const bool number =
      unit > 0 && ReadNumber(std::string_view(period).substr(0, period.size() - 1), &count);
  if (!number || count < 1 || count > kMostHours / unit) {
    return absl::InvalidArgumentError(Cat(
        "'", period, "' is no period; write hours, days or weeks up to two years: 36h, 30d, 8w"));
  }
  return count * unit;
}

}  // namespace fathom::cli
