#include "diagnosis/rules/imbalance.h"

namespace fathom::diagnosis {
namespace {

void Examine(const Case&, Findings&) {}

}  // namespace

Rule ImbalanceRule() {
  return {"imbalance",
          {"communication ops"},
          "whether work is unequal by design",
          [](const Suspicion& s) { return !s.slow && !s.stalled; },
          Examine};
}

}  // namespace fathom::diagnosis
