#include "diagnosis/hang/live/death.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "diagnosis/watch/stall.h"
#include "diagnosis/wording/phrase.h"

namespace fathom::diagnosis {
namespace {

constexpr int kInterrupt = 2, kAbort = 6, kTerminate = 15;

int SignalOf(const RankFacts& facts) { return facts.wait_status ? *facts.wait_status & 0x7f : 0; }

bool OrderedFromOutside(const RankFacts& facts) {
  const int signal = SignalOf(facts);
  return signal == kInterrupt || signal == kTerminate;
}

bool OfItsOwn(const RankFacts& facts) {
  if (OrderedFromOutside(facts)) return false;
  const int signal = SignalOf(facts);
  const bool sent = signal != 0 && signal != kAbort;
  return sent || (facts.open_ops.empty() && !facts.communication_failed);
}

// It ended by itself with an error, and no op of its own had failed.
bool EndedWell(const RankFacts& facts) {
  return facts.wait_status && SignalOf(facts) == 0 && !facts.communication_failed;
}

// Ops may be in flight while a process fails elsewhere. Where communication did fail for all others
// that died, that one is the cause of it.
const RankFacts* OnlyOneNotFailed(const std::vector<const RankFacts*>& dead) {
  const RankFacts* only = nullptr;
  for (const RankFacts* facts : dead) {
    if (facts->communication_failed || OrderedFromOutside(*facts)) continue;
    if (only != nullptr || !EndedWell(*facts)) return nullptr;
    only = facts;
  }
  return only;
}

}  // namespace

Deaths JudgeDeaths(const JobView& view, const DiagnosisConfig& config) {
  Deaths out;
  std::vector<const RankFacts*> dead;
  for (const RankFacts& facts : view.ranks) {
    if (IsDead(facts) && !facts.exited_orderly) dead.push_back(&facts);
  }
  std::stable_sort(dead.begin(), dead.end(),
                   [](const RankFacts* a, const RankFacts* b) { return a->gone_at < b->gone_at; });
  for (const RankFacts* facts : dead) out.dead.push_back(facts->rank);
  std::vector<const RankFacts*> own;
  std::copy_if(dead.begin(), dead.end(), std::back_inserter(own),
               [](const RankFacts* facts) { return OfItsOwn(*facts); });
  if (dead.empty()) return out;
  // Deaths that are noticed late come in any order: within the gap a signal that no launcher sends
  // first still counts.
  const bool killed = !own.empty() && SignalOf(*own[0]) != 0 &&
                      own[0]->gone_at - dead.front()->gone_at < config.death_gap;
  if (OrderedFromOutside(*dead.front()) && !killed) {
    out.missing = "a death that was not ordered from outside: the job was ended by a signal";
  } else if (const RankFacts* only = OnlyOneNotFailed(dead); own.empty() && only != nullptr) {
    out.culprits.push_back(only->rank);
    out.by_elimination = true;
  } else if (own.empty()) {
    out.missing =
        absl::StrCat("why communication failed: ranks ", RankList(out.dead), " died inside of it");
  } else if (own.size() > 1 && own[1]->gone_at - own[0]->gone_at < config.death_gap) {
    out.missing = absl::StrCat("which of ranks ", RankList(out.dead),
                               " died first: they went at the same time");
  } else {
    out.culprits.push_back(own.front()->rank);
  }
  return out;
}

}  // namespace fathom::diagnosis
