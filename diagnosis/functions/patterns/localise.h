// Which functions of which workers are not as they should be, by patterns alone.
//
// Used on the patterns of a window of all workers of one role. docs/rules/patterns.md.
//
// Model: D is how far a pattern lies from what its class is expected to be: code of the host has a
// β of at most `host_beta`, the other classes have no expectation. Δ is how many of at most `peers`
// workers, drawn evenly, have a pattern of the same function at least `delta` away (L1, each
// component scaled to its range over the workers where that is wider than `floor`). Not as it
// should be is one with β above `least_beta` and D above 0, or Δ above the median of all workers'
// by more than `spread` median absolute deviations, which is at least one peer. With fewer than
// `least_workers` a vote says nothing: only D tells.
//
// Workers without the function have a pattern of zeros.
//
// Units: 0 to 1. Thread-safety: pure; functions may be judged on several threads. Errors: none.
// Cost: workers × `peers` steps of three subtractions: 0.1 s for a million workers.
// Source: EROICA; floors and scaling from its open points.
#ifndef FATHOM_DIAGNOSIS_FUNCTIONS_PATTERNS_LOCALISE_H_
#define FATHOM_DIAGNOSIS_FUNCTIONS_PATTERNS_LOCALISE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "diagnosis/functions/patterns/critical_share.h"

namespace fathom::diagnosis {

struct LocaliseLimits {
  float least_beta = 0.01F;
  float host_beta = 0.01F;
  float delta = 0.4F;
  float floor = 0.4F;  // of a component's range: below it differences are not blown up
  double spread = 5;
  std::size_t peers = 100;
  std::size_t least_workers = 8;
};

// One function over all workers, a place each.
struct PatternColumn {
  FunctionClass of = FunctionClass::kHost;
  std::vector<float> beta, mu, sigma;
};

struct OddPattern {
  std::uint32_t worker = 0;
  float distance = 0;         // D
  std::uint32_t differs = 0;  // Δ
  bool by_peers = false;      // Δ stands out; else D alone
};

// By worker.
std::vector<OddPattern> Localise(const PatternColumn& column, const LocaliseLimits& limits = {});

// Δ of each worker.
std::vector<std::uint32_t> DifferencesOf(const PatternColumn& column, const LocaliseLimits& limits);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_FUNCTIONS_PATTERNS_LOCALISE_H_
