#include "collector/job/summaries/summary_window.h"

#include <algorithm>
#include <utility>

#include "collector/job/rows/row_conversion.h"
#include "fathom/v1/summary.pb.h"
#include "proto/types/message_anchors.h"

namespace fathom::collector {
namespace {

constexpr std::size_t kSharingBytes = 48;  // pointers and counts of what looks share
constexpr std::int64_t kPinBefore = 12;    // baseline iterations held while an episode is open
constexpr std::int64_t kPinAfter = 5;      // and the first irregular ones

std::size_t SlotsFor(std::size_t slot_bytes) {
  return std::clamp((kDetailBytesPerRank - kSharingBytes) / slot_bytes, kMinSlots, kMaxSlots);
}

Nanos Us(std::uint32_t us) { return Nanos(std::int64_t{us} * 1000); }

}  // namespace

SummaryWindow::SummaryWindow()
    : slots_(SlotsFor(widest_)),
      begin_(slots_.size()),
      reports_(slots_.size()),
      sums_(slots_.size()) {}

SummaryWindow::RankEntry& SummaryWindow::Entry(RankId rank) {
  return entries_.try_emplace(rank, RankEntry{SharedRankWindow(slots_.size()), std::nullopt, {}})
      .first->second;
}

SummaryWindow::Added SummaryWindow::Add(const v1::SummaryBatch& batch) {
  Added added;
  const std::vector<std::int64_t> steps(batch.anchor_step().begin(), batch.anchor_step().end());
  RankEntry& entry = Entry(RankId(batch.rank()));
  if (batch.period_relearned()) entry.offset.reset();
  by_messages_ = by_messages_ || batch.anchor_group() == kMessageAnchors.value;
  const auto placed = aligner_.Place({batch.anchor_group(), batch.first_anchor_sequence(),
                                      batch.first_iteration(), steps, entry.offset});
  MonoNs begin(batch.first_begin_mono_ns());
  for (int i = 0; i < batch.duration_us_size(); ++i) {
    const std::int64_t iteration = placed[static_cast<std::size_t>(i)];
    if (newest() >= 0 && iteration > newest() + kMaxIterationJump) {
      added.rejected = RejectReason::kBadNumber;
      return added;
    }
    if (iteration >= 0) {
      entry.offset = iteration - (batch.first_iteration() + i);
      PutRow(entry, iteration, ToRankIteration(batch, i, begin),
             WallNs(begin.ns + batch.mono_to_wall_ns()),
             {ToIssueLatency(batch, i), ToFlop(batch, i)}, added);
    } else {
      ++added.too_old;
    }
    begin = begin + Us(batch.duration_us(i));
  }
  NoteAnchor(batch, placed.back(), entry.anchor);
  return added;
}

// The step of a batch's last iteration is not told; that of an iteration before it is, or follows
// from the batch before.
void SummaryWindow::NoteAnchor(const v1::SummaryBatch& batch, std::int64_t last_placed,
                               Anchor& anchor) {
  const GroupId group(batch.anchor_group());
  if (last_placed < 0) return;
  Anchor now{group, batch.first_anchor_sequence(), last_placed, 0};
  for (int i = 0; i + 1 < batch.anchor_step_size(); ++i) {
    now.sequence += static_cast<std::uint64_t>(batch.anchor_step(i));
    if (batch.anchor_step(i) > 0) now.step = static_cast<std::uint64_t>(batch.anchor_step(i));
  }
  const bool follows = anchor.group == group && anchor.iteration < now.iteration &&
                       anchor.sequence < now.sequence && anchor.iteration >= 0;
  if (now.step == 0 && follows) {
    now.step = (now.sequence - anchor.sequence) /
               static_cast<std::uint64_t>(now.iteration - anchor.iteration);
  }
  if (now.step == 0 && anchor.group == group) now.step = anchor.step;
  if (now.iteration >= anchor.iteration || anchor.group != group) anchor = now;
}

std::optional<SummaryWindow::Anchor> SummaryWindow::AnchorOf(RankId rank) const {
  const auto at = entries_.find(rank);
  if (at == entries_.end() || at->second.anchor.iteration < 0) return std::nullopt;
  return at->second.anchor;
}

bool SummaryWindow::PutRow(RankEntry& entry, std::int64_t iteration,
                           const diagnosis::RankIteration& row, WallNs begin, const RankSums& own,
                           Added& added) {
  FitSlots(entry.window->SlotBytesWith(row));
  auto slot = slots_.Find(iteration);
  if (!slot) {
    const std::int64_t newest_before = slots_.newest();
    const auto claimed = slots_.Claim(iteration);
    if (!claimed) return ++added.too_old, false;
    if (claimed->evicted >= 0) Fold(claimed->slot, claimed->evicted);
    for (auto& [rank, other] : entries_) other.window.Own().ClearSlot(claimed->slot);
    slot = claimed->slot;
    begin_[*slot] = begin;
    reports_[*slot] = 0;
    sums_[*slot] = {};
    NoteStrip(iteration, begin);
    iterations_seen_ += iteration > newest_before;
  }
  const bool put = !entry.window->Has(*slot) && entry.window.Own().Put(*slot, row);
  ++(put ? added.rows : added.repeats);
  reports_[*slot] += put;
  if (put) {
    sums_[*slot].issued += own.issued;
    for (std::size_t i = 0; i < kFlopClasses; ++i) sums_[*slot].flop[i] += own.flop[i];
  }
  if (reports_[*slot] == entries_.size() && iteration > whole_) {
    whole_ = iteration;
    NoteWhole(MedianDuration(*slot));
  }
  return put;
}

void SummaryWindow::NoteWhole(Nanos duration) {
  longest_whole_ = std::max(longest_whole_, duration);
  rising_ = rises_above_ > Nanos(0) && duration > rises_above_ ? rising_ + 1 : 0;
}

void SummaryWindow::FitSlots(std::size_t slot_bytes) {
  if (slot_bytes <= widest_) return;
  widest_ = slot_bytes;
  const std::size_t wanted = SlotsFor(slot_bytes);
  if (wanted >= slots_.size()) return;
  std::vector<std::int64_t> leave;
  IterationSlots fewer = slots_.Fewer(wanted, leave);
  for (const std::int64_t iteration : leave) Fold(*slots_.Find(iteration), iteration);
  std::vector<std::size_t> to(slots_.size(), static_cast<std::size_t>(-1));
  std::vector<WallNs> begin(wanted);
  std::vector<std::size_t> reports(wanted);
  std::vector<RankSums> sums(wanted);
  for (const std::int64_t iteration : fewer.Sorted()) {
    const std::size_t slot = *slots_.Find(iteration), at = *fewer.Find(iteration);
    to[slot] = at;
    begin[at] = begin_[slot];
    reports[at] = reports_[slot];
    sums[at] = sums_[slot];
  }
  for (auto& [rank, entry] : entries_) entry.window.Own().Relayout(to, wanted);
  slots_ = std::move(fewer);
  begin_ = std::move(begin);
  reports_ = std::move(reports);
  sums_ = std::move(sums);
}

void SummaryWindow::Fold(std::size_t slot, std::int64_t iteration) {
  const auto cells = Cells(slot);
  std::size_t i = 0;
  for (auto& [rank, entry] : entries_) entry.window.Own().Remember(iteration, cells[i++]);
  if (StripEntry* strip = FindStrip(iteration)) strip->duration = MedianDuration(slot);
  const bool newer = parts_.empty() || parts_.back().first < iteration;
  if (!newer || iteration > whole_) return;
  if (parts_.size() == kPartsKept) parts_.pop_front();
  parts_.emplace_back(iteration, PartsOf(slot));
}

std::vector<Nanos> SummaryWindow::MedianDurations(const std::vector<std::size_t>& slots) const {
  std::vector<std::vector<std::uint32_t>> all(slots.size());
  for (std::size_t i = 0; i < slots.size(); ++i) all[i].reserve(reports_[slots[i]]);
  for (const auto& [rank, entry] : entries_) {
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if (entry.window->Has(slots[i])) all[i].push_back(entry.window->duration_us(slots[i]));
    }
  }
  std::vector<Nanos> medians;
  for (auto& durations : all) {
    const auto middle = durations.begin() + static_cast<std::ptrdiff_t>(durations.size() / 2);
    if (middle != durations.end()) std::nth_element(durations.begin(), middle, durations.end());
    medians.push_back(middle == durations.end() ? Nanos() : Us(*middle));
  }
  return medians;
}

StripEntry* SummaryWindow::FindStrip(std::int64_t iteration) {
  const auto at = std::lower_bound(
      strip_.begin(), strip_.end(), iteration,
      [](const StripEntry& entry, std::int64_t wanted) { return entry.iteration < wanted; });
  return at != strip_.end() && at->iteration == iteration ? &*at : nullptr;
}

void SummaryWindow::NoteStrip(std::int64_t iteration, WallNs begin) {
  const auto at = std::lower_bound(
      strip_.begin(), strip_.end(), iteration,
      [](const StripEntry& entry, std::int64_t wanted) { return entry.iteration < wanted; });
  strip_.insert(at, StripEntry{iteration, begin, Nanos(), false});
  if (strip_.size() > kStripIterations) strip_.pop_front();
}

void SummaryWindow::MarkIrregular(const std::vector<diagnosis::IrregularIteration>& irregular) {
  for (const auto& one : irregular) {
    if (StripEntry* entry = FindStrip(one.index.value)) entry->irregular = true;
  }
}

void SummaryWindow::Pin(std::int64_t onset) { slots_.Pin(onset - kPinBefore, onset + kPinAfter); }

void SummaryWindow::Clear() {
  widest_ = RankWindow::SlotBytes(1, false);
  slots_ = IterationSlots(SlotsFor(widest_));
  begin_.assign(slots_.size(), WallNs());
  reports_.assign(slots_.size(), 0);
  sums_.assign(slots_.size(), {});
  aligner_.Clear();
  entries_.clear();
  by_messages_ = false;
  strip_.clear();
  iterations_seen_ = 0;
  completed_up_to_ = -1;
  whole_ = -1;
  parts_.clear();
  longest_whole_ = rises_above_ = Nanos();
  rising_ = 0;
}

std::size_t SummaryWindow::BytesOf(RankId rank) const {
  const auto at = entries_.find(rank);
  constexpr std::size_t kMapNode = 4 * sizeof(void*);
  if (at == entries_.end()) return 0;
  constexpr std::size_t kCounts = 2 * sizeof(void*);  // of make_shared
  return kMapNode + kCounts + sizeof(rank) + sizeof(RankEntry) + at->second.window->bytes();
}

}  // namespace fathom::collector
