// The sources that read files of the kernel: network devices, RDMA ports, disks, processors,
// memory.
//
// Made by session/hardware_watch, run by source_runner.
//
//   network  /sys/class/net/*            of devices that are real: they have a device/ or are bonds
//   rdma     /sys/class/infiniband/*/ports/*
//   disk     /proc/diskstats             whole disks, since the last sample
//   cpu      /sys/devices/system/cpu, /proc/pressure/cpu
//   memory   /proc/meminfo, /proc/vmstat, /proc/pressure/{memory,io}
//
// Counters are told as the kernel counts them; shares of the time since the source's last sample.
// Units: those of HardwareMetric. Thread-safety, ownership: as hardware_source.h.
// Errors: NotFound where the kernel has no such folder or file, or nothing is in it; a single file
// that is missing or does not parse leaves its reading out.
// Cost: a sample of each takes 0.1 to 0.3 ms (docs/operations/hardware.md).
#ifndef FATHOM_DAEMON_AGENT_SOURCE_HARDWARE_SYSTEM_SOURCES_H_
#define FATHOM_DAEMON_AGENT_SOURCE_HARDWARE_SYSTEM_SOURCES_H_

#include <functional>
#include <memory>
#include <vector>

#include "daemon/agent/source/hardware/hardware_source.h"
#include "daemon/agent/source/process/proc_file.h"

namespace fathom::agent {

std::unique_ptr<HardwareSource> MakeNetworkSource(const KernelRoots& roots);
std::unique_ptr<HardwareSource> MakeRdmaSource(const KernelRoots& roots);
std::unique_ptr<HardwareSource> MakeDiskSource(const KernelRoots& roots,
                                               std::function<MonoNs()> now);
std::unique_ptr<HardwareSource> MakeCpuSource(const KernelRoots& roots);
std::unique_ptr<HardwareSource> MakeMemorySource(const KernelRoots& roots);

// All of them.
std::vector<std::unique_ptr<HardwareSource>> MakeSystemSources(const KernelRoots& roots,
                                                               const std::function<MonoNs()>& now);

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SOURCE_HARDWARE_SYSTEM_SOURCES_H_
