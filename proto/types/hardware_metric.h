// What is read of a node's hardware, and of which kind of device.
//
// Told by daemon/agent (source/hardware), carried by fathom.v1.NodeHardware, used by the collector
// and by diagnosis/hardware. docs/operations/hardware.md lists the readings.
//
// Model: a gauge is a value of now; a counter only rises, and only its increase tells something.
// A gauge is worth telling again once it has moved by `absolute` and by `relative` of itself, a
// counter whenever it moved. Units are in the comments and in MetricOf().unit.
//
// The numbers are part of the wire: never renumbered, only added. std only. Thread-safety: values.
#ifndef FATHOM_PROTO_TYPES_HARDWARE_METRIC_H_
#define FATHOM_PROTO_TYPES_HARDWARE_METRIC_H_

#include <cstdint>
#include <string_view>

namespace fathom {

enum class DeviceKind : std::uint8_t {
  kUnknown = 0,
  kGpu = 1,      // named by its PCI bus id
  kNetwork = 2,  // by its interface, "eth0"
  kRdma = 3,     // by device and port, "mlx5_0/1"
  kDisk = 4,     // by its block device, "nvme0n1"
  kCpu = 5,      // all of the node: "cpu"
  kMemory = 6,   // all of the node: "memory"
  kProcess = 7,  // a traced one, by its pid
  // A TCP connection of a traced process: "PID LOCAL PEER", "4711 10.0.0.3:41234 10.0.0.4:5512"
  kConnection = 8,
};
inline constexpr std::uint8_t kDeviceKindCount = 9;

enum class HardwareMetric : std::uint8_t {
  kUnknown = 0,
  kSmClock = 1,             // MHz
  kMaxSmClock = 2,          // MHz
  kMemoryClock = 3,         // MHz
  kMaxMemoryClock = 4,      // MHz
  kClockReasons = 5,        // bits of NVML's nvmlClocksEventReason…
  kTemperature = 6,         // °C
  kPower = 7,               // W
  kPowerLimit = 8,          // W
  kEccCorrected = 9,        // counter
  kEccUncorrected = 10,     // counter
  kRemappedRows = 11,       // counter
  kRemapPending = 12,       // 1: a row waits for a reset to be remapped; 2: a remap failed
  kXidErrors = 13,          // counter; its note is the newest, "Xid 79"
  kPcieWidth = 14,          // lanes
  kMaxPcieWidth = 15,       // lanes
  kPcieGeneration = 16,     // drops by itself while the GPU idles
  kMaxPcieGeneration = 17,  //
  kPcieReplays = 18,        // counter
  kNvlinkErrors = 19,       // counter: replays, recoveries, CRC errors of all links
  kNvlinksUp = 20,          // links
  kOtherProcesses = 21,     // on the GPU, that belong to no traced job; note: "python3 (pid 71)"
  kGpuLost = 22,            // 1: it does not answer any more
  kCarrier = 23,            // 1: the link is up
  kCarrierChanges = 24,     // counter
  kSpeed = 25,              // Mbit/s
  kLinkErrors = 26,         // counter: of what was sent and received
  kDrops = 27,              // counter: likewise
  kPortActive = 28,         // 1: the RDMA port is ACTIVE
  kLinkDowned = 29,         // counter
  kSymbolErrors = 30,       // counter
  kRetransmits = 31,        // counter: out of sequence, timeouts of acknowledgements
  kDiskBusy = 32,           // share of the time, 0 to 1
  kDiskWait = 33,           // ms an operation
  kPressureCpu = 34,        // share of the time that something waited for it (PSI some), 0 to 1
  kPressureMemory = 35,     // likewise
  kPressureIo = 36,         // likewise
  kCpuClock = 37,           // MHz, mean over the cores
  kMaxCpuClock = 38,        // MHz
  kCpuThrottles = 39,       // counter: thermal events of all cores
  kMemoryAvailable = 40,    // share of all, 0 to 1
  kSwappedPages = 41,       // counter: in and out
  kOomKills = 42,           // counter
  kCpuLimit = 43,           // cores that its control groups let a process use
  kHeldBack = 44,           // share of the periods in which that was used up, 0 to 1
  kConfirmedBytes = 45,     // counter: sent, and confirmed by the other end
  kSendingTime = 46,        // counter, s: with data on its way, the other end ready to take it
  kAllowedCores = 47,       // cores that a process may run on
  kCoresTaken = 48,         // share of their time that others spent, 0 to 1
  kPriority = 49,           // niceness of a process; 40: it runs where nobody else wants to
  kStoppedTime = 50,        // counter, s: a process was stopped from outside
};
inline constexpr std::uint8_t kHardwareMetricCount = 51;

struct MetricTraits {
  std::string_view name, unit;
  bool counter = false;
  double absolute = 0, relative = 0;
};

constexpr MetricTraits TraitsOf(HardwareMetric metric) {
  constexpr MetricTraits kTraits[kHardwareMetricCount] = {
      {"unknown", ""},
      {"sm_clock", "MHz", false, 30, 0.03},
      {"max_sm_clock", "MHz"},
      {"memory_clock", "MHz", false, 30, 0.03},
      {"max_memory_clock", "MHz"},
      {"clock_reasons", ""},
      {"temperature", "°C", false, 3, 0},
      {"power", "W", false, 15, 0.1},
      {"power_limit", "W", false, 1, 0},
      {"ecc_corrected", "errors", true},
      {"ecc_uncorrected", "errors", true},
      {"remapped_rows", "rows", true},
      {"remap_pending", ""},
      {"xid_errors", "errors", true},
      {"pcie_width", "lanes"},
      {"max_pcie_width", "lanes"},
      {"pcie_generation", ""},
      {"max_pcie_generation", ""},
      {"pcie_replays", "replays", true},
      {"nvlink_errors", "errors", true},
      {"nvlinks_up", "links"},
      {"other_processes", "processes"},
      {"gpu_lost", ""},
      {"carrier", ""},
      {"carrier_changes", "changes", true},
      {"speed", "Mbit/s"},
      {"link_errors", "errors", true},
      {"drops", "packets", true},
      {"port_active", ""},
      {"link_downed", "times", true},
      {"symbol_errors", "errors", true},
      {"retransmits", "packets", true},
      {"disk_busy", "ratio", false, 0.15, 0},
      {"disk_wait", "ms", false, 5, 0.5},
      {"pressure_cpu", "ratio", false, 0.1, 0.2},
      {"pressure_memory", "ratio", false, 0.03, 0.2},
      {"pressure_io", "ratio", false, 0.05, 0.2},
      {"cpu_clock", "MHz", false, 100, 0.07},
      {"max_cpu_clock", "MHz"},
      {"cpu_throttles", "events", true},
      {"memory_available", "ratio", false, 0.02, 0.1},
      {"swapped_pages", "pages", true},
      {"oom_kills", "kills", true},
      {"cpu_limit", "cores"},
      {"held_back", "ratio", false, 0.1, 0.1},
      {"confirmed_bytes", "bytes", true},
      {"sending_time", "s", true},
      {"allowed_cores", "cores"},
      {"cores_taken", "ratio", false, 0.15, 0.1},
      {"priority", ""},
      {"stopped_time", "s", true},
  };
  const auto i = static_cast<std::uint8_t>(metric);
  return i < kHardwareMetricCount ? kTraits[i] : kTraits[0];
}

constexpr std::string_view DeviceKindName(DeviceKind kind) {
  constexpr std::string_view kNames[kDeviceKindCount] = {
      "unknown", "gpu", "network", "rdma", "disk", "cpu", "memory", "process", "connection"};
  const auto i = static_cast<std::uint8_t>(kind);
  return i < kDeviceKindCount ? kNames[i] : kNames[0];
}

}  // namespace fathom

#endif  // FATHOM_PROTO_TYPES_HARDWARE_METRIC_H_
