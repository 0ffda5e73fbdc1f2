// Network devices and RDMA ports.
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "daemon/agent/source/hardware/kernel_number.h"
#include "daemon/agent/source/hardware/system_sources.h"

namespace fathom::agent {
namespace {

bool Exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

// The sum of those files that are there; nothing where none is.
std::optional<double> SumOf(const std::string& folder, std::initializer_list<const char*> files) {
  std::optional<double> sum;
  for (const char* file : files) {
    const auto value = NumberIn(absl::StrCat(folder, "/", file));
    if (value) sum = sum.value_or(0) + *value;
  }
  return sum;
}

// Adds what is there of one device.
class DeviceReadings {
 public:
  DeviceReadings(DeviceKind kind, std::string device, std::vector<Reading>& out)
      : kind_(kind), device_(std::move(device)), out_(out) {}
  void Add(HardwareMetric metric, std::optional<double> value) {
    if (value && *value >= 0) out_.push_back({kind_, device_, metric, *value, ""});
  }

 private:
  const DeviceKind kind_;
  const std::string device_;
  std::vector<Reading>& out_;
};

class NetworkSource : public HardwareSource {
 public:
  explicit NetworkSource(const KernelRoots& roots) : folder_(roots.sys + "/class/net") {}

  std::string_view name() const override { return "network"; }

  absl::Status Sample(CallInProgress& doing, std::vector<Reading>& out) override {
    doing.Enter("reading /sys/class/net");
    for (const std::string& name : NamesIn(folder_)) {
      const std::string device = absl::StrCat(folder_, "/", name);
      if (Exists(device + "/device") || Exists(device + "/bonding")) ReadDevice(device, name, out);
    }
    if (out.empty()) return absl::NotFoundError("no network device of its own in /sys/class/net");
    return absl::OkStatus();
  }

 private:
  static void ReadDevice(const std::string& device, const std::string& name,
                         std::vector<Reading>& out) {
    // A device that nobody has switched on says nothing.
    const auto carrier = NumberIn(device + "/carrier");
    const auto changes = NumberIn(device + "/carrier_changes");
    if (!carrier && changes.value_or(0) < 2) return;
    DeviceReadings of(DeviceKind::kNetwork, name, out);
    of.Add(HardwareMetric::kCarrier, carrier.value_or(0));
    of.Add(HardwareMetric::kCarrierChanges, changes);
    of.Add(HardwareMetric::kSpeed, NumberIn(device + "/speed"));
    const std::string statistics = device + "/statistics";
    of.Add(HardwareMetric::kLinkErrors, SumOf(statistics, {"rx_errors", "tx_errors"}));
    of.Add(HardwareMetric::kDrops, SumOf(statistics, {"rx_missed_errors", "tx_dropped"}));
  }

  const std::string folder_;
};

class RdmaSource : public HardwareSource {
 public:
  explicit RdmaSource(const KernelRoots& roots) : folder_(roots.sys + "/class/infiniband") {}

  std::string_view name() const override { return "rdma"; }

  absl::Status Sample(CallInProgress& doing, std::vector<Reading>& out) override {
    doing.Enter("reading /sys/class/infiniband");
    for (const std::string& device : NamesIn(folder_)) {
      const std::string ports = absl::StrCat(folder_, "/", device, "/ports");
      for (const std::string& port : NamesIn(ports, 4)) {
        ReadPort(absl::StrCat(ports, "/", port), absl::StrCat(device, "/", port), out);
      }
    }
    if (out.empty()) return absl::NotFoundError("no RDMA port in /sys/class/infiniband");
    return absl::OkStatus();
  }

 private:
  static void ReadPort(const std::string& port, const std::string& name,
                       std::vector<Reading>& out) {
    DeviceReadings of(DeviceKind::kRdma, name, out);
    // "4: ACTIVE"
    const auto state = ReadSmallFile(port + "/state");
    if (state.ok()) of.Add(HardwareMetric::kPortActive, absl::StartsWith(*state, "4:") ? 1 : 0);
    // "400 Gb/sec (4X NDR)"
    const auto rate = NumberIn(port + "/rate");
    if (rate) of.Add(HardwareMetric::kSpeed, *rate * 1000);
    const std::string counters = port + "/counters";
    of.Add(HardwareMetric::kLinkDowned, NumberIn(counters + "/link_downed"));
    of.Add(HardwareMetric::kSymbolErrors, NumberIn(counters + "/symbol_error"));
    of.Add(HardwareMetric::kLinkErrors,
           SumOf(counters, {"port_rcv_errors", "link_error_recovery", "local_link_integrity_errors",
                            "excessive_buffer_overrun_errors"}));
    of.Add(HardwareMetric::kRetransmits,
           SumOf(port + "/hw_counters", {"out_of_sequence", "packet_seq_err",
                                         "local_ack_timeout_err", "roce_adp_retrans"}));
  }

  const std::string folder_;
};

}  // namespace

std::unique_ptr<HardwareSource> MakeNetworkSource(const KernelRoots& roots) {
  return std::make_unique<NetworkSource>(roots);
}

std::unique_ptr<HardwareSource> MakeRdmaSource(const KernelRoots& roots) {
  return std::make_unique<RdmaSource>(roots);
}

}  // namespace fathom::agent
