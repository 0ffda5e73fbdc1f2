// What probes of a culprit's node say of a verdict: confirmed, refuted, or nothing.
//
// Made by evaluate/probe_verdicts, kept with the episode, told with the verdict for as long as it
// stands. A verdict that is refuted is worth one grade less: it was inferred, and the measurement
// would have seen what it claims. One that is confirmed keeps its grade.
//
// Thread-safety: plain values, pure function.
#ifndef FATHOM_COLLECTOR_VERDICT_PROBE_PROOF_H_
#define FATHOM_COLLECTOR_VERDICT_PROBE_PROOF_H_

#include <cstdint>
#include <string>

#include "diagnosis/model/verdict.h"

namespace fathom::collector {

struct ProbeProof {
  std::string state = {};  // "confirmed", "refuted"; empty: not probed
  std::string sentence = {};
  std::uint64_t request_id = 0;
  WallNs at = {};
  double sees = 0;  // the smallest loss that would have been found

  bool known() const { return !state.empty(); }
};

// Puts the proof into a verdict that a diagnosis has just made. Once a verdict.
void TellProof(const ProbeProof& proof, diagnosis::Verdict& verdict);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_VERDICT_PROBE_PROOF_H_
