#include "daemon/agent/pipeline/op_log.h"

#include <algorithm>

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

}  // namespace fathom::agent
