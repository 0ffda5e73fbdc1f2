// Numbers for people: durations, ratios, times of day, ages, with the precision that matters.
//
// Used by render/. Thread-safety: pure functions (times of day read TZ through localtime_r).
#ifndef FATHOM_COLLECTOR_CLI_RENDER_QUANTITY_H_
#define FATHOM_COLLECTOR_CLI_RENDER_QUANTITY_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace fathom::cli {

// "830 us", "41.2 ms", "1.50 s", "3 min 20 s"; "-" for a value that is not positive.
std::string Seconds(double seconds);
// "15.7 GPU-seconds", "3.2 GPU-hours".
std::string GpuTime(double hours);
// "2.4x"; "-" for 0.
std::string Times(double ratio);
// "2026-11-21 12:03:44" local time; "-" for 0.
std::string LocalTime(std::int64_t unix_ns);
// "3 s ago", "5 min ago", "2 h ago"; "-" for 0.
std::string Ago(std::int64_t unix_ns, std::int64_t now_unix_ns);
// At most four significant digits, no exponent for everyday sizes: "98.4", "0.003", "12".
std::string Number(double value);
// "12.3 %" of 0.123.
std::string Percent(double share);
// "42 %"; "0 %" of nothing.
std::string PercentOf(double part, double whole);
// "1 rank", "4 ranks".
std::string Counted(std::size_t count, std::string_view what);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_RENDER_QUANTITY_H_
