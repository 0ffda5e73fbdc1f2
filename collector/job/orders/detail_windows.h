// The newest window of detail of a job: which ranks were asked, from which op to which, and what
// each of them brought back.
//
// Owned by JobState. Planned on a person's request (`fathom profile`), sent by ingest/
// window_requests, filled by the agents' replies, read by the view for diagnosis and by the API.
//
// Model: all ranks are to open at the same iteration, some lead time ahead. Ranks whose iterations
// end with an op of the same communicator get one order: sequence numbers there are equal on all
// members. The sequence at the wanted iteration is extrapolated from the newest boundary by the
// step an iteration; should the step have changed meanwhile, the members still open together.
//
// Units: iterations of the job; ns. Thread-safety: thread-compatible (JobState's lock).
// Errors: FailedPrecondition with what to do.
// Cost: O(ranks); until the next window, some 100 bytes a kernel of each rank that was asked
// (kMaxWindowSums of the agent), besides kMaxBytesPerRank. Copies share it.
#ifndef FATHOM_COLLECTOR_JOB_ORDERS_DETAIL_WINDOWS_H_
#define FATHOM_COLLECTOR_JOB_ORDERS_DETAIL_WINDOWS_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "collector/admission/reject_reason.h"
#include "collector/job/ranks/rank_table.h"
#include "collector/job/summaries/summary_window.h"
#include "collector/process/clock.h"
#include "diagnosis/model/job_view.h"

namespace fathom::v1 {
class WindowReply;
}

namespace fathom::collector {

struct WindowWish {
  double seconds = 5;           // of the job's time
  std::vector<RankId> ranks{};  // empty: all
  std::int64_t iterations = 0;  // more: so many instead of seconds
};

// One order to the agent of one node.
struct WindowAsk {
  std::string node;
  GroupId group;
  std::uint64_t open_sequence = 0;
  std::uint64_t close_sequence = 0;
  std::vector<RankId> ranks;
};

struct RankWindowState {
  std::string state = "asked";  // "asked", "closed", "refused"
  std::string reason{};
  std::uint64_t records = 0;
  std::shared_ptr<const diagnosis::DeviceWindow> window{};  // null: it did not open
};

class DetailWindows {
 public:
  // Begins a window under `id`. FailedPrecondition: no iteration is known yet, or one is under way.
  absl::StatusOr<std::vector<WindowAsk>> Plan(std::uint64_t id, const WindowWish& wish,
                                              const RankTable& ranks, const SummaryWindow& window,
                                              Nanos iteration_time, MonoNs now);
  // An ask could not be sent.
  void Refuse(std::uint64_t id, const WindowAsk& ask, const std::string& why);
  // Requires: the ranks are those of the sender. kUnasked: an older window, or nobody asked.
  Rejection Take(const v1::WindowReply& reply);
  void Clear() { *this = DetailWindows(); }

  std::uint64_t id() const { return id_; }  // 0: none yet
  std::int64_t first_iteration() const { return first_; }
  std::int64_t iterations() const { return count_; }
  Nanos patience() const { return patience_; }
  const std::map<RankId, RankWindowState>& ranks() const { return ranks_; }
  // Those that closed and were not cut short, for diagnosis.
  std::map<RankId, std::shared_ptr<const diagnosis::DeviceWindow>> View() const;

 private:
  bool UnderWay(MonoNs now) const;
  void Schedule(const WindowWish& wish, Nanos iteration_time, std::int64_t newest, MonoNs now);
  std::vector<WindowAsk> Asks(const WindowWish& wish, const RankTable& ranks,
                              const SummaryWindow& window);

  std::uint64_t id_ = 0;
  std::int64_t first_ = -1;
  std::int64_t count_ = 0;
  Nanos patience_;
  MonoNs over_at_;
  std::map<RankId, RankWindowState> ranks_;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_JOB_ORDERS_DETAIL_WINDOWS_H_
