// What something takes of a machine, and what a daemon may take of it.
//
// Used by everything in this folder. Units: cores (1 is one core all the time), bytes, bytes a
// second. Thread-safety: plain values.
#ifndef FATHOM_DAEMON_SERVICE_BUDGET_SPEND_H_
#define FATHOM_DAEMON_SERVICE_BUDGET_SPEND_H_

#include <algorithm>
#include <limits>

namespace fathom::service {

struct Spend {
  double cores = 0;
  double bytes_per_s = 0;  // to the collector
  double memory = 0;       // bytes

  Spend& operator+=(const Spend& other) {
    cores += other.cores;
    bytes_per_s += other.bytes_per_s;
    memory += other.memory;
    return *this;
  }
  friend Spend operator+(Spend a, const Spend& b) { return a += b; }

  bool Within(const Spend& limit) const {
    return cores <= limit.cores && bytes_per_s <= limit.bytes_per_s && memory <= limit.memory;
  }
  // How many times the limit, of what exceeds it most; at most 1: within.
  double Times(const Spend& limit) const {
    return std::max({cores / limit.cores, bytes_per_s / limit.bytes_per_s, memory / limit.memory});
  }
  Spend Scaled(double factor) const {
    return {cores * factor, bytes_per_s * factor, memory * factor};
  }
};

inline constexpr double kNoLimit = std::numeric_limits<double>::infinity();

}  // namespace fathom::service

#endif  // FATHOM_DAEMON_SERVICE_BUDGET_SPEND_H_
