#include "collector/cli/render/quantity.h"

#include <algorithm>
#include <cmath>
#include <ctime>

#include "absl/strings/str_format.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

std::string ThreeDigits(double value, const char* unit) {
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return absl::StrFormat("%.*f %s", decimals, value, unit);
}

}  // namespace

std::string Seconds(double seconds) {
  if (!(seconds > 0) || !std::isfinite(seconds)) return "-";
  if (seconds < 0.9995e-3) return absl::StrFormat("%.0f us", seconds * 1e6);
  if (seconds < 0.9995) return ThreeDigits(seconds * 1e3, "ms");
  if (seconds < 119.5) return ThreeDigits(seconds, "s");
  const auto whole = static_cast<std::int64_t>(std::min(seconds, 1e15) + 0.5);
  if (whole < 7200) return absl::StrFormat("%d min %d s", whole / 60, whole % 60);
  return absl::StrFormat("%d h %d min", whole / 3600, whole / 60 % 60);
}

std::string GpuTime(double hours) {
  const bool small = hours < 0.1;
  return absl::StrFormat("%.*f GPU-%s", hours * (small ? 3600 : 1) < 9.95 ? 2 : 1,
                         hours * (small ? 3600 : 1), small ? "seconds" : "hours");
}

std::string Times(double ratio) {
  if (!(ratio > 0) || !std::isfinite(ratio)) return "-";
  return absl::StrFormat(ratio < 9.95 ? "%.2fx" : "%.0fx", ratio);
}

std::string LocalTime(std::int64_t unix_ns) {
  if (unix_ns <= 0) return "-";
  const std::time_t seconds = unix_ns / 1'000'000'000;
  std::tm parts{};
  localtime_r(&seconds, &parts);
  char text[32];
  return std::string(text, std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &parts));
}

std::string Ago(std::int64_t unix_ns, std::int64_t now_unix_ns) {
  if (unix_ns <= 0) return "-";
  const std::int64_t age = std::max<std::int64_t>(0, now_unix_ns - unix_ns) / 1'000'000'000;
  if (age < 120) return Cat(age, " s ago");
  if (age < 7200) return Cat(age / 60, " min ago");
  if (age < 172800) return Cat(age / 3600, " h ago");
  return Cat(age / 86400, " days ago");
}

std::string Number(double value) {
  if (!std::isfinite(value)) return "-";
  return absl::StrFormat(std::abs(value) >= 1000 ? "%.0f" : "%.4g", value);
}

std::string Percent(double share) { return absl::StrFormat("%.1f %%", 100 * share); }

std::string PercentOf(double part, double whole) {
  return absl::StrFormat("%.0f %%", whole > 0 ? 100 * part / whole : 0.0);
}

std::string Counted(std::size_t count, std::string_view what) {
  return Cat(count, " ", what, count == 1 ? "" : "s");
}

}  // namespace fathom::cli
