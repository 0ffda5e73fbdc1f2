#include "collector/evaluate/probe_verdicts.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

namespace fathom::collector {
namespace {

using diagnosis::Cause;

std::string Percent(double ratio) { return absl::StrFormat("%.1f %%", 100 * ratio); }

// What a probe of processors and memory would show.
bool Measured(Cause cause) { return cause == Cause::kComputeSlow || cause == Cause::kMemorySlow; }

std::string FoundInWords(const v1::NodeProbe& run) {
  const v1::ProbeJudgement& judgement = run.judgement();
  if (judgement.faults_size() > 0) {
    return absl::StrCat("its probe ", judgement.faults(0).probe(),
                        " failed: ", judgement.faults(0).reason());
  }
  const v1::ProbeFinding& worst = judgement.slow(0);
  const std::string where = worst.where().empty() ? "" : absl::StrCat(" of ", worst.where());
  return absl::StrCat(worst.figure(), where, " is ", Percent(worst.loss()), " slower than ",
                      worst.against() == "past" ? "in " : "on ", worst.references(),
                      worst.against() == "past" ? " earlier runs" : " peers");
}

}  // namespace

ProbeProof ProofOf(const diagnosis::Verdict& verdict, const v1::NodeProbe& run,
                   std::uint64_t request_id, WallNs now) {
  const v1::ProbeJudgement& judgement = run.judgement();
  ProbeProof proof{.request_id = request_id, .at = now, .sees = judgement.sees()};
  const bool found = judgement.faults_size() > 0 || judgement.slow_size() > 0;
  if (found) {
    proof.state = "confirmed";
    proof.sentence =
        absl::StrCat("A probe of ", run.node(), " confirms it: ", FoundInWords(run), ".");
    return proof;
  }
  const double slowdown = verdict.cost.slowdown;
  const double claimed = slowdown > 1 ? 1 - 1 / slowdown : 0;
  const bool would_have_seen = judgement.sees() > 0 && judgement.sees() < claimed;
  if (judgement.state() != "clean" || !Measured(verdict.cause) || !would_have_seen) return {};
  proof.state = "refuted";
  proof.sentence = absl::StrCat(
      "A probe of ", run.node(), " speaks against it: no figure is slow, and a loss of ",
      Percent(judgement.sees()), " would have been found; it claims ", Percent(claimed), ".");
  return proof;
}

void KeepProbes(const ProbeRequest& request, Store& store,
                const std::function<void(bool error, const std::string& line)>& say) {
  for (const auto& [node, run] : request.runs) {
    const bool refused = !run.refused().empty();
    say(false, absl::StrCat("probe ", request.id, " of ", node, ": ",
                            refused ? run.refused() : run.judgement().state()));
    if (refused) continue;
    const absl::Status saved = store.SaveProbe(run);
    if (!saved.ok()) say(true, absl::StrCat("probe of ", node, ": ", saved.message()));
  }
}

void ProveVerdicts(const ProbeRequest& request, const Clock& clock, VerdictLedger& ledger) {
  const WallNs now = clock.Wall();
  for (const auto& [node, run] : request.runs) {
    if (!run.refused().empty()) continue;
    ledger.Prove(
        [&, &of = node, &measured = run](const Episode& episode) {
          const bool late = episode.closed.known() && now - episode.closed > kProvableFor;
          if (late || episode.verdict.entity.node != of) return ProbeProof();
          return ProofOf(episode.verdict, measured, request.id, now);
        },
        now, clock.Mono());
  }
}

}  // namespace fathom::collector
