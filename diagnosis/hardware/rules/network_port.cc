#include "diagnosis/hardware/rules/network_port.h"

#include <cmath>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace fathom::diagnosis {
namespace {

constexpr double kErrorsPerSecond = 1;
constexpr double kTimesPeers = 10;

bool Concerns(const Verdict& verdict) {
  return verdict.cause == Cause::kCommunicationSlow || verdict.cause == Cause::kLinkSlow ||
         verdict.cause == Cause::kCommunicationHang || verdict.cause == Cause::kUnknown;
}

std::string NameOf(const HardwareDevice& port) {
  return absl::StrCat(port.kind == DeviceKind::kRdma ? "RDMA port " : "NIC ", port.name);
}

void Tell(const HardwareDevice& port, const std::string& words, HardwareMetric metric, double value,
          double peers, HardwareFindings& out) {
  HardwareFinding finding;
  finding.words = absl::StrCat(NameOf(port), ": ", words);
  finding.evidence = {absl::StrFormat("%s of %s since a minute before the onset; on the nodes of "
                                      "others as given.",
                                      TraitsOf(metric).name, NameOf(port)),
                      value, std::string(TraitsOf(metric).unit), peers, kHardwareReadings};
  finding.counter = absl::StrCat(std::string(TraitsOf(metric).name), " of ", NameOf(port));
  finding.action = "Look at its cable, transceiver and switch port, and at the driver's log.";
  out.found.push_back(std::move(finding));
}

// True if it is told.
bool ExamineLink(const HardwareCase& c, const HardwareDevice& port,
                 const std::vector<const HardwareDevice*>& peers, HardwareFindings& out) {
  const struct {
    HardwareMetric up, falls;
    const char* down;
  } kLinks[] = {{HardwareMetric::kCarrier, HardwareMetric::kCarrierChanges, "has no carrier"},
                {HardwareMetric::kPortActive, HardwareMetric::kLinkDowned, "is not active"}};
  for (const auto& link : kLinks) {
    const HardwareSeries* up = SeriesOf(port, link.up);
    const auto fell = IncreaseIn(port, link.falls, c.lately);
    const double others = MedianIncrease(peers, link.falls, c.lately).value_or(0);
    const bool went = up != nullptr && up->points.back().value == 0 && up->points.size() > 1;
    if (went) {
      const WallNs since = SinceBeyond(port, link.up, 0.5);
      Tell(port, absl::StrCat(link.down, SinceWhen(since)), link.up, 0, 1, out);
      return true;
    }
    if (fell.value_or(0) < 1 || others >= *fell) continue;
    // A loss and a return are two changes of the carrier.
    const bool carrier = link.up == HardwareMetric::kCarrier;
    const double times = carrier ? std::ceil(*fell / 2) : *fell;
    Tell(port,
         absl::StrFormat("%s went %.0f time%s", carrier ? "carrier" : "link", times,
                         times < 2 ? "" : "s"),
         link.falls, *fell, others, out);
    return true;
  }
  return false;
}

bool ExamineErrors(const HardwareCase& c, const HardwareDevice& port,
                   const std::vector<const HardwareDevice*>& peers, HardwareFindings& out) {
  const double seconds = (c.now.to - c.now.from).Seconds();
  for (const HardwareMetric metric : {HardwareMetric::kSymbolErrors, HardwareMetric::kLinkErrors,
                                      HardwareMetric::kRetransmits, HardwareMetric::kDrops}) {
    const auto rise = IncreaseIn(port, metric, c.now);
    if (!rise || *rise < kErrorsPerSecond * seconds || *rise < 10) continue;
    const double others = MedianIncrease(peers, metric, c.now).value_or(0);
    if (kTimesPeers * others > *rise) continue;
    // As many before the onset: it was no reason then.
    const double before = c.before ? IncreaseIn(port, metric, *c.before).value_or(0) : 0;
    const double before_s = c.before ? (c.before->to - c.before->from).Seconds() : 0;
    if (before_s > 0 && before / before_s * 3 > *rise / seconds) continue;
    Tell(port, absl::StrFormat("%s %s since the onset", WithCommas(*rise), TraitsOf(metric).name),
         metric, *rise, others, out);
    return true;
  }
  return false;
}

void Examine(const HardwareCase& c, HardwareFindings& out) {
  std::size_t looked_at = 0, told = 0;
  for (const DeviceKind kind : {DeviceKind::kRdma, DeviceKind::kNetwork}) {
    const auto peers = OfKind(c.peer_devices, kind);
    for (const HardwareDevice* port : OfKind(c.devices, kind)) {
      ++looked_at;
      told += ExamineLink(c, *port, peers, out) || ExamineErrors(c, *port, peers, out);
    }
  }
  if (looked_at == 0 || told > 0) return;
  out.counter_evidence.push_back(
      {absl::StrFormat(
           "None of the %d network ports of node %s lost its link or counts more errors "
           "than others.",
           looked_at, c.node),
       0, "", 0, kHardwareReadings});
}

}  // namespace

HardwareRule NetworkPortRule() { return {"network_port", Concerns, Examine}; }

}  // namespace fathom::diagnosis
