#include "diagnosis/slowness/judge/judge_groups.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "diagnosis/evidence/cost.h"
#include "diagnosis/model/lookup.h"
#include "diagnosis/slowness/judge/shared_device.h"
#include "diagnosis/slowness/judge/slow_messages.h"
#include "diagnosis/slowness/judge/slow_verdict.h"
#include "diagnosis/slowness/network/network_place.h"
#include "diagnosis/slowness/rules/link_slow.h"
#include "diagnosis/wording/phrase.h"

namespace fathom::diagnosis {
namespace {

using SlowAccounts = std::vector<const GroupAccount*>;

bool AllInnocent(const Case& c, const Ledger& ledger) {
  return std::all_of(ledger.ranks.begin(), ledger.ranks.end(), [&](const RankAccount& a) {
    return 2 * a.typical.total < c.config.explains_share * ledger.excess;
  });
}

SlowAccounts SlowGroups(const Case& c, const Ledger& ledger) {
  SlowAccounts slow;
  for (const GroupAccount& account : ledger.groups) {
    const double shows = static_cast<double>(account.shows);
    if (shows >= c.config.consistent_share * static_cast<double>(ledger.iterations)) {
      slow.push_back(&account);
    }
  }
  if (!slow.empty()) return slow;
  // Of groups that are slow alike the chain goes through one now and another then.
  const double together = static_cast<double>(ledger.groups_show);
  if (together < c.config.consistent_share * static_cast<double>(ledger.iterations)) return slow;
  for (const GroupAccount& account : ledger.groups) {
    if (account.shows > 0) slow.push_back(&account);
  }
  return slow;
}

Verdict GroupVerdict(const Case& c, const Ledger& ledger, const GroupAccount& account) {
  const Group* group = FindGroup(c.view, account.group);
  Verdict verdict = SlowVerdict(c, Cause::kCommunicationSlow, EntityType::kGroup);
  if (group != nullptr) verdict.entity.ranks = group->members;
  verdict.posterior_odds = PosteriorOdds(c.config.prior_shared(), account.shows, ledger.iterations,
                                         c.config.chance_share(), c.config.guilty_share());
  verdict.evidence.push_back({"Transfer beyond the usual for the same group, kind and size.",
                              account.typical, "s", ledger.excess, "communication_slow"});
  verdict.would_change.push_back("A rank that comes late by as much.");
  return verdict;
}

std::string SlowSentence(const Case& c, const Ledger& ledger, const std::string& where,
                         const std::string& longer) {
  return absl::StrFormat(
      "Communication %s is very likely slow %s: it takes %s longer for the same "
      "bytes, with all ranks on time; an iteration takes %s instead of %s.",
      where, SinceInWords(c.suspicion.onset), longer, Duration(c.suspicion.measured.Seconds()),
      Duration(ledger.expected));
}

void AskForTimesPerPeer(Verdict& verdict, std::string action, std::string command) {
  verdict.would_change.push_back("Times per peer: they would tell which link it is.");
  verdict.action_text = std::move(action);
  verdict.action_command = std::move(command);
}

void NamePort(const Case& c, RankId rank, Verdict& verdict) {
  verdict.entity.type = EntityType::kNic;
  verdict.entity.node = NodeOf(c.view, rank);
  absl::StrAppend(&verdict.sentence, " Of these only rank ", rank.value,
                  verdict.entity.node.empty() ? "" : absl::StrCat(" (", verdict.entity.node, ")"),
                  " is slow in its messages to other ranks too: most likely its port.");
  AskForTimesPerPeer(verdict, "Look at NIC and cable of this rank: errors, speed, width.",
                     "ibdiagnet; ip -s link");
}

void NameSwitch(Verdict& verdict) {
  verdict.entity.type = EntityType::kSwitch;
  absl::StrAppend(&verdict.sentence, " Of these only ranks ", RankList(verdict.entity.ranks),
                  " are slow in their messages to other ranks too: most likely what they share.");
  AskForTimesPerPeer(verdict, "Look at the leaf switch or rail that these ranks are on.",
                     "ibdiagnet; ip -s link");
}

// False where the messages do not tell some members from the others.
bool NarrowByMessages(const Case& c, Verdict& verdict) {
  const SlowMessages slow = FindSlowMessages(c, verdict.entity.ranks);
  if (slow.ranks.empty()) return false;
  std::vector<RankId> all = std::move(verdict.entity.ranks);
  std::sort(all.begin(), all.end());
  std::set_difference(all.begin(), all.end(), slow.ranks.begin(), slow.ranks.end(),
                      std::back_inserter(verdict.victims));
  verdict.cause = Cause::kLinkSlow;
  verdict.entity.ranks = slow.ranks;
  verdict.evidence.push_back({"Shortest message of an iteration, against the usual.", slow.growth,
                              "x", slow.others, "communication_slow"});
  if (slow.ranks.size() == 1) {
    NamePort(c, slow.ranks.front(), verdict);
  } else {
    NameSwitch(verdict);
  }
  return true;
}

Verdict JudgeOne(const Case& c, const Ledger& ledger, const GroupAccount& account) {
  Verdict verdict = GroupVerdict(c, ledger, account);
  verdict.sentence =
      SlowSentence(c, ledger, absl::StrCat("between ranks ", RankList(verdict.entity.ranks)),
                   Duration(account.typical));
  if (const auto network = FindSlowNetwork(c.view, verdict.entity.ranks, c.config)) {
    NameSlowNetwork(c.view, *network, verdict);
  } else if (!NarrowByMessages(c, verdict)) {
    if (NetworkMayTellSoon(c.view, verdict.entity.ranks, c.suspicion, c.config)) {
      verdict.grade = Grade::kHypothesis;
    }
    AskForTimesPerPeer(verdict,
                       "Look at the links between the nodes of these ranks: errors, speed, load.",
                       "ss -ti; ip -s link");
  }
  return verdict;
}

// The entity of the verdict, and the groups in words.
std::string NameShared(const Case& c, const SharedDevice& shared, std::size_t groups,
                       Verdict& verdict) {
  verdict.entity.ranks = shared.ranks;
  if (shared.rank != kNoRank) {
    verdict.cause = Cause::kLinkSlow;
    verdict.entity.type = EntityType::kNic;
    verdict.entity.ranks = {shared.rank};
    if (const RankFacts* facts = FactsOf(c.view, shared.rank)) verdict.entity.node = facts->node;
    return absl::StrFormat("in %d communicators that have only %s in common", groups,
                           RankName(c.view, shared.rank));
  }
  std::string what =
      absl::StrFormat("in %d communicators (ranks %s)", groups, RankList(shared.ranks));
  if (shared.rail) {
    verdict.cause = Cause::kLinkSlow;
    verdict.entity.type = EntityType::kSwitch;
    verdict.entity.link_src = absl::StrFormat("rail %d", *shared.rail);
    absl::StrAppend(&what, ", all on GPU ", *shared.rail, " of their nodes and no other,");
  }
  return what;
}

Verdict JudgeMany(const Case& c, const Ledger& ledger, const SlowAccounts& slow) {
  std::set<GroupId> ids;
  const GroupAccount* worst = slow.front();
  for (const GroupAccount* account : slow) {
    ids.insert(account->group);
    if (account->typical > worst->typical) worst = account;
  }
  Verdict verdict = GroupVerdict(c, ledger, *worst);
  const std::string where = NameShared(c, SharedBy(c.view, ids), slow.size(), verdict);
  verdict.sentence =
      SlowSentence(c, ledger, where, absl::StrCat("up to ", Duration(worst->typical)));
  if (verdict.entity.type != EntityType::kGroup || !NarrowByMessages(c, verdict)) {
    AskForTimesPerPeer(
        verdict, "Look at what these ranks' traffic shares: NIC, cable, leaf or spine switch.",
        "ibdiagnet; ip -s link");
  }
  return verdict;
}

void AddNetworkEvidence(const Case& c, const NetworkPlace& place, Verdict& verdict) {
  const auto count = [](std::size_t n) { return static_cast<double>(n); };
  verdict.evidence.push_back({"Shortest transfers on the slow channels, against before: median.",
                              place.growth, "x", c.config.link_factor, "network_place"});
  verdict.evidence.push_back({"Slow channels that lie on this device, of all slow ones.",
                              count(place.slow), "channels", count(place.slow_in_all),
                              "network_place"});
  verdict.evidence.push_back({"Channels that lie elsewhere and are as fast as before.",
                              count(place.others_well), "channels", 0, "network_place"});
  if (place.users_well > 0) {
    verdict.counter_evidence.push_back({"Channels on this device that are as fast as before.",
                                        count(place.users_well), "channels", count(place.slow),
                                        "network_place"});
  }
  if (place.guessed) {
    verdict.counter_evidence.push_back(
        {"Which switch a rank is on was guessed from its place on its node.", 0, "", 0,
         "network_place"});
  }
}

Verdict OnNetwork(const Case& c, const Ledger& ledger, const NetworkPlace& place) {
  Verdict verdict = SlowVerdict(c, Cause::kLinkSlow, EntityType::kLink);
  verdict.entity = place.entity;
  verdict.victims = place.victims;
  verdict.posterior_odds =
      PosteriorOdds(c.config.prior_shared(), ledger.iterations, ledger.iterations,
                    c.config.chance_share(), c.config.guilty_share());
  verdict.sentence = SlowSentence(c, ledger, place.where, Duration(place.lost_s));
  AddNetworkEvidence(c, place, verdict);
  verdict.would_change.push_back("A rank that comes late by as much.");
  verdict.would_change.push_back("Slow transfers elsewhere, or fast ones through this device.");
  verdict.action_text = "Look at this device and its cables: errors, speed, width, load.";
  verdict.action_command = "ibdiagnet; nvidia-smi nvlink -e; ip -s link";
  return verdict;
}

}  // namespace

void JudgeGroups(const Case& c, const Ledger& ledger, Findings& findings) {
  if (!AllInnocent(c, ledger)) return;
  if (const auto place = FindNetworkPlace(c, ledger.excess)) {
    findings.verdicts.push_back(OnNetwork(c, ledger, *place));
    return;
  }
  const SlowAccounts slow = SlowGroups(c, ledger);
  if (slow.size() == 1) findings.verdicts.push_back(JudgeOne(c, ledger, *slow.front()));
  if (slow.size() > 1) findings.verdicts.push_back(JudgeMany(c, ledger, slow));
}

}  // namespace fathom::diagnosis
