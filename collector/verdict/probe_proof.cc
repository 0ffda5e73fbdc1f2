#include "collector/verdict/probe_proof.h"

namespace fathom::collector {

void TellProof(const ProbeProof& proof, diagnosis::Verdict& verdict) {
  using diagnosis::Grade;
  if (!proof.known()) return;
  const diagnosis::Evidence told{proof.sentence, proof.sees, "ratio", 0, "probe"};
  if (proof.state == "confirmed") {
    verdict.evidence.push_back(told);
    return;
  }
  verdict.counter_evidence.push_back(told);
  if (verdict.grade == Grade::kEstablished) {
    verdict.grade = Grade::kSupported;
  } else if (verdict.grade == Grade::kSupported) {
    verdict.grade = Grade::kHypothesis;
  }
}

}  // namespace fathom::collector
