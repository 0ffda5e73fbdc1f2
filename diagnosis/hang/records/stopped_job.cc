#include "diagnosis/hang/records/stopped_job.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "diagnosis/hang/records/situation.h"
#include "diagnosis/wording/phrase.h"

namespace fathom::diagnosis {
namespace {

using records::Situation;

std::vector<Verdict> JudgeStuck(const Situation& s, Findings& findings) {
  auto verdicts = records::JudgeMismatch(s);
  if (verdicts.empty()) verdicts = records::JudgeUnfinished(s);
  if (verdicts.empty()) verdicts = records::JudgeIdle(s, findings);
  if (verdicts.empty()) verdicts = records::JudgeOutrun(s);
  if (verdicts.empty()) verdicts = records::JudgeRing(s, findings);
  if (verdicts.empty()) verdicts = records::JudgeUnrecorded(s, findings);
  if (verdicts.empty()) verdicts = records::JudgeOrderOfEntry(s);
  if (verdicts.empty()) verdicts = records::JudgeCommunication(s, findings);
  return verdicts;
}

// A rank that lost a peer, or gave up waiting, did so inside its newest op, which its record then
// shows as ended. What it was stuck in before is what counts.
bool ReopenFailed(RankRecord& record) {
  if (record.ended != EndedBy::kPeerLost && record.ended != EndedBy::kTimeout) return false;
  if (record.ops.empty() || record.ops.back().open || record.ops.back().completed) return false;
  record.ops.back().open = true;
  return true;
}

// Some process gave up: the records are read as they were before it. Never more than supported, for
// the op that a process failed in is told by order alone.
std::vector<Verdict> JudgeBefore(const Situation& s, Findings& findings) {
  JobView before;
  before.name = s.view.name;
  before.world_size = s.view.world_size;
  before.nodes = s.view.nodes;
  before.now = s.view.now;
  before.groups = s.view.groups;
  before.ranks = s.view.ranks;
  before.signals = s.view.signals;
  before.records = s.view.records;
  bool any = false;
  for (RankRecord& record : before.records) any = ReopenFailed(record) || any;
  if (!any) return {};
  Situation earlier{before, s.config, records::BuildRecordGraph(before), {}};
  earlier.sinks = records::FindSinks(earlier.graph);
  if (!earlier.stuck()) return {};
  std::vector<Verdict> verdicts = JudgeStuck(earlier, findings);
  for (Verdict& verdict : verdicts) verdict.grade = std::min(verdict.grade, Grade::kSupported);
  return verdicts;
}

// Nobody was named and no part of the rule said why.
void SayWhatIsOpen(const Situation& s, Findings& findings) {
  const std::vector<RankId> incomplete = s.incomplete();
  const bool empty = std::all_of(s.view.records.begin(), s.view.records.end(),
                                 [](const RankRecord& record) { return record.ops.empty(); });
  if (!incomplete.empty()) {
    findings.abstained.push_back({s.stuck() ? kWhyItStandsStill : kWhetherItStoodStill,
                                  absl::StrCat("whole records of ", RanksInWords(incomplete))});
  } else if (s.stuck()) {
    findings.abstained.push_back(
        {kWhyItStandsStill, "the stacks of the processes: the records alone name nobody"});
  } else if (empty) {
    findings.abstained.push_back(
        {kWhetherItStoodStill, "records of ops: those that were read hold none"});
  }
}

void AskForRecords(const Situation& s, const std::vector<Verdict>& verdicts, Findings& findings) {
  const std::vector<RankId> missing = s.unrecorded();
  if (missing.empty()) return;
  for (const Verdict& verdict : verdicts) {
    if (verdict.entity.ranks == missing) return;  // that is what the verdict is about
  }
  findings.abstained.push_back(
      {"what " + RanksInWords(missing) + " did last", "a record of " + RanksInWords(missing)});
}

}  // namespace

void ExamineStoppedJob(const JobView& view, const DiagnosisConfig& config, Findings& findings) {
  if (view.records.empty()) return;
  Situation s{view, config, records::BuildRecordGraph(view), {}};
  s.sinks = records::FindSinks(s.graph);
  const std::size_t told = findings.abstained.size();
  std::vector<Verdict> verdicts;
  // A rank that lost a peer has left; who still waits is then a consequence.
  if (s.ended()) {
    verdicts = records::JudgeMismatch(s);
    if (verdicts.empty()) verdicts = records::JudgeEnded(s, findings);
  }
  if (verdicts.empty() && s.ended()) verdicts = JudgeBefore(s, findings);
  if (verdicts.empty() && s.stuck()) verdicts = JudgeStuck(s, findings);
  if (verdicts.empty()) verdicts = records::JudgeStacks(s);
  if (verdicts.empty() && findings.abstained.size() == told) SayWhatIsOpen(s, findings);
  if (!verdicts.empty()) AskForRecords(s, verdicts, findings);
  for (Verdict& verdict : verdicts) {
    if (s.members_in_doubt()) verdict.grade = std::min(verdict.grade, Grade::kHypothesis);
    findings.verdicts.push_back(std::move(verdict));
  }
}

Rule StoppedJobRule() {
  return {"stopped_job",
          {},
          "why the job stopped",
          [](const Suspicion&) { return true; },
          [](const Case& c, Findings& findings) { ExamineStoppedJob(c.view, c.config, findings); }};
}

}  // namespace fathom::diagnosis
