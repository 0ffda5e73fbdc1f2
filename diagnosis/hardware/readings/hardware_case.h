// What a rule on hardware looks at: one accused rank, the devices that it uses, and those of its
// peers; and what such a rule says.
//
// Made by hardware/tell, read by hardware/rules.
//
// Model: a rule answers one question of one kind of device. A finding holds for the accused and not
// for its peers; a reading that is as it should be is counter-evidence. Stretches: `now` is from
// the onset on, `before` is what was known before it, `lately` is `now` and a minute before it, for
// what comes once and stays (an error, a lost link). Thread-safety: plain values and pure
// functions. Lifetime: of one call of TellHardware.
#ifndef FATHOM_DIAGNOSIS_HARDWARE_READINGS_HARDWARE_CASE_H_
#define FATHOM_DIAGNOSIS_HARDWARE_READINGS_HARDWARE_CASE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnosis/hardware/readings/levels.h"
#include "diagnosis/model/hardware.h"
#include "diagnosis/model/verdict.h"

namespace fathom::diagnosis {

struct HardwareCase {
  const Verdict& verdict;
  std::string node;
  const HardwareDevice* gpu = nullptr;              // of the accused; null: none, or not sampled
  std::vector<const HardwareDevice*> peer_gpus;     // of ranks that are not accused
  std::vector<const HardwareDevice*> devices;       // of the node, GPUs left out
  std::vector<const HardwareDevice*> peer_devices;  // of nodes where nobody is accused
  // The accused are at least half of the job's ranks on the node: what holds for it may be why.
  bool node_decides = false;
  Stretch now, lately;
  std::optional<Stretch> before;  // none: the trouble was there from the start
  // The process of the accused, and those of ranks that are not; null: no reading is of it.
  const HardwareDevice* process = nullptr;
  std::vector<const HardwareDevice*> peer_processes;
};

struct HardwareFinding {
  std::string words;  // after the cause in the sentence: "thermal throttling since 12:03:20 UTC …"
  Evidence evidence;
  std::string counter;            // "sm_clock of GPU 0000:1B:00.0"
  Cause cause = Cause::kUnknown;  // unknown: it leaves the verdict's
  bool names_gpu = false;         // the GPU is the entity
  bool decides = true;            // false: told as evidence alone
  bool convicts = false;          // a lead becomes supported by it
  std::string action;
};

struct HardwareFindings {
  std::vector<HardwareFinding> found;
  std::vector<Evidence> counter_evidence;
};

struct HardwareRule {
  std::string_view name;  // docs/rules/hardware.md has a part on it
  bool (*concerns)(const Verdict&);
  void (*examine)(const HardwareCase&, HardwareFindings&);
};

// What a reading of the accused's GPU shows: it names the GPU. Requires: there is one.
HardwareFinding OnGpu(const HardwareCase& c, std::string words, std::string_view metric,
                      Evidence evidence);
// What a reading of its node shows: it decides where the node does.
HardwareFinding OnNode(const HardwareCase& c, std::string words, std::string_view metric,
                       Evidence evidence);

inline constexpr char kHardwareReadings[] = "hardware readings";

// Whether a rank is accused of what keeps its host from running: what `concerns` is of such rules.
bool ConcernsOwnTime(const Verdict& verdict);

// A reading of the accused against its own past and its peers.
struct Compared {
  double now = 0;
  std::optional<double> before, peers;  // peers: median of their levels
  std::size_t compared = 0;             // peers

  // What it should be: as before, else as the peers; 0 where neither is known.
  double reference() const { return before ? *before : peers.value_or(0); }
  // It is by `share` lower (higher) than it was, and than its peers, as far as these are known.
  bool Lower(double share) const;
  bool Higher(double share, double least) const;
};

std::optional<Compared> Compare(const HardwareDevice& own,
                                const std::vector<const HardwareDevice*>& peers,
                                HardwareMetric metric, const HardwareCase& c);

std::vector<const HardwareDevice*> OfKind(const std::vector<const HardwareDevice*>& devices,
                                          DeviceKind kind);

// The median of what a counter rose by on each of them; nothing where none tells.
std::optional<double> MedianIncrease(const std::vector<const HardwareDevice*>& devices,
                                     HardwareMetric metric, Stretch when);

// " since 12:03:20 UTC"; empty where it is not known since when.
std::string SinceWhen(WallNs since);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_HARDWARE_READINGS_HARDWARE_CASE_H_
