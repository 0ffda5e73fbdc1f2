// The bounded window of iteration summaries of one job: what Watch() looks at and the page shows.
//
// Owned by JobState; written in summary_window.cc, read in summary_window_read.cc and
// iteration_parts.cc. Rows of all ranks lie in shared slots (iteration_slots.h), placed by
// iteration_aligner.h. An iteration that leaves the slots is folded: late arrival and wait of each
// rank are computed over the members of each communicator and kept as four bytes a rank; its
// duration stays in a strip of the last kStripIterations, and its parts, mean over the ranks, among
// the last kPartsKept.
//
//   strip    |···················································|  per job, 2,000 iterations
//   parts             |··········································|  per job, 512 iterations
//   history                     |································|  4 bytes a rank, 300 iterations
//   slots         |pinned onset|                      |··········|  exact, 20 to 96 iterations
//
// The number of slots follows from kDetailBytesPerRank and the widest rank (most communicators).
// Units: ns in rows; µs in HeatCell. Wall times are those of the first rank that reported.
// Thread-safety: thread-compatible (JobState's lock); a Snapshot is read without it. Cost: Add O(1)
// a row, and a copy of the rank's columns where a snapshot has them; folding O(rank rows × log)
// once an iteration; Share() O(ranks), its View() O(ranks × iterations × communicators); bytes()
// O(ranks).
#ifndef FATHOM_COLLECTOR_JOB_SUMMARIES_SUMMARY_WINDOW_H_
#define FATHOM_COLLECTOR_JOB_SUMMARIES_SUMMARY_WINDOW_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "collector/admission/reject_reason.h"
#include "collector/job/summaries/iteration_aligner.h"
#include "collector/job/summaries/iteration_slots.h"
#include "collector/job/summaries/shared_rank_window.h"
#include "diagnosis/history/run_sample.h"
#include "diagnosis/model/job_view.h"
#include "diagnosis/model/verdict.h"

namespace fathom::v1 {
class SummaryBatch;
}

namespace fathom::collector {

struct StripEntry {
  std::int64_t iteration = -1;
  WallNs begin;
  Nanos duration;  // median over the ranks
  bool irregular = false;
};

class SummaryWindow {
 public:
  SummaryWindow();

  // Of an iteration, over the ranks that reported it.
  struct RankSums {
    IssueLatency issued;
    FlopByClass flop{};
  };

  struct Added {
    int rows = 0;
    int repeats = 0;
    int too_old = 0;
    Rejection rejected;
  };
  // Requires: the batch is valid (ingest/validate.h).
  Added Add(const v1::SummaryBatch& batch);

  // What the window holds now, to be read without a lock while it goes on.
  struct Snapshot {
    struct Slot {
      std::size_t place = 0;
      Iteration index;
      WallNs begin;
      std::size_t reports = 0;
      RankSums sums;
    };
    std::vector<Slot> slots;  // by iteration
    std::vector<std::pair<RankId, std::shared_ptr<const RankWindow>>> ranks;
    bool by_messages = false;  // alone; ranks that count other iterations are left out

    std::vector<diagnosis::IterationSummary> View() const;
  };
  Snapshot Share() const { return Share(slots_.Sorted()); }
  std::vector<diagnosis::IterationSummary> View() const { return Share().View(); }
  // Those after `after` to which nothing will be added: all ranks have reported them, or later ones
  // came since, or the job is over. Ascending, up to the first that is not so; nothing without any.
  Snapshot SettledAfter(std::int64_t after, bool job_over) const;
  // The newest `limit` strip entries with index > after, ascending, durations of the live ones
  // computed now.
  std::vector<StripEntry> Strip(std::int64_t after, std::size_t limit) const;
  // One cell a rank (in the order of ranks()) for each of the iterations asked for.
  std::vector<std::vector<HeatCell>> Heat(const std::vector<std::int64_t>& iterations) const;
  std::vector<RankId> ranks() const;

  std::int64_t newest() const { return slots_.newest(); }
  // The newest iteration that all ranks have reported that ever reported one; -1: none yet.
  std::int64_t whole() const { return whole_; }
  // Of whole iterations, the median over the ranks: the longest since BeginLook, and how many in a
  // row, up to the newest, took longer than what RiseAbove said.
  Nanos longest_whole() const { return longest_whole_; }
  int rising() const { return rising_; }
  void BeginLook() { longest_whole_ = Nanos(); }
  void RiseAbove(Nanos duration) { rises_above_ = duration; }  // 0: nothing is known
  std::int64_t iterations_seen() const { return iterations_seen_; }
  // Of iterations that have left the slots: so many at most.
  static constexpr std::size_t kPartsKept = 512;
  // Where each iteration after `after` that all ranks have reported went, ascending; of those that
  // have left the slots the last kPartsKept.
  std::vector<std::pair<std::int64_t, diagnosis::IterationParts>> PartsAfter(
      std::int64_t after) const;
  Nanos RecentDuration(std::size_t iterations) const;  // median of the last complete ones; 0: none
  // Own count of a rank for an iteration of the job; -1 if it is not known.
  std::int64_t OwnIteration(RankId rank, std::int64_t iteration) const;
  std::int64_t JobIteration(RankId rank, std::int64_t own) const;
  // Whether the rank has told of the iteration, or may have: it has left the window.
  bool MayHaveTold(RankId rank, std::int64_t iteration) const;
  // Ops of the rank in the newest iteration that it told of; 0: none.
  std::size_t OpsOf(RankId rank) const;

  // The newest boundary of a rank: its op on its anchor's communicator, and how far the sequence
  // moves an iteration (0: not known).
  struct Anchor {
    GroupId group;
    std::uint64_t sequence = 0;
    std::int64_t iteration = -1;  // of the job, that it closed
    std::uint64_t step = 0;
  };
  std::optional<Anchor> AnchorOf(RankId rank) const;

  void MarkIrregular(const std::vector<diagnosis::IrregularIteration>& irregular);
  void Pin(std::int64_t onset);
  void Unpin() { slots_.Unpin(); }
  // Durations of iterations that are complete and were not handed out before, for the histogram.
  std::vector<Nanos> TakeCompleted(bool job_over);
  void Clear();

  std::size_t slots() const { return slots_.size(); }
  std::size_t BytesOf(RankId rank) const;
  std::uint64_t unanchored() const { return aligner_.unanchored(); }
  // See IterationAligner::Known and GoOnFrom.
  std::vector<KnownAnchors> Numbering() const { return aligner_.Known(); }
  void GoOnNumbering(const std::vector<KnownAnchors>& known) { aligner_.GoOnFrom(known); }

 private:
  struct RankEntry {
    SharedRankWindow window;
    std::optional<std::int64_t> offset;  // job's iteration − own iteration
    Anchor anchor{};
  };

  Snapshot Share(const std::vector<std::int64_t>& which) const;
  RankEntry& Entry(RankId rank);
  static void NoteAnchor(const v1::SummaryBatch& batch, std::int64_t last_placed, Anchor& anchor);
  bool PutRow(RankEntry& entry, std::int64_t iteration, const diagnosis::RankIteration& row,
              WallNs begin, const RankSums& own, Added& added);
  void FitSlots(std::size_t slot_bytes);
  // Another iteration is whole.
  void NoteWhole(Nanos duration);
  void Fold(std::size_t slot, std::int64_t iteration);
  diagnosis::IterationParts PartsOf(std::size_t slot) const;
  std::vector<HeatCell> Cells(std::size_t slot) const;
  Nanos MedianDuration(std::size_t slot) const { return MedianDurations({slot}).front(); }
  std::vector<Nanos> MedianDurations(const std::vector<std::size_t>& slots) const;
  StripEntry* FindStrip(std::int64_t iteration);
  void NoteStrip(std::int64_t iteration, WallNs begin);

  std::size_t widest_ = RankWindow::SlotBytes(1, false);  // of all ranks: bytes of a slot
  IterationSlots slots_;
  std::vector<WallNs> begin_;         // by slot
  std::vector<std::size_t> reports_;  // ranks that reported, by slot
  std::vector<RankSums> sums_;        // of those ranks, by slot
  IterationAligner aligner_;
  bool by_messages_ = false;  // ranks of which messages alone tell iterations
  std::map<RankId, RankEntry> entries_;
  std::deque<StripEntry> strip_;  // ascending
  std::int64_t iterations_seen_ = 0;
  std::int64_t completed_up_to_ = -1;
  std::int64_t whole_ = -1;
  // Of whole iterations that have left the slots, ascending.
  std::deque<std::pair<std::int64_t, diagnosis::IterationParts>> parts_;
  Nanos longest_whole_, rises_above_;
  int rising_ = 0;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_JOB_SUMMARIES_SUMMARY_WINDOW_H_
