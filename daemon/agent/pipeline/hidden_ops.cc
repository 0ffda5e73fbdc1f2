#include "daemon/agent/pipeline/hidden_ops.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "proto/types/chained_ops.h"

namespace fathom::agent {
namespace {

constexpr std::uint64_t kMostBefore = 256;   // rows that are looked at before those asked for
constexpr std::uint64_t kMostBehind = 4096;  // and behind them

bool RanOnDevice(const OpRow& row) { return row.on_device() && row.exec_start_ns != 0; }

// Waits of streams from the entry of `before` to that of `row`.
std::uint32_t WaitsBetween(const OpRow& before, const OpRow& row) {
  return row.device_calls.stream_waits - before.device_calls.stream_waits;
}

class RunWalk {
 public:
  RunWalk(const OpLog& log, std::uint64_t first, std::uint64_t last)
      : log_(log),
        first_(first),
        end_(std::min(log.next(), last + kMostBehind)),
        covers_(last - first + 1) {}

  std::vector<OpCover> Walk() {
    if (!AnyOnDevice()) return std::move(covers_);
    const std::uint64_t from = first_ - std::min(first_ - log_.first(), kMostBefore);
    FindComputing(from);
    for (std::uint64_t i = NextOnDevice(from); i < end_ && (IsBeforeEnd(i) || !run_.empty());) {
      const OpRow& row = log_.At(i);
      Enter(i, BeginsByItself(row));
      const std::uint64_t next = NextOnDevice(i + 1);
      if (next >= end_ || !IsBeside(row) || !Follows(row, log_.At(next))) EndRun();
      Pass(row);
      i = next;
    }
    EndRun();
    return std::move(covers_);
  }

 private:
  bool InRange(std::uint64_t i) const { return i - first_ < covers_.size(); }
  bool IsBeforeEnd(std::uint64_t i) const { return i < first_ + covers_.size(); }

  // Of those asked for: a job without a device has none, and no row behind them is looked at.
  bool AnyOnDevice() const {
    std::uint64_t i = first_;
    while (IsBeforeEnd(i) && !log_.At(i).on_device()) ++i;
    return IsBeforeEnd(i);
  }

  std::uint64_t NextOnDevice(std::uint64_t i) const {
    while (i < end_ && !log_.At(i).on_device()) ++i;
    return i;
  }

  // A stream on which an op was put without any wait is that of computing.
  void FindComputing(std::uint64_t from) {
    const OpRow* before = nullptr;
    for (std::uint64_t i = NextOnDevice(from); i < end_; i = NextOnDevice(i + 1)) {
      const OpRow& row = log_.At(i);
      if (before != nullptr && WaitsBetween(*before, row) == 0) computing_.insert(row.stream);
      before = &row;
    }
  }

  void Pass(const OpRow& row) {
    free_[row.stream] = row.end_ns;
    before_ = &row;
  }

  bool IsBeside(const OpRow& row) const {
    return before_ != nullptr && WaitsBetween(*before_, row) > 0 &&
           !computing_.contains(row.stream);
  }

  bool Follows(const OpRow& row, const OpRow& next) const {
    return row.done() && RanOnDevice(row) && WaitsBetween(row, next) == 1 &&
           next.device_calls.syncs == row.device_calls.syncs && !computing_.contains(next.stream);
  }

  // 0: its stream was never seen, or carries out the op before.
  bool BeginsByItself(const OpRow& row) const {
    const auto free = free_.find(row.stream);
    return free != free_.end() && free->second != 0 && RanOnDevice(row) &&
           row.exec_start_ns > free->second + kChainedWithin.count;
  }

  // Where it begins by itself computing has come so far: what had ended by then was hidden.
  void Enter(std::uint64_t i, bool by_itself) {
    if (by_itself) {
      const std::int64_t come_ns = log_.At(i).exec_start_ns;
      std::erase_if(open_, [&](std::uint64_t k) {
        const bool hidden = log_.At(k).end_ns <= come_ns;
        if (hidden) Mark(k, OpCover::State::kHidden);
        return hidden;
      });
      latest_ = i;
    }
    led_ = by_itself || (led_ && !run_.empty());
    open_.push_back(i);
    run_.push_back(i);
  }

  // Its last op is waited for, as far as is known.
  void EndRun() {
    if (run_.size() > 1) ++runs_;
    for (const std::uint64_t i : run_) {
      if (!InRange(i)) continue;
      covers_[i - first_].run = run_.size() > 1 ? runs_ : 0;
      covers_[i - first_].goes_on = i != run_.front();
    }
    for (const std::uint64_t i : open_) {
      if (i != run_.back()) Mark(i, OpCover::State::kUnsure);
    }
    const bool tells = open_.size() > 1 && led_ && latest_ != run_.back();
    if (tells && InRange(latest_)) covers_[latest_ - first_].leads = true;
    run_.clear();
    open_.clear();
  }

  void Mark(std::uint64_t i, OpCover::State state) {
    if (InRange(i)) covers_[i - first_].state = state;
  }

  const OpLog& log_;
  const std::uint64_t first_, end_;
  std::vector<OpCover> covers_;
  std::set<std::uint64_t> computing_;           // streams
  std::map<std::uint64_t, std::int64_t> free_;  // by stream, since when
  const OpRow* before_ = nullptr;               // the op entered before
  std::vector<std::uint64_t> run_;              // rows of the run at hand
  std::vector<std::uint64_t> open_;             // of them, those that are not known to be hidden
  std::uint64_t latest_ = 0;                    // the last of them that began by itself
  bool led_ = false;                            // there is one
  std::uint32_t runs_ = 0;
};

}  // namespace

std::vector<OpCover> CoversOf(const OpLog& log, std::uint64_t first, std::uint64_t last) {
  return RunWalk(log, first, last).Walk();
}

}  // namespace fathom::agent
