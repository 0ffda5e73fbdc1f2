#include "collector/runs/work_figures.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>

#include "fathom/v1/probe.pb.h"

namespace fathom::collector {
namespace {

using diagnosis::DevicePeak;
using diagnosis::IterationParts;

constexpr std::int64_t kProbesLookedAt = 5;  // the newest; one may have been stopped

// What the newest probe that measured it says of the whole node; 0: none did.
double Measured(const std::vector<v1::NodeProbe>& probes, const char* name) {
  for (const v1::NodeProbe& probe : probes) {
    for (const v1::ProbeResult& result : probe.results()) {
      for (const v1::ProbeFigure& figure : result.figures()) {
        if (figure.name() == name && figure.where().empty() && figure.value() > 0) {
          return figure.value();
        }
      }
    }
  }
  return 0;
}

// The peaks of the job's nodes, together; not known where one of them is not.
DevicePeak PeakOfNodes(const JobState& job, Store& store) {
  DevicePeak sum;
  bool first = true;
  constexpr auto kDouble = static_cast<std::size_t>(FlopClass::kFp64);
  constexpr auto kSingle = static_cast<std::size_t>(FlopClass::kFp32);
  std::vector<std::string> nodes;
  job.Read([&](const RankTable& ranks, const GroupTable&, const SummaryWindow&) {
    nodes = ranks.nodes();
  });
  for (const std::string& node : nodes) {
    const auto probes = store.Probes(node, kProbesLookedAt);
    const double single = Measured(probes, "gemm_fp32"), twice = Measured(probes, "gemm_fp64");
    const auto add = [&](std::size_t which, double peak) {
      const bool known = peak > 0 && (first || sum.flop_per_s[which] > 0);
      sum.flop_per_s[which] = known ? sum.flop_per_s[which] + peak : 0;
    };
    add(kSingle, single);
    add(kDouble, twice);
    first = false;
  }
  if (sum.known()) sum.source = "probe";
  return sum;
}

std::string WhyNoMfu(const DevicePeak& peak, const std::string& device) {
  if (device.empty()) return "the device is not known";
  if (device == "cpu") {
    return peak.known() ? "the probe of the nodes measured no products of this type"
                        : "no node of the job was probed (`fathom probe`)";
  }
  return peak.known() ? absl::StrCat("the data sheet of ", device, " has no peak for this type")
                      : absl::StrCat("no peak is known of ", device);
}

}  // namespace

DevicePeak PeakOfRank(const JobState& job, const JobWork& work, Store& store) {
  if (work.device != "cpu") return diagnosis::PeakOf(work.device);
  DevicePeak peak = PeakOfNodes(job, store);
  const auto ranks = static_cast<double>(std::max(1U, work.ranks));
  for (double& flop_per_s : peak.flop_per_s) flop_per_s /= ranks;
  return peak;
}

WorkFigures FiguresOf(const IterationParts& parts, std::uint32_t ranks, const DevicePeak& peak,
                      const std::string& device) {
  WorkFigures figures;
  figures.device = device;
  figures.ranks = ranks;
  if (parts.duration_s <= 0) return figures;
  figures.iterations = 1;
  if (parts.void_known > 0) {
    figures.void_between = parts.void_between_s / parts.duration_s;
    figures.void_within = parts.void_within_s / parts.duration_s;
  }
  if (parts.flop_known <= 0) {
    figures.mfu_unknown = "no product of matrices was seen";
    return figures;
  }
  figures.flop_per_s = ranks * SumOf(parts.flop) / parts.duration_s;
  const auto seconds = peak.Seconds(parts.flop);
  if (seconds) {
    figures.mfu = *seconds / parts.duration_s;
    figures.peak_source = peak.source;
  } else {
    figures.mfu_unknown = WhyNoMfu(peak, device);
  }
  return figures;
}

std::string InWords(const WorkFigures& figures) {
  constexpr double kGiga = 1e9, kPercent = 100;
  std::string text;
  if (figures.flop_per_s > 0) {
    absl::StrAppendFormat(
        &text, "%s %.4g GFLOP/s in products of matrices",
        figures.ranks == 1 ? "It computes" : absl::StrCat("Its ", figures.ranks, " ranks compute"),
        figures.flop_per_s / kGiga);
    if (figures.mfu) {
      absl::StrAppendFormat(&text, ", %.3g %% of what its devices can (MFU, peak by %s)",
                            kPercent * *figures.mfu, figures.peak_source);
    } else {
      absl::StrAppend(&text, "; MFU is not told, for ", figures.mfu_unknown);
    }
    text += ". ";
  }
  if (figures.void_between && figures.void_within) {
    absl::StrAppendFormat(
        &text,
        "Nothing that is seen runs for %.3g %% of an iteration at its border and %.3g %% within.",
        kPercent * *figures.void_between, kPercent * *figures.void_within);
  }
  return text;
}

WorkFigures FiguresOf(const JobWork& work, const DevicePeak& peak) {
  IterationParts sum;
  for (const auto& [iteration, parts] : work.iterations) sum += parts;
  WorkFigures figures =
      FiguresOf(diagnosis::MeanOf(sum, work.iterations.size()), work.ranks, peak, work.device);
  if (figures.iterations > 0)
    figures.iterations = static_cast<std::int64_t>(work.iterations.size());
  return figures;
}

WorkFigures FiguresOf(const JobState& job, Store& store) {
  const JobWork work = job.Work();
  return FiguresOf(work, PeakOfRank(job, work, store));
}

}  // namespace fathom::collector
