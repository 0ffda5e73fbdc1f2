#include "collector/simulate/kineto/trace_files.h"

#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "collector/simulate/kineto/job_play.h"
#include "collector/simulate/kineto/trace_json.h"
#include "collector/simulate/play/random.h"

namespace fathom::simulate::kineto {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kClocks = 106;  // what random numbers are drawn for; part of their key
constexpr double kUsPerSecond = 1e6;

// Ranks that use what the fault is in: those that a verdict on it may name. Of unequal work none.
std::vector<std::uint32_t> RanksOf(const Fault& fault, const Layout& layout) {
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t rank = 0; rank < layout.world(); ++rank) {
    const bool on_node = layout.NodeOf(rank) == layout.NodeOf(fault.rank);
    bool named = rank == fault.rank;
    if (fault.kind == FaultKind::kSlowHost || fault.kind == FaultKind::kSlowNvlink) named = on_node;
    if (fault.kind == FaultKind::kSlowPath) {
      named = on_node || layout.NodeOf(rank) == layout.NodeOf(fault.peer);
    }
    if (fault.kind == FaultKind::kSlowLeaf)
      named = layout.LeafOf(rank) == layout.LeafOf(fault.rank);
    if (fault.kind == FaultKind::kSlowSpine) named = true;
    if (IsImbalance(fault.kind) || fault.kind == FaultKind::kGrowth) named = false;
    if (named) ranks.push_back(rank);
  }
  return ranks;
}

std::string_view PlanOf(const Scenario& scenario) {
  const ParallelPlan& plan = scenario.plan;
  if (plan.tensor * plan.pipeline * plan.context * plan.expert > 1) return "parallel";
  return plan.sharding == Sharding::kFsdp ? "fsdp" : "ddp";
}

std::string TruthJson(const Scenario& scenario, const Window& window, const Layout& layout,
                      const Written& written) {
  std::string faults;
  for (const Fault& fault : scenario.faults) {
    std::string ranks;
    for (const std::uint32_t rank : RanksOf(fault, layout)) {
      absl::StrAppend(&ranks, ranks.empty() ? "" : ", ", rank);
    }
    absl::StrAppendFormat(
        &faults,
        R"(%s{"kind": "%s", "rank": %d, "peer": %d, "node": "%s", "ranks": [%s], "factor": %g, )"
        R"("ms": %g, "from": %d, "every": %d})",
        faults.empty() ? "" : ", ", ToString(fault.kind), fault.rank, fault.peer,
        NodeName(layout.NodeOf(fault.rank)), ranks, fault.factor, fault.ms, fault.from,
        fault.every);
  }
  const ParallelPlan& plan = scenario.plan;
  return absl::StrFormat(
      R"({"plan": "%s", "tensor": %d, "pipeline": %d, "data": %d, "ranks": %d, "seed": %d, )"
      R"("first": %d, "iterations": %d, "seconds": %.6f, "well_seconds": %.6f, "impact": %.6f, )"
      R"("faults": [%s]})"
      "\n",
      PlanOf(scenario), plan.tensor, plan.pipeline, plan.data, written.ranks, scenario.seed,
      window.first, window.iterations, written.seconds, written.well_seconds,
      written.seconds / written.well_seconds - 1, faults);
}

absl::Status CheckWindow(const Scenario& scenario, const Window& window) {
  if (window.iterations < 1 || window.first < 0) {
    return absl::InvalidArgumentError("a window has at least one iteration, none before the first");
  }
  for (const Fault& fault : scenario.faults) {
    if (IsHang(fault.kind)) {
      return absl::InvalidArgumentError(
          "a job that hangs leaves no traces of torch.profiler: its window never ends");
    }
    if (fault.from >= window.first + window.iterations || fault.until <= window.first) {
      return absl::InvalidArgumentError(
          absl::StrCat("the fault at iteration ", fault.from, " lies outside of the window of ",
                       window.iterations, " iterations from ", window.first, " on"));
    }
  }
  return absl::OkStatus();
}

absl::Status MakeFolder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return absl::UnavailableError(absl::StrCat("'", folder, "': ", error.message()));
  if (!fs::is_empty(folder, error) || error) {
    return absl::AlreadyExistsError(
        absl::StrCat("'", folder, "' is not empty: traces of two jobs would be read as one"));
  }
  return absl::OkStatus();
}

absl::Status WriteCompressed(const fs::path& path, const std::string& text) {
  gzFile file = gzopen(path.c_str(), "wb1");
  const bool written =
      file != nullptr && gzwrite(file, text.data(), static_cast<unsigned>(text.size())) ==
                             static_cast<int>(text.size());
  const bool closed = file != nullptr && gzclose(file) == Z_OK;
  if (written && closed) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("'", path.string(), "' cannot be written"));
}

// How long the window lasts; below 0: the job came to a standstill.
double SecondsOf(const Scenario& scenario, const Window& window) {
  JobPlay job(scenario);
  const double begin = job.end_us();
  return job.Play(window.first, window.iterations) ? (job.end_us() - begin) / kUsPerSecond : -1;
}

}  // namespace

absl::StatusOr<Written> WriteTraces(const Scenario& scenario, const Window& window,
                                    const std::string& folder) {
  if (auto status = CheckWindow(scenario, window); !status.ok()) return status;
  if (auto status = MakeFolder(folder); !status.ok()) return status;
  Scenario well = scenario;
  well.faults.clear();
  Written written;
  written.well_seconds = SecondsOf(well, window);
  JobPlay job(scenario);
  const double begin = job.end_us();
  if (written.well_seconds < 0 || !job.Play(window.first, window.iterations)) {
    return absl::InternalError("the simulated job came to a standstill");
  }
  written.seconds = (job.end_us() - begin) / kUsPerSecond;
  written.ranks = job.layout().world();
  const std::uint64_t key = Mix(scenario.seed, kClocks);
  for (std::uint32_t rank = 0; rank < written.ranks; ++rank) {
    const double off = 2 * Uniform(Mix(key, job.layout().NodeOf(rank))) - 1;
    const double shift_us = off * scenario.noise.clock_offset_ms * 1e3;
    const fs::path path = fs::path(folder) / absl::StrCat("rank", rank, ".json.gz");
    auto status =
        WriteCompressed(path, TraceJson(job, rank, shift_us, scenario.cluster.gpus_per_node));
    if (!status.ok()) return status;
  }
  written.truth = TruthJson(scenario, window, job.layout(), written);
  std::ofstream truth(fs::path(folder) / "truth.json", std::ios::binary);
  truth << written.truth;
  truth.close();
  if (!truth) return absl::UnavailableError(absl::StrCat("'", folder, "': truth.json"));
  return written;
}

}  // namespace fathom::simulate::kineto
