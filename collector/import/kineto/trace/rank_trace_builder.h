// Sifts the events of one trace into a RankTrace.
//
// The sink between TraceReader and the rest of the importer.
//
// Model: knows every name that PyTorch has given to the same thing: categories `Kernel` and
// `kernel`, `Operator` and `cpu_op`, `Runtime` and `cuda_runtime`; collectives as `c10d::…`,
// `record_param_comms` with NCCL's metadata, `gloo:…` and `nccl:…` annotations, NCCL kernels with
// or without metadata.
//
// Thread-safety: belongs to one thread. Ownership: owns what it has sifted until Take().
// Errors: none; what it does not know it ignores.
// Cost: hot path: a few comparisons of short texts an event; memory for the events it keeps.
#ifndef FATHOM_COLLECTOR_IMPORT_KINETO_TRACE_RANK_TRACE_BUILDER_H_
#define FATHOM_COLLECTOR_IMPORT_KINETO_TRACE_RANK_TRACE_BUILDER_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "collector/import/kineto/trace/call_log.h"
#include "collector/import/kineto/trace/names.h"
#include "collector/import/kineto/trace/rank_trace.h"
#include "collector/import/kineto/trace/trace_reader.h"
#include "collector/import/kineto/trace/work_log.h"

namespace fathom::collector::kineto {

class RankTraceBuilder final : public TraceSink {
 public:
  // Python functions, ops and annotations shorter than this are not kept: they cannot explain a
  // slow iteration.
  static constexpr std::int64_t kLongPythonNs = 1'000'000;

  // `whole`: somebody will draw all that the training thread and the device did.
  // `patterns`: those of functions are wanted too.
  explicit RankTraceBuilder(bool whole = false, bool patterns = false)
      : patterns_(patterns), log_(whole) {}

  bool WantsArgs(const TraceEvent& event) override;
  void OnEvent(const TraceEvent& event, const EventArgs& args) override;

  // The sorted, sealed result. Call once, after the last event.
  RankTrace Take(ReadSummary summary);

 private:
  void OnHost(Category category, const TraceEvent& event, const EventArgs& args);
  void OnDevice(Category category, const TraceEvent& event, const EventArgs& args);
  // KindOfKernel(), looked at once a name.
  std::optional<CollectiveKind> KindOf(std::uint32_t name, std::string_view text);
  void OnPython(const TraceEvent& event);
  void OnStep(const TraceEvent& event);
  void AddMark(diagnosis::MarkKind kind, const TraceEvent& event);
  void AddComm(CommPart part, CollectiveKind kind, const TraceEvent& event, const EventArgs& args);
  void LearnGroup(const EventArgs& args);
  void AddGrid(const TraceEvent& event, const EventArgs& args);
  void AddGridsOfLaunches();

  const bool patterns_;
  RankTrace trace_;
  WorkLog log_;
  CallLog calls_;
  struct KernelName {
    bool seen = false;
    std::optional<CollectiveKind> kind;
  };
  std::vector<KernelName> kernel_names_;  // by WorkLog::NameOf
  std::vector<PythonCall> long_ops_;      // stand in for Python functions where there are none
  std::vector<std::pair<std::int64_t, std::int64_t>> without_grid_;   // kernels: begin, launch
  absl::flat_hash_map<std::int64_t, std::int64_t> blocks_of_launch_;  // where it tells them
  ThreadOps* ops_ = nullptr;  // of ops_thread_: most events follow one of the same thread
  std::int64_t ops_thread_ = kAbsent;
  bool seen_ = false;
};

}  // namespace fathom::collector::kineto

#endif  // FATHOM_COLLECTOR_IMPORT_KINETO_TRACE_RANK_TRACE_BUILDER_H_
