#include "diagnosis/functions/name_function.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "diagnosis/functions/beside_threads.h"
#include "diagnosis/functions/compare.h"
#include "diagnosis/functions/loader_workers.h"
#include "diagnosis/functions/role_peers.h"
#include "diagnosis/model/lookup.h"
#include "diagnosis/stats/robust.h"
#include "diagnosis/wording/phrase.h"

namespace fathom::diagnosis {
namespace {

constexpr char kSource[] = "stack capture";
constexpr char kTrace[] = "trace";
constexpr double kConvictedSigmas = 2.5;  // its verdict says who, and how much

std::string BaseOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// What the thread does in there, after the name of the function; empty where that says nothing.
std::string DoingInWords(const std::string& doing) {
  if (doing == "sleep") return "asleep";
  if (doing == "lock") return "waiting for a lock or another thread";
  if (doing == "network") return "waiting for a socket, a pipe or a timer";
  if (doing == "file") return "reading or writing";
  if (doing == "child") return "waiting for a process";
  return "";
}

std::string WithDoing(const Detail& detail) {
  const std::string doing =
      detail.in_workers ? "in a worker of its data loader" : DoingInWords(detail.doing);
  const std::string where = FunctionInWords(detail.where);
  return doing.empty() ? where : absl::StrCat(where, ", ", doing, ",");
}

// "Of the 97 ms lost an iteration 30 ms lie in …": all that stands out holds a part of it alone.
void AddPart(const Detail& detail, Verdict& verdict) {
  const double lost = verdict.cost.seconds_per_iteration;
  const std::string part = lost > 0 ? absl::StrCat("Of the ", Duration(lost), " lost an iteration ",
                                                   Duration(detail.of_loss * lost))
                                    : absl::StrFormat("Of the loss %.0f %%", 100 * detail.of_loss);
  absl::StrAppend(&verdict.sentence, " ", part, " lie in ", FunctionInWords(detail.where),
                  ", which holds most of what the rank does beyond its peers; the rest shows in no "
                  "function.");
}

void AddBeside(const Detail& detail, Verdict& verdict) {
  absl::StrAppend(&verdict.sentence,
                  absl::StrFormat(" Meanwhile another thread of its process is in %s, %.0f %% of "
                                  "the time, its peers' %.0f %%: "
                                  "Python runs one thread at a time.",
                                  FunctionInWords(detail.where), 100 * detail.where.share,
                                  100 * detail.where.peers_share));
}

// In place of host time, which says less; behind any other cause; at the end where none is told.
void PutIntoSentence(const Detail& detail, Verdict& verdict) {
  if (detail.beside) return AddBeside(detail, verdict);
  if (detail.of_loss > 0 && detail.of_loss < kMostOfLoss) return AddPart(detail, verdict);
  const std::string cause = CauseInWords(verdict.cause);
  const std::string where = WithDoing(detail);
  const std::size_t at = verdict.sentence.find(cause);
  if (at == std::string::npos) {
    const std::string plain = FunctionInWords(detail.where);
    absl::StrAppend(&verdict.sentence, " Most of it lies in ", plain, ".");
  } else if (verdict.cause == Cause::kHostSlow || verdict.cause == Cause::kUnknown) {
    verdict.sentence.replace(at, cause.size(), absl::StrCat("in ", where));
  } else {
    const std::string plain = FunctionInWords(detail.where);
    const std::string words = detail.in_workers
                                  ? absl::StrCat(", whose workers are in ", plain, ",")
                                  : absl::StrCat(" in ", plain);
    verdict.sentence.insert(at + cause.size(), words);
  }
  // A comma that meets another sign.
  for (const auto& [from, to] : {std::pair{",,", ","}, {",;", ";"}, {",.", "."}}) {
    const std::size_t doubled = verdict.sentence.find(from);
    if (doubled != std::string::npos) verdict.sentence.replace(doubled, 2, to);
  }
}

std::string PeersInWords(const Detail& detail) {
  if (detail.peers == 1) return "the peer that was looked at likewise";
  return absl::StrFormat("the median of %d peers that were looked at likewise", detail.peers);
}

std::string SeenInWords(const Detail& detail) {
  const std::string lasted = Duration(detail.lasted.Seconds());
  if (detail.traced) return absl::StrCat("by each of its calls in ", lasted, " of its trace");
  return absl::StrFormat("by %d samples of %s in %s", detail.samples,
                         detail.in_workers ? "their stacks" : "its stack", lasted);
}

std::string ThreadInWords(const Detail& detail) {
  if (detail.in_workers) return "The workers of its data loader are";
  return detail.beside ? "Another thread of its process is" : "Its training thread is";
}

void AddEvidence(const Detail& detail, Verdict& verdict) {
  const char* source = detail.traced ? kTrace : kSource;
  const Evidence in_function{
      absl::StrFormat("%s in %s for this part of the time, %s; %s.", ThreadInWords(detail),
                      FunctionInWords(detail.where), SeenInWords(detail), PeersInWords(detail)),
      100 * detail.where.share, "%", 100 * detail.where.peers_share, source};
  const bool first = verdict.evidence.empty();
  verdict.evidence.insert(verdict.evidence.begin() + (first ? 0 : 1), in_function);
  const std::string doing = DoingInWords(detail.doing);
  if (doing.empty()) return;
  verdict.evidence.push_back({absl::StrCat("In that time its training thread was ", doing, "."),
                              100 * detail.doing_share, "%", 100 * detail.doing_peers_share,
                              source});
}

void AddCounter(const Detail& detail, Verdict& verdict) {
  for (const HotFunction& each : detail.functions) {
    if (each.function == detail.where.function || each.share <= each.peers_share) continue;
    verdict.counter_evidence.push_back(
        {absl::StrCat("The next place in which it spends more time than its peers is ",
                      FunctionInWords(each), "."),
         100 * each.share, "%", 100 * each.peers_share, detail.traced ? kTrace : kSource});
    return;
  }
}

// Accused of nothing.
std::vector<RankId> PeersOfRank(const JobView& view, const StackCapture& capture,
                                const Verdict& verdict, RankId rank) {
  std::vector<RankId> peers = RolePeers(view).Of(rank, capture);
  std::erase_if(peers, [&](RankId other) {
    return Contains(capture.accused, other) || Contains(verdict.entity.ranks, other);
  });
  return peers;
}

// A share of all iterations, also where it comes in some of them only.
double LostShare(const Verdict& verdict) {
  if (verdict.cost.slowdown <= 1) return 0;
  const double share = 1 - 1 / verdict.cost.slowdown;
  return share / static_cast<double>(std::max<std::int64_t>(verdict.every, 1));
}

double MegaFlopOf(const JobView& view, RankId rank) {
  std::vector<double> values;
  for (const IterationSummary& it : view.window) {
    const RankIteration* mine = RankIn(it, rank);
    if (mine != nullptr) values.push_back(mine->mega_flop);
  }
  return Median(std::move(values));
}

// 0: not known.
double FlopTimes(const JobView& view, RankId rank, const std::vector<RankId>& peers) {
  std::vector<double> of_peers;
  for (const RankId peer : peers) of_peers.push_back(MegaFlopOf(view, peer));
  const double usual = Median(std::move(of_peers));
  return usual > 0 ? MegaFlopOf(view, rank) / usual : 0;
}

// The first of its ranks that the capture was made for.
RankId AccusedIn(const StackCapture& capture, const Verdict& verdict) {
  for (const RankId rank : verdict.entity.ranks) {
    if (Contains(capture.accused, rank)) return rank;
  }
  return verdict.entity.ranks.front();
}

}  // namespace

bool WantsFunction(const Verdict& verdict) {
  const bool open = verdict.cause == Cause::kHostSlow || verdict.cause == Cause::kComputeSlow ||
                    verdict.cause == Cause::kDataLoader || verdict.cause == Cause::kGc;
  const bool ranks =
      verdict.entity.type == EntityType::kRank || verdict.entity.type == EntityType::kGpu;
  // A GPU that computes longer shows in no stack of its host.
  const bool device = verdict.cause == Cause::kComputeSlow && !verdict.entity.gpu.empty();
  return open && ranks && !device && Convicts(verdict) && !IsHang(verdict) &&
         !verdict.entity.ranks.empty();
}

Detail FindFunction(const JobView& view, const StackCapture& capture, const Verdict& verdict) {
  const RankId rank = AccusedIn(capture, verdict);
  const std::vector<RankId> peers = PeersOfRank(view, capture, verdict, rank);
  // A trace also holds iterations from before; then its excess alone tells.
  const auto mine = capture.ranks.find(rank);
  const bool traced = mine != capture.ranks.end() && mine->second.source.starts_with("trace");
  CompareLimits limits;
  limits.sigmas = kConvictedSigmas;
  limits.flop_times = FlopTimes(view, rank, peers);
  const Detail seen =
      CompareFunctions(capture, rank, peers, traced ? 0 : LostShare(verdict), limits);
  return LookBeside(capture, rank, peers, LookIntoWorkers(capture, rank, peers, seen));
}

void TellFunction(const Detail& detail, Verdict& verdict) {
  if (!detail.known()) return;
  PutIntoSentence(detail, verdict);
  AddEvidence(detail, verdict);
  AddCounter(detail, verdict);
  verdict.action_text =
      absl::StrCat("Look at ", FunctionInWords(detail.where), " first. ", verdict.action_text);
}

std::string FunctionInWords(const HotFunction& where) {
  if (where.file.empty()) return where.function;
  const std::string line = where.line == 0 ? "" : absl::StrCat(":", where.line);
  return absl::StrCat(where.function, " (", BaseOf(where.file), line, ")");
}

}  // namespace fathom::diagnosis
