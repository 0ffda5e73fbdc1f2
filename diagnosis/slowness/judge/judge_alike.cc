#include "diagnosis/slowness/judge/judge_alike.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "diagnosis/slowness/judge/judge.h"
#include "diagnosis/slowness/judge/slow_verdict.h"
#include "diagnosis/stats/robust.h"
#include "diagnosis/wording/command.h"
#include "diagnosis/wording/phrase.h"

namespace fathom::diagnosis {
namespace {

double MedianPart(const Accounts& slow, double Excess::*part) {
  std::vector<double> values;
  for (const RankAccount* account : slow) values.push_back(account->typical.*part);
  return Median(std::move(values));
}

Excess MedianOf(const Accounts& slow) {
  return {MedianPart(slow, &Excess::total),    MedianPart(slow, &Excess::compute),
          MedianPart(slow, &Excess::gc),       MedianPart(slow, &Excess::dataloader),
          MedianPart(slow, &Excess::runqueue), MedianPart(slow, &Excess::host),
          MedianPart(slow, &Excess::unsplit)};
}

bool Alike(const Accounts& slow, double median, double contrast) {
  return std::all_of(slow.begin(), slow.end(), [&](const RankAccount* account) {
    const double own = account->typical.total;
    return own * contrast >= median && own <= contrast * median;
  });
}

Verdict Describe(const Case& c, const Ledger& ledger, const Accounts& slow, const Excess& parts,
                 std::size_t nodes) {
  const Cause most = CauseOf(parts, c.config);
  // What feeds all ranks is a cause of its own; more computing for all is what was asked for.
  const Cause cause = most == Cause::kDataLoader ? most : Cause::kRegression;
  Verdict verdict = SlowVerdict(c, cause, EntityType::kJob);
  verdict.sentence = absl::StrFormat(
      "All ranks take longer alike %s: about %s more of their own each%s; an "
      "iteration takes %s instead of %s. That is no single device.",
      SinceInWords(c.suspicion.onset), Duration(parts.total),
      most == Cause::kUnknown ? "" : absl::StrCat(", mostly ", CauseInWords(most)),
      Duration(c.suspicion.measured.Seconds()), Duration(ledger.expected));
  verdict.evidence.push_back({"Own time beyond the usual, median of the ranks.", parts.total, "s",
                              ledger.excess, "walk_back"});
  verdict.evidence.push_back({"Ranks that take longer, of those looked at.",
                              static_cast<double>(slow.size()), "ranks",
                              static_cast<double>(ledger.ranks.size()), "walk_back"});
  verdict.evidence.push_back({"Nodes that they are on.", static_cast<double>(nodes), "nodes",
                              static_cast<double>(c.config.most_culprit_nodes), "walk_back"});
  verdict.would_change.push_back("A node whose ranks take no longer than before.");
  return verdict;
}

}  // namespace

std::optional<Verdict> JudgeAlike(const Case& c, const Ledger& ledger, const Accounts& slow,
                                  std::size_t nodes) {
  const auto looked_at = static_cast<double>(ledger.ranks.size());
  if (nodes <= static_cast<std::size_t>(c.config.most_culprit_nodes)) return std::nullopt;
  if (static_cast<double>(slow.size()) < c.config.consistent_share * looked_at) return std::nullopt;
  const Excess parts = MedianOf(slow);
  if (!Alike(slow, parts.total, c.config.peer_contrast) || WaitsForCores(parts, c.config)) {
    return std::nullopt;
  }
  Verdict verdict = Describe(c, ledger, slow, parts, nodes);
  if (verdict.cause == Cause::kDataLoader) {
    verdict.action_text = "Look at the storage and the network that feed all loaders.";
    verdict.action_command = "nfsiostat 1 3; iostat -x 1 3";
  } else {
    verdict.action_text =
        absl::StrCat("See what changed for all at iteration ", c.suspicion.onset.value,
                     ": length of sequences, batch size, code, software versions, a power limit.");
    verdict.action_command = RanksCommand(c.view);
  }
  return verdict;
}

}  // namespace fathom::diagnosis
