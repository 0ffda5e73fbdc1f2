// Which ranks send one another activations, as the stages of a pipeline do, and which ranks are the
// same stage of all pipelines of a job.
//
// Used by slowness/rules/imbalance and slowness/judge/judge_work. Model: ranks that exchange
// messages, directly or over others, are one pipeline; with tensor or data parallelism there are
// several side by side. Messages are those of the rows, but for those that go round a ring
// (graph/rings); a group that carries messages whose peers are not known ties all its members.
// Peers are a group with no two members in one pipeline: the tensor group of a stage, or one stage
// of all replicas. Peers have equal work by design. A group with two members in one pipeline (of
// the whole job, of the first and last stage for shared embeddings) tells nothing of that kind.
//
// Thread-safety: immutable once built. Cost: O(ops in the rows + members of all groups).
#ifndef FATHOM_DIAGNOSIS_GRAPH_PIPELINES_H_
#define FATHOM_DIAGNOSIS_GRAPH_PIPELINES_H_

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "diagnosis/model/job_view.h"

namespace fathom::diagnosis {

class Pipelines {
 public:
  explicit Pipelines(const JobView& view);

  std::size_t size() const { return size_; }

  // From 0; none for a rank without messages.
  std::optional<std::size_t> Of(RankId rank) const;

  // True where each pipeline holds one of `ranks` and others besides, and no rank has peers that
  // are not among them: one device that is slow in one replica is no stage.
  bool AreOneStage(const std::vector<RankId>& ranks) const;

 private:
  bool ArePeers(const Group& group) const;

  const JobView& view_;
  std::map<RankId, std::size_t> of_;
  std::size_t size_ = 0;
};

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_GRAPH_PIPELINES_H_
