// The one model behind the rules: per rank its segments in program order, joined across ranks by
// collectives and messages, each segment with what it usually takes.
//
// Built once in Diagnose() from the rows of a view; read by every rule.
//
// Model: nodes are the gaps (segments of local time and waits) and the ops; edges are program
// order and the joins of graph/instances. The usual value of a gap is its median over the baseline
// iterations of the same rank, or where that rank has too few, of all ranks (a key is the
// same place on every rank of a role); of a transfer, its median over the baseline instances of the
// same group, kind and size.
//
// Units: seconds. Thread-safety: built, then only read. Lifetime: the view must outlive it.
// Cost: O(rows log rows).
#ifndef FATHOM_DIAGNOSIS_GRAPH_EXECUTION_GRAPH_H_
#define FATHOM_DIAGNOSIS_GRAPH_EXECUTION_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "diagnosis/graph/instances.h"
#include "diagnosis/graph/timeline.h"
#include "diagnosis/model/config.h"
#include "diagnosis/model/job_view.h"

namespace fathom::diagnosis {

// Time beyond the usual, split by what it went into. Parts are ≥ 0 and sum to total if that is > 0.
struct Excess {
  double total = 0;
  double compute = 0;     // on the CPU
  double gc = 0;          // Python garbage collection
  double dataloader = 0;  // waiting for or making a batch
  double runqueue = 0;    // runnable, no core free
  double host = 0;        // neither computing nor waiting for anything traced
  double unsplit = 0;     // the CPU clock is not known there
  double crowding = 0;    // of runqueue: what the computing brought along on a full machine

  Excess& operator+=(const Excess& other);
  Excess Scaled(double factor) const;
};

class ExecutionGraph {
 public:
  // `irregular`: the iterations to be explained; other iterations before `onset` are the baseline.
  ExecutionGraph(const JobView& view, const std::set<Iteration>& irregular, Iteration onset,
                 const DiagnosisConfig& config);
  ExecutionGraph(const ExecutionGraph&) = delete;
  ExecutionGraph& operator=(const ExecutionGraph&) = delete;

  const std::vector<RankTimeline>& lines() const { return lines_; }
  const Instances& instances() const { return *instances_; }
  // With rows of all lines; if those are fewer than config.min_irregular, also those that only
  // ranks lack whose rows have ended before: a recording that was cut short.
  const std::vector<Iteration>& irregular() const { return irregular_; }
  const std::vector<Iteration>& baseline() const { return baseline_; }  // with rows of all lines
  // Shorter waits are not followed. Seconds; by the clock that the rows are of.
  double wait_floor() const { return wait_floor_; }

  // What gap `op` of a line took beyond the usual; null where no baseline is known.
  std::optional<Excess> GapExcess(const OpRef& ref) const;
  // Transfer of an instance beyond the usual; null where no baseline is known.
  std::optional<double> TransferExcess(const Instance& instance) const;

 private:
  struct GapKey {
    std::size_t line;
    std::uint64_t key;
    auto operator<=>(const GapKey&) const = default;
  };
  struct Samples {
    std::vector<double> own, cpu, runqueue, gc, dataloader;
  };
  struct Usual {
    double own = 0, cpu = 0, runqueue = 0, gc = 0, dataloader = 0;
    bool cpu_known = false;
  };
  using TransferKey = std::tuple<GroupId, CollectiveKind, std::uint64_t>;

  void LeaveOutNewcomers(Iteration onset);
  void PickIterations(const std::set<Iteration>& irregular, Iteration onset, std::size_t enough);
  void LearnGaps();
  void LearnTransfers();
  std::optional<Usual> UsualFrom(const Samples& samples) const;
  const Usual* UsualOf(const OpRef& ref) const;

  std::size_t samples_ = 0;  // fewest to tell what is usual
  double wait_floor_ = 0;
  std::vector<RankTimeline> lines_;
  std::optional<Instances> instances_;
  std::vector<Iteration> irregular_;
  std::vector<Iteration> baseline_;
  std::map<GapKey, Usual> usual_;
  std::map<std::uint64_t, Usual> usual_of_all_;  // over all ranks
  std::map<TransferKey, double> transfer_;
};

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_GRAPH_EXECUTION_GRAPH_H_
