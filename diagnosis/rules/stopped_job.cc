#include "diagnosis/rules/stopped_job.h"

#include <utility>

#include "diagnosis/rules/records/situation.h"

namespace fathom::diagnosis {
namespace {

using records::Situation;

std::vector<Verdict> JudgeStuck(const Situation& s, Findings& findings) {
  auto verdicts = records::JudgeMismatch(s);
  if (verdicts.empty()) verdicts = records::JudgeIdle(s, findings);
  if (verdicts.empty()) verdicts = records::JudgeRing(s, findings);
  if (verdicts.empty()) verdicts = records::JudgeUnrecorded(s, findings);
  if (verdicts.empty()) verdicts = records::JudgeCommunication(s, findings);
  return verdicts;
}

void AskForRecords(const Situation& s, const std::vector<Verdict>& verdicts, Findings& findings) {
  const std::vector<RankId> missing = s.unrecorded();
  if (missing.empty()) return;
  for (const Verdict& verdict : verdicts) {
    if (verdict.entity.ranks == missing) return;  // that is what the verdict is about
  }
  findings.abstained.push_back(
      {"what " + records::Ranks(missing) + " did last", "a record of " + records::Ranks(missing)});
}

}  // namespace

void ExamineStoppedJob(const JobView& view, const DiagnosisConfig& config, Findings& findings) {
  if (view.records.empty()) return;
  Situation s{view, config, records::BuildRecordGraph(view), {}};
  s.sinks = records::FindSinks(s.graph);
  std::vector<Verdict> verdicts;
  // A rank that lost a peer has left; who still waits is then a consequence.
  if (s.ended()) {
    verdicts = records::JudgeMismatch(s);
    if (verdicts.empty()) verdicts = records::JudgeEnded(s, findings);
  }
  if (verdicts.empty() && s.stuck()) verdicts = JudgeStuck(s, findings);
  if (verdicts.empty()) verdicts = records::JudgeStacks(s);
  AskForRecords(s, verdicts, findings);
  for (Verdict& verdict : verdicts) findings.verdicts.push_back(std::move(verdict));
}

Rule StoppedJobRule() {
  return {"stopped_job",
          {},
          "why the job stopped",
          [](const Suspicion&) { return true; },
          [](const Case& c, Findings& findings) { ExamineStoppedJob(c.view, c.config, findings); }};
}

}  // namespace fathom::diagnosis
