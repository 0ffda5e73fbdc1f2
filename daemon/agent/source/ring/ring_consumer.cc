#include "daemon/agent/source/ring/ring_consumer.h"

#include <algorithm>

#include "daemon/agent/source/ring/record_validator.h"

namespace fathom::agent {

RingConsumer::RingConsumer(const RegionReader& region, std::int64_t torn_after_ns)
    : region_(region),
      torn_after_ns_(torn_after_ns),
      capacity_(region.record_count()),
      first_look_(kBatch),
      second_look_(kBatch) {
  good_.reserve(kBatch);
}

absl::StatusOr<std::uint64_t> RingConsumer::Drain(
    std::uint64_t head, std::int64_t now_ns, std::uint64_t limit, bool last_call,
    absl::FunctionRef<void(std::span<const abi::EventRecord>)> sink) {
  std::uint64_t looked_at = 0;
  head_ = head;
  // A head that goes back is garbage or a file written anew; nothing in it can be told from old.
  while (next_ < head && looked_at < limit) {
    SkipLost(head);
    absl::StatusOr<std::uint32_t> count = ReadBatch(head);
    if (!count.ok()) return count.status();
    absl::StatusOr<std::uint64_t> head_after = region_.ReadHead();
    if (!head_after.ok()) return head_after.status();
    good_.clear();
    const std::uint32_t moved = Select(*count, *head_after, now_ns, last_call);
    next_ += moved;
    looked_at += moved;
    if (!good_.empty()) sink(good_);
    if (moved < *count) break;
  }
  return looked_at;
}

void RingConsumer::SkipLost(std::uint64_t head) {
  if (head - next_ <= capacity_) return;
  counters_.lost += head - capacity_ - next_;
  next_ = head - capacity_;
}

absl::StatusOr<std::uint32_t> RingConsumer::ReadBatch(std::uint64_t head) {
  const auto slot = static_cast<std::uint32_t>(next_ & (capacity_ - 1));
  const auto count = static_cast<std::uint32_t>(
      std::min<std::uint64_t>({head - next_, capacity_ - slot, std::uint64_t{kBatch}}));
  for (auto* look : {&first_look_, &second_look_}) {
    absl::Status status = region_.ReadRecords(slot, std::span(look->data(), count));
    if (!status.ok()) return status;
  }
  return count;
}

std::uint32_t RingConsumer::Select(std::uint32_t count, std::uint64_t head_after,
                                   std::int64_t now_ns, bool last_call) {
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t ticket = next_ + i;
    const std::uint64_t want = ticket + 1;
    const bool overwritten = head_after - ticket > capacity_ || first_look_[i].commit > want ||
                             second_look_[i].commit > want;
    if (overwritten) {
      ++counters_.lost;
    } else if (first_look_[i].commit == want && second_look_[i].commit == want) {
      Keep(second_look_[i], now_ns);
    } else if (!GiveUp(ticket, now_ns, last_call)) {
      return i;
    } else {
      ++counters_.torn;
    }
  }
  return count;
}

bool RingConsumer::GiveUp(std::uint64_t ticket, std::int64_t now_ns, bool last_call) {
  if (last_call) return true;
  if (ticket >= stuck_before_) {
    stuck_before_ = head_;
    stuck_since_ns_ = now_ns;
  }
  return now_ns - stuck_since_ns_ >= torn_after_ns_;
}

void RingConsumer::Keep(const abi::EventRecord& record, std::int64_t now_ns) {
  ++counters_.total;
  switch (ValidateRecord(record, now_ns)) {
    case RecordVerdict::kValid:
      ++counters_.valid;
      counters_.last_time_ns =
          std::max(counters_.last_time_ns, static_cast<std::uint64_t>(record.time_ns));
      good_.push_back(record);
      break;
    case RecordVerdict::kUnknownKind:
      ++counters_.unknown_kind;
      break;
    case RecordVerdict::kBadField:
      ++counters_.invalid;
      break;
  }
}

}  // namespace fathom::agent
