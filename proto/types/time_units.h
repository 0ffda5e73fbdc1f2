// Times with their clock in the type: nanosecond counts that cannot be mixed up.
//
//   Nanos    a duration. May be negative.
//   MonoNs   a point on one node's CLOCK_MONOTONIC. Comparable only within that node and boot.
//   WallNs   a point on CLOCK_REALTIME, ns since the Unix epoch. Comparable across nodes as far as
//            their clocks are set; used for display, never to decide who came late.
//
// std only. Thread-safety: values. Cost: none.
#ifndef FATHOM_PROTO_TYPES_TIME_UNITS_H_
#define FATHOM_PROTO_TYPES_TIME_UNITS_H_

#include <compare>
#include <cstdint>

namespace fathom {

struct Nanos {
  std::int64_t count = 0;

  constexpr Nanos() = default;
  constexpr explicit Nanos(std::int64_t ns) : count(ns) {}
  // Requires: |s| < 2^63 ns, some 292 years.
  static constexpr Nanos FromSeconds(double s) { return Nanos(static_cast<std::int64_t>(s * 1e9)); }
  constexpr double Seconds() const { return static_cast<double>(count) * 1e-9; }
  constexpr double Millis() const { return static_cast<double>(count) * 1e-6; }

  friend constexpr auto operator<=>(const Nanos&, const Nanos&) = default;
  friend constexpr Nanos operator+(Nanos a, Nanos b) { return Nanos(a.count + b.count); }
  friend constexpr Nanos operator-(Nanos a, Nanos b) { return Nanos(a.count - b.count); }
  friend constexpr Nanos operator-(Nanos a) { return Nanos(-a.count); }
  friend constexpr Nanos operator*(Nanos a, std::int64_t k) { return Nanos(a.count * k); }
  friend constexpr Nanos operator/(Nanos a, std::int64_t k) { return Nanos(a.count / k); }
  constexpr Nanos& operator+=(Nanos b) { return count += b.count, *this; }
  constexpr Nanos& operator-=(Nanos b) { return count -= b.count, *this; }
};

// A point in time of the clock named by Tag; 0 means "not known".
template <typename Tag>
struct TimePoint {
  std::int64_t ns = 0;

  constexpr TimePoint() = default;
  constexpr explicit TimePoint(std::int64_t n) : ns(n) {}
  constexpr bool known() const { return ns != 0; }

  friend constexpr auto operator<=>(const TimePoint&, const TimePoint&) = default;
  friend constexpr Nanos operator-(TimePoint a, TimePoint b) { return Nanos(a.ns - b.ns); }
  friend constexpr TimePoint operator+(TimePoint a, Nanos d) { return TimePoint(a.ns + d.count); }
  friend constexpr TimePoint operator-(TimePoint a, Nanos d) { return TimePoint(a.ns - d.count); }
};

using MonoNs = TimePoint<struct MonotonicClockTag>;
using WallNs = TimePoint<struct WallClockTag>;

}  // namespace fathom

#endif  // FATHOM_PROTO_TYPES_TIME_UNITS_H_
