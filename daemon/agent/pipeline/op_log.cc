#include "daemon/agent/pipeline/op_log.h"

#include <algorithm>
#include <vector>

namespace fathom::agent {

std::uint64_t OpLog::Add(const OpRow& row) {
  while (rows_.size() >= limits_.max_rows) {
    rows_.pop_front();
    ++first_;
  }
  rows_.push_back(row);
  return next() - 1;
}

void OpLog::AddMark(const MarkRow& mark) {
  if (marks_.size() >= limits_.max_marks) marks_.pop_front();
  marks_.push_back(mark);
}

void OpLog::DropOld(std::int64_t now_ns, std::int64_t at_least_ns) {
  const std::int64_t before = now_ns - std::max(limits_.max_age_ns, at_least_ns);
  // A row that has not ended is what a hang is about: it stays however old it is.
  while (!rows_.empty() && rows_.front().done() && rows_.front().enter_ns < before) {
    rows_.pop_front();
    ++first_;
  }
  while (!marks_.empty() && marks_.front().begin_ns < before) marks_.pop_front();
}

OpRow* OpLog::Find(std::uint64_t number) {
  return number >= first_ && number < next() ? &rows_[number - first_] : nullptr;
}

const OpRow* OpLog::Find(std::uint64_t number) const {
  return number >= first_ && number < next() ? &rows_[number - first_] : nullptr;
}

std::uint64_t OpLog::FirstAwaited(std::uint64_t begin, std::uint64_t end) const {
  if (begin == end) return end;  // as in most looks: nothing is due
  std::uint64_t first = end;
  std::vector<std::uint32_t> went_on;  // threads that entered a later op; few
  for (std::uint64_t number = next(); number-- > begin;) {
    const OpRow& row = At(number);
    const bool open = row.wait_start_ns != 0 && row.wait_end_ns == 0;
    const bool newest = std::find(went_on.begin(), went_on.end(), row.thread_id) == went_on.end();
    if (open && newest && number < first) first = number;
    if (newest) went_on.push_back(row.thread_id);
  }
  return first;
}

}  // namespace fathom::agent
