// One verdict with its life: when it was opened, last supported, changed and closed, and why.
//
// Made by VerdictLedger; kept by the store; turned into fathom.v1.Verdict by collector/export.
// Units: wall time. Thread-safety: plain values.
#ifndef FATHOM_COLLECTOR_VERDICT_EPISODE_H_
#define FATHOM_COLLECTOR_VERDICT_EPISODE_H_

#include <cstdint>
#include <string>

#include "collector/verdict/probe_proof.h"
#include "diagnosis/model/detail.h"
#include "diagnosis/model/verdict.h"

namespace fathom::collector {

struct Episode {
  std::string id;  // "v" and 12 hex digits; of job, start of the job, entity, cause, onset
  std::string job;
  diagnosis::Verdict verdict;  // what `detail` tells is in it
  diagnosis::Detail detail;    // the function, once a capture of stacks was made for it
  ProbeProof proof;            // what probes of its node say; `verdict` tells it
  WallNs opened;
  WallNs updated;
  WallNs seen;                 // by a diagnosis, last; of what an earlier collector opened: as kept
  bool authenticated = false;  // of each agent that told of its job it is known whose it is
  WallNs closed;               // not known: open
  Iteration until_iteration{-1};
  std::string closed_because;  // "recovered", "superseded by ID", …
  bool superseded = false;     // another verdict took its place: fathom changed its mind

  bool open() const { return !closed.known(); }
};

enum class VerdictChange : std::uint8_t { kOpened, kUpdated, kClosed };

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_VERDICT_EPISODE_H_
