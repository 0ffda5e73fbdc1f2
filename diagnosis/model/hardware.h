// What the hardware of some nodes said of itself, as plain data: readings over time.
//
// Made by the collector from fathom.v1.NodeHardware (collector/agents/hardware_table), read by
// diagnosis/hardware. It is apart from JobView, because only the nodes of a verdict and of a sample
// of its peers are looked at.
//
// Model: a series holds where its value changed; between two points it stays as it was. Points are
// in order of time, by the clock of the node. A counter's value only matters by its increase.
// Thread-safety: plain values.
#ifndef FATHOM_DIAGNOSIS_MODEL_HARDWARE_H_
#define FATHOM_DIAGNOSIS_MODEL_HARDWARE_H_

#include <string>
#include <vector>

#include "proto/types/hardware_metric.h"
#include "proto/types/time_units.h"

namespace fathom::diagnosis {

struct HardwarePoint {
  WallNs at;
  double value = 0;
};

struct HardwareSeries {
  HardwareMetric metric = HardwareMetric::kUnknown;
  std::vector<HardwarePoint> points;
  std::string note;  // of the newest
};

struct HardwareDevice {
  DeviceKind kind = DeviceKind::kUnknown;
  std::string name;  // of a GPU its PCI bus id
  std::vector<HardwareSeries> series;
};

struct HardwareSourceState {
  std::string name, state, reason;  // "nvml", "hangs", "nvmlDeviceGetPowerUsage … does not return"
};

struct NodeHardware {
  std::string node;
  WallNs newest;  // of its readings, by the clock of the node
  std::vector<HardwareDevice> devices;
  std::vector<HardwareSourceState> sources;
};

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_MODEL_HARDWARE_H_
