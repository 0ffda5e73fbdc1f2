#include "diagnosis/hardware/tell/tell_hardware.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "diagnosis/hardware/readings/hardware_case.h"
#include "diagnosis/hardware/rules/core_share.h"
#include "diagnosis/hardware/rules/cpu_clocks.h"
#include "diagnosis/hardware/rules/cpu_limit.h"
#include "diagnosis/hardware/rules/disk_wait.h"
#include "diagnosis/hardware/rules/gpu_clocks.h"
#include "diagnosis/hardware/rules/gpu_faults.h"
#include "diagnosis/hardware/rules/gpu_link.h"
#include "diagnosis/hardware/rules/gpu_memory.h"
#include "diagnosis/hardware/rules/gpu_neighbour.h"
#include "diagnosis/hardware/rules/memory_pressure.h"
#include "diagnosis/hardware/rules/network_port.h"
#include "diagnosis/hardware/rules/stopped_time.h"
#include "diagnosis/model/lookup.h"
#include "diagnosis/wording/phrase.h"

namespace fathom::diagnosis {
namespace {

constexpr std::size_t kMostCases = 8;  // of one verdict
constexpr std::size_t kMostCounter = 4;
constexpr Nanos kLookBack{60'000'000'000};       // before the onset, for what comes once
constexpr Nanos kWithoutOnset{300'000'000'000};  // the newest, where it was so from the start
constexpr Nanos kBeforeOnset{2'000'000'000};     // readings come so much late

// What tells most of a cause comes first.
const std::vector<HardwareRule>& AllHardwareRules() {
  static const std::vector<HardwareRule> kRules = {
      GpuFaultsRule(),   GpuMemoryRule(),      GpuClocksRule(), GpuNeighbourRule(),
      GpuLinkRule(),     StoppedTimeRule(),    CpuLimitRule(),  CoreShareRule(),
      NetworkPortRule(), MemoryPressureRule(), DiskWaitRule(),  CpuClocksRule()};
  return kRules;
}

bool Accuses(const Verdict& verdict) {
  return verdict.grade != Grade::kUnknown && verdict.entity.type != EntityType::kJob &&
         verdict.entity.type != EntityType::kStage && !verdict.entity.ranks.empty();
}

std::set<RankId> AccusedBy(const std::vector<Verdict>& verdicts) {
  std::set<RankId> accused;
  for (const Verdict& verdict : verdicts) {
    if (Accuses(verdict)) {
      accused.insert(verdict.entity.ranks.begin(), verdict.entity.ranks.end());
    }
  }
  return accused;
}

const NodeHardware* HardwareOf(const std::vector<NodeHardware>& hardware, std::string_view node) {
  for (const NodeHardware& each : hardware) {
    if (each.node == node) return &each;
  }
  return nullptr;
}

// A bus id as CUDA writes it and as NVML does are the same in their last twelve characters.
bool SameGpu(absl::string_view a, absl::string_view b) {
  constexpr std::size_t kShort = 12;
  if (a.size() < kShort || b.size() < kShort) return false;
  a.remove_prefix(a.size() - kShort);
  b.remove_prefix(b.size() - kShort);
  return absl::EqualsIgnoreCase(a, b);
}

const HardwareDevice* DeviceOf(const NodeHardware& node, const RankFacts& facts) {
  if (!facts.gpu) return nullptr;
  for (const HardwareDevice& device : node.devices) {
    if (device.kind == DeviceKind::kGpu && SameGpu(device.name, facts.gpu->bus_id)) return &device;
  }
  return nullptr;
}

bool OfNode(const HardwareDevice& device) {
  return device.kind != DeviceKind::kGpu && device.kind != DeviceKind::kProcess;
}

const HardwareDevice* ProcessOf(const NodeHardware& node, const RankFacts& facts) {
  const std::string pid = absl::StrCat(facts.pid);
  for (const HardwareDevice& device : node.devices) {
    if (device.kind == DeviceKind::kProcess && device.name == pid) return &device;
  }
  return nullptr;
}

// What all verdicts of a diagnosis share.
struct Scene {
  const JobView& view;
  const std::vector<NodeHardware>& hardware;
  std::set<RankId> accused;
  std::set<std::string> accused_nodes;
};

void AddPeers(const Scene& scene, HardwareCase& c) {
  for (const RankFacts& facts : scene.view.ranks) {
    if (scene.accused.contains(facts.rank)) continue;
    const NodeHardware* node = HardwareOf(scene.hardware, facts.node);
    if (node == nullptr) continue;
    const HardwareDevice* gpu = DeviceOf(*node, facts);
    if (gpu != nullptr && gpu != c.gpu) c.peer_gpus.push_back(gpu);
    c.peer_processes.push_back(ProcessOf(*node, facts));
  }
  for (const NodeHardware& node : scene.hardware) {
    if (scene.accused_nodes.contains(node.node)) continue;
    for (const HardwareDevice& device : node.devices) {
      if (OfNode(device)) c.peer_devices.push_back(&device);
    }
  }
}

bool HalfOfNodeAccused(const Scene& scene, const Verdict& verdict, const std::string& node) {
  std::size_t there = 0, accused = 0;
  for (const RankFacts& facts : scene.view.ranks) {
    if (facts.node != node) continue;
    ++there;
    accused += Contains(verdict.entity.ranks, facts.rank);
  }
  return 2 * accused >= there;
}

void SetStretches(const NodeHardware& node, HardwareCase& c) {
  const Verdict& verdict = c.verdict;
  const bool dated = verdict.since_time.known() && !verdict.from_start;
  const WallNs from = dated ? verdict.since_time : node.newest - kWithoutOnset;
  c.now = {from, node.newest};
  c.lately = {from - kLookBack, node.newest};
  if (dated) c.before = Stretch{WallNs(1), from - kBeforeOnset};
}

// Nothing where the node is not sampled, or was not since the onset.
std::optional<HardwareCase> CaseOf(const Scene& scene, const Verdict& verdict,
                                   const RankFacts& facts, bool one_rank) {
  const NodeHardware* node = HardwareOf(scene.hardware, facts.node);
  if (node == nullptr) return std::nullopt;
  HardwareCase c{verdict, facts.node, nullptr, {}, {}, {}, false, {}, {}, {}, nullptr, {}};
  SetStretches(*node, c);
  if (c.now.to <= c.now.from) return std::nullopt;
  if (one_rank) c.gpu = DeviceOf(*node, facts);
  if (one_rank) c.process = ProcessOf(*node, facts);
  for (const HardwareDevice& device : node->devices) {
    if (OfNode(device)) c.devices.push_back(&device);
  }
  AddPeers(scene, c);
  c.node_decides = HalfOfNodeAccused(scene, verdict, facts.node);
  return c;
}

// Each accused rank; of a group or a link each of its nodes once.
std::vector<HardwareCase> CasesOf(const Scene& scene, const Verdict& verdict) {
  const bool of_ranks =
      verdict.entity.type == EntityType::kRank || verdict.entity.type == EntityType::kGpu;
  std::vector<HardwareCase> cases;
  std::set<std::string> nodes;
  for (const RankId rank : verdict.entity.ranks) {
    const RankFacts* facts = FactsOf(scene.view, rank);
    if (facts == nullptr || cases.size() >= kMostCases) continue;
    if (!nodes.insert(facts->node).second && !of_ranks) continue;
    if (auto c = CaseOf(scene, verdict, *facts, of_ranks)) cases.push_back(*std::move(c));
  }
  return cases;
}

void PutIntoSentence(const HardwareFinding& finding, const std::string& node, Cause cause,
                     Verdict& verdict) {
  const std::string words = CauseInWords(cause);
  const std::size_t at = verdict.sentence.find(words);
  if (at == std::string::npos) {
    absl::StrAppend(&verdict.sentence, " On node ", node, ": ", finding.words, ".");
    return;
  }
  const std::string plain = words.substr(0, words.find(" ("));
  verdict.sentence.replace(at, words.size(), absl::StrCat(plain, ", ", finding.words, ","));
  // A comma that meets another sign.
  const std::size_t end = at + plain.size() + finding.words.size() + 3;
  if (end < verdict.sentence.size() && verdict.sentence[end] != ' ') {
    verdict.sentence.erase(end - 1, 1);
  }
}

void Decide(const HardwareFinding& finding, const HardwareCase& c, Verdict& verdict) {
  PutIntoSentence(finding, c.node, verdict.cause, verdict);
  if (finding.convicts) verdict.grade = std::max(verdict.grade, Grade::kSupported);
  if (finding.cause != Cause::kUnknown) {
    verdict.cause = finding.cause;
    verdict.owner = OwnerOf(finding.cause);
  }
  if (finding.names_gpu && verdict.entity.ranks.size() == 1 &&
      verdict.entity.type == EntityType::kRank) {
    verdict.entity.type = EntityType::kGpu;
    verdict.entity.gpu = c.gpu->name;
    verdict.owner = Owner::kOperations;
  }
  verdict.counter = finding.counter;
  verdict.action_text = absl::StrCat(finding.action, " ", verdict.action_text);
}

void Put(const HardwareFindings& findings, const HardwareCase& c, Verdict& verdict) {
  for (const HardwareFinding& finding : findings.found) {
    const bool first = verdict.counter.empty() && finding.decides;
    const bool lead = first && !verdict.evidence.empty();
    verdict.evidence.insert(lead ? verdict.evidence.begin() + 1 : verdict.evidence.end(),
                            finding.evidence);
    if (first) Decide(finding, c, verdict);
  }
  std::size_t told = 0;
  for (const Evidence& each : findings.counter_evidence) {
    if (told++ < kMostCounter) verdict.counter_evidence.push_back(each);
  }
}

void TellMissing(const Scene& scene, const HardwareCase& c, Verdict& verdict) {
  for (const HardwareSourceState& source : HardwareOf(scene.hardware, c.node)->sources) {
    // What is not on the machine does not hide anything, but for the driver's library.
    const bool hides = source.state == "failed" || source.state == "hangs";
    const bool driver = source.name == "nvml" && source.state == "missing" &&
                        !GpuOf(scene.view, verdict.entity.ranks.front()).empty();
    if (!hides && !driver) continue;
    verdict.would_change.push_back(absl::StrCat("Readings of ", source.name, " on node ", c.node,
                                                ", which is ", source.state, ": ", source.reason,
                                                "."));
  }
}

void TellOne(const Scene& scene, Verdict& verdict) {
  const Verdict as_it_was = verdict;
  bool first = true;
  for (const HardwareCase& c : CasesOf(scene, as_it_was)) {
    HardwareFindings findings;
    for (const HardwareRule& rule : AllHardwareRules()) {
      if (rule.concerns(as_it_was)) rule.examine(c, findings);
    }
    if (!first) findings.counter_evidence.clear();
    Put(findings, c, verdict);
    if (std::exchange(first, false)) TellMissing(scene, c, verdict);
  }
}

}  // namespace

std::vector<std::string> HardwareNodesWanted(const JobView& view,
                                             const std::vector<Verdict>& verdicts) {
  std::set<std::string> wanted, others;
  const std::set<RankId> accused = AccusedBy(verdicts);
  if (accused.empty()) return {};
  for (const RankFacts& facts : view.ranks) {
    if (facts.node.empty()) continue;
    (accused.contains(facts.rank) ? wanted : others).insert(facts.node);
  }
  const std::size_t count = std::min(kMostPeerNodes, others.size());
  const std::vector<std::string> all(others.begin(), others.end());
  for (std::size_t i = 0; i < count; ++i) wanted.insert(all[i * all.size() / count]);
  return {wanted.begin(), wanted.end()};
}

void TellHardware(const JobView& view, const std::vector<NodeHardware>& hardware,
                  std::vector<Verdict>& verdicts) {
  if (hardware.empty()) return;
  Scene scene{view, hardware, AccusedBy(verdicts), {}};
  for (const RankFacts& facts : view.ranks) {
    if (scene.accused.contains(facts.rank)) scene.accused_nodes.insert(facts.node);
  }
  for (Verdict& verdict : verdicts) {
    if (Accuses(verdict)) TellOne(scene, verdict);
  }
}

}  // namespace fathom::diagnosis
