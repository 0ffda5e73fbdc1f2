// The shape that every rule has: an identity, the signals it needs, and a pure function from the
// case to findings.
//
// Rules are listed once, in registry.cc; Diagnose() runs those that apply, hands their charges to
// evidence/ and keeps their verdicts and abstentions. How to add one: docs/rules/README.md.
//
// Model: a rule never convicts by itself on slowness: it charges time to ranks and groups, one
// iteration at a time, and slowness/judge/judge weighs all charges. Where the whole picture lies in
// one moment (a hang), a rule gives verdicts. What it cannot tell it says as an abstention.
// Thread-safety: plain values and pure functions.
#ifndef FATHOM_DIAGNOSIS_EVIDENCE_RULE_H_
#define FATHOM_DIAGNOSIS_EVIDENCE_RULE_H_

#include <string_view>
#include <vector>

#include "diagnosis/evidence/charge.h"
#include "diagnosis/graph/execution_graph.h"
#include "diagnosis/model/config.h"
#include "diagnosis/model/job_view.h"
#include "diagnosis/model/verdict.h"
#include "diagnosis/watch/watch.h"

namespace fathom::diagnosis {

class Replay;
struct Topology;

// All that a rule may look at. Lifetime: of one call of Diagnose().
struct Case {
  const JobView& view;
  const Suspicion& suspicion;
  const ExecutionGraph& graph;
  const DiagnosisConfig& config;
  const Replay* replay = nullptr;      // none of jobs without a schedule
  const Topology* topology = nullptr;  // nobody has told how nodes are wired
};

struct Findings {
  std::vector<RankCharge> rank_charges;
  std::vector<GroupCharge> group_charges;
  std::vector<CausedWait> caused_waits;
  std::vector<Verdict> verdicts;
  std::vector<Abstention> abstained;
  std::vector<Verdict> held_back;  // as in Diagnosis
};

struct Rule {
  std::string_view name;                    // docs/rules/<name>.md
  std::vector<std::string_view> signals;    // any of these off: the rule abstains
  std::string_view question;                // what it answers, for the abstention
  bool (*applies)(const Suspicion&);        // is this the kind of case it is for?
  void (*examine)(const Case&, Findings&);  // adds to the findings
};

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_EVIDENCE_RULE_H_
