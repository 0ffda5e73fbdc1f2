#include "daemon/agent/pipeline/rank_pipeline.h"

#include <algorithm>

#include "proto/types/bounds.h"
#include "proto/types/message_anchors.h"

namespace fathom::agent {
namespace {

constexpr std::size_t kDurationsKept = 51;
constexpr std::ptrdiff_t kMarksLookedAt = 32;
constexpr std::size_t kMaxPending = 4096;

}  // namespace

RankPipeline::RankPipeline(const PipelineSettings& settings)
    : log_(settings.log), joiner_(log_), finder_(settings.finder) {}

std::vector<std::uint16_t> RankPipeline::TakeGroups(std::span<const GroupFacts> facts,
                                                    std::uint32_t world_size) {
  std::vector<std::uint16_t> fresh;
  alone_ = world_size == 1;
  groups_.resize(std::max(groups_.size(), facts.size()));
  group_sizes_.resize(groups_.size());
  for (std::size_t slot = 0; slot < facts.size(); ++slot) {
    if (!facts[slot].ready || groups_[slot].id.value != 0) continue;
    groups_[slot] = IdentifyGroup(facts[slot], world_size);
    group_sizes_[slot] = facts[slot].size;
    fresh.push_back(static_cast<std::uint16_t>(slot));
  }
  return fresh;
}

const GroupIdentity& RankPipeline::Group(std::uint16_t slot) const {
  static const GroupIdentity kNone;
  return slot < groups_.size() ? groups_[slot] : kNone;
}

std::uint32_t RankPipeline::PeerToGlobal(std::uint16_t slot, std::uint32_t peer) const {
  const std::vector<std::uint32_t>& members = Group(slot).members;
  return peer < members.size() ? members[peer] : abi::kNoPeer;
}

OpKey RankPipeline::KeyOfRow(const OpRow& row) const {
  const bool known = row.group_slot < groups_.size();
  // An op whose group is not known yet still has an order; its slot stands in for the identity.
  const GroupId group = known && groups_[row.group_slot].id.value != 0 ? groups_[row.group_slot].id
                                                                       : GroupId(row.group_slot);
  return KeyOf(row, group, known ? group_sizes_[row.group_slot] : 0, alone_);
}

// Whoever waits for others makes progress by ops alone. In a job of one rank an evaluation tells of
// nothing but its batches.
bool RankPipeline::IsProgress(const abi::EventRecord& record) const {
  if (record.record_kind != static_cast<std::uint8_t>(abi::RecordKind::kMark)) return true;
  const auto kind = static_cast<abi::MarkKind>(record.extra);
  return alone_ && kind != abi::MarkKind::kGcBegin && kind != abi::MarkKind::kGcEnd;
}

void RankPipeline::Take(std::span<const abi::EventRecord> records) {
  for (const abi::EventRecord& record : records) {
    roles_.Take(record);
    if (IsProgress(record) && !roles_.IsBeside(record)) {
      newest_op_ns_ = std::max(newest_op_ns_, record.time_ns);
    }
    const OpJoiner::Outcome outcome = joiner_.Take(record);
    if (outcome.what == OpJoiner::Outcome::What::kEntered) TakeEntry(outcome.row);
  }
}

void RankPipeline::TakeEntry(std::uint64_t row_number) {
  OpRow& row = log_.At(row_number);
  clock_.Watch(row.thread_id);
  if (roles_.IsBeside(row.group_slot)) {
    if (matcher_.has_value()) row.iteration = next_number_;
    return;
  }
  newest_training_op_ = {row.thread_id, row.group_slot};
  rhythm_.Take(row.enter_ns);
  const OpKey key = KeyOfRow(row);
  const bool is_anchor = matcher_.has_value() && matcher_->Take(key);
  if (matcher_.has_value()) row.iteration = next_number_;
  if (is_anchor) Boundary(row_number);
  if (finder_.Take(key) == IterationFinder::News::kLearned) LabelAgain();
}

void RankPipeline::Boundary(std::uint64_t row_number) {
  const OpRow& row = log_.At(row_number);
  const bool messages = matcher_->anchor().messages;
  if (pending_.size() >= kMaxPending) pending_.pop_front();
  pending_.push_back(
      {.span = {.number = next_number_,
                .first_row = span_first_row_,
                .anchor_row = row_number,
                .anchor_sequence =
                    messages ? static_cast<std::uint64_t>(next_number_) : row.sequence},
       .anchor_group = messages ? kMessageAnchors : matcher_->anchor().group,
       .relearned = relearned_});
  relearned_ = false;
  ++next_number_;
  span_first_row_ = row_number + 1;
}

void RankPipeline::LabelAgain() {
  const bool first_time = !matcher_.has_value();
  const std::uint64_t from = std::max(span_first_row_, log_.first());
  matcher_.emplace(*finder_.anchor());
  span_first_row_ = from;
  relearned_ = !first_time;
  if (first_time) {
    AnchorMatcher counting(*finder_.anchor());
    std::uint64_t anchors = 0;
    std::uint64_t first_anchor = 0;
    for (std::uint64_t i = from; i < log_.next(); ++i) {
      if (!counting.Take(KeyOfRow(log_.At(i)))) continue;
      if (anchors++ == 0) first_anchor = i;
    }
    if (anchors > 0) next_number_ = FirstNumber(first_anchor, anchors);
  }
  for (std::uint64_t i = from; i < log_.next(); ++i) {
    log_.At(i).iteration = next_number_;
    if (matcher_->Take(KeyOfRow(log_.At(i)))) Boundary(i);
  }
}

std::int64_t RankPipeline::FirstNumber(std::uint64_t first_anchor_row,
                                       std::uint64_t anchors) const {
  if (!start_missing_ && log_.first() == 0) return 0;
  if (anchors < 2 || finder_.anchor()->messages) return 0;
  // The mean advance of the group's sequence from anchor to anchor tells how many came before.
  AnchorMatcher matcher(*finder_.anchor());
  const std::uint64_t first = log_.At(first_anchor_row).sequence;
  std::uint64_t last = first;
  for (std::uint64_t i = log_.first(); i < log_.next(); ++i) {
    if (matcher.Take(KeyOfRow(log_.At(i)))) last = log_.At(i).sequence;
  }
  const std::uint64_t step = last > first ? (last - first) / (anchors - 1) : 0;
  const std::uint64_t number = step == 0 ? 0 : first / step;
  return number < static_cast<std::uint64_t>(kFarIteration) ? static_cast<std::int64_t>(number) : 0;
}

bool RankPipeline::AllEnded(const IterationSpan& span) const {
  for (std::uint64_t i = std::max(span.first_row, log_.first()); i <= span.anchor_row; ++i) {
    if (!log_.At(i).done()) return false;
  }
  return true;
}

void RankPipeline::Close(bool last_call) {
  while (!pending_.empty()) {
    PendingSpan& front = pending_.front();
    const OpRow* anchor = log_.Find(front.span.anchor_row);
    if (anchor == nullptr) {  // left the log before it ended
      pending_.pop_front();
      continue;
    }
    if (!anchor->done()) return;
    const OpRow* next = pending_.size() > 1 ? log_.Find(pending_[1].span.anchor_row) : nullptr;
    const bool next_over = next != nullptr && next->done();
    if (!next_over && !last_call && !AllEnded(front.span)) return;
    const std::uint64_t first_row = std::max(front.span.first_row, log_.first());
    front.span.begin_ns = last_end_ns_ != 0 ? last_end_ns_ : log_.At(first_row).enter_ns;
    front.span.end_ns = std::max(anchor->end_ns, front.span.begin_ns);
    last_end_ns_ = front.span.end_ns;
    const bool new_run = closed_.empty() || front.relearned ||
                         closed_.back().anchor_group != front.anchor_group ||
                         closed_.back().summaries.back().span.number + 1 != front.span.number;
    if (new_run) closed_.push_back({front.anchor_group, front.relearned, {}});
    IterationSummary& summary = closed_.back().summaries.emplace_back(
        Summarise(log_, joiner_.products(), clock_, held_back_, front.span));
    summary.loader_starved_ns =
        std::min(summary.dataloader_ns, workers_.Starved(front.span.begin_ns, front.span.end_ns));
    durations_.push_back(front.span.end_ns - front.span.begin_ns);
    if (durations_.size() > kDurationsKept) durations_.pop_front();
    ++iterations_closed_;
    pending_.pop_front();
    ForgetProducts();
  }
}

void RankPipeline::ForgetProducts() {
  const OpRow* next = span_first_row_ == 0 ? nullptr : log_.Find(span_first_row_ - 1);
  if (pending_.empty() && next != nullptr) joiner_.products().ForgetBefore(next->enter_ns);
}

bool RankPipeline::LoadsBatches() const {
  const auto newest = log_.marks().rbegin();
  const auto looked_at = std::min<std::ptrdiff_t>(kMarksLookedAt, log_.marks().rend() - newest);
  return std::any_of(newest, newest + looked_at, [](const MarkRow& mark) {
    return mark.kind == abi::MarkKind::kDataLoaderBegin;
  });
}

void RankPipeline::Pause() {
  if (finder_.anchor().has_value()) return;
  if (finder_.Pause() == IterationFinder::News::kLearned) LabelAgain();
}

void RankPipeline::Finish() {
  if (finder_.Finish() == IterationFinder::News::kLearned) LabelAgain();
  Close(true);
}

ClosedIterations RankPipeline::TakeClosed() {
  if (closed_.empty()) return {};
  ClosedIterations run = std::move(closed_.front());
  closed_.pop_front();
  return run;
}

std::int64_t RankPipeline::typical_iteration_ns() const {
  if (durations_.empty()) return 0;
  std::vector<std::int64_t> sorted(durations_.begin(), durations_.end());
  std::nth_element(sorted.begin(), sorted.begin() + sorted.size() / 2, sorted.end());
  return sorted[sorted.size() / 2];
}

}  // namespace fathom::agent
