#include "daemon/agent/pipeline/op_joiner.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "daemon/abi/ring_layout.h"
#include "proto/types/bounds.h"

namespace fathom::agent {
namespace {

using abi::EventRecord;
using abi::RecordKind;

// by_work_ holds one entry per address ever used; a framework uses few, but nothing promises it.
constexpr std::size_t kMaxWorks = 16'384;
constexpr std::size_t kMaxOpenUnpruned = 8'192;
constexpr std::size_t kMaxWaitedForAtOnce = 4'096;

std::uint32_t SourceOf(CollectiveKind kind, bool on_device) {
  if (kind == CollectiveKind::kStep) return abi::kSourcePython;
  return on_device ? abi::kSourceNccl : abi::kSourceGloo;
}

abi::MarkKind BeginOf(abi::MarkKind end) {
  if (end == abi::MarkKind::kFunctionEnd) return abi::MarkKind::kFunctionBegin;
  return end == abi::MarkKind::kGcEnd ? abi::MarkKind::kGcBegin : abi::MarkKind::kDataLoaderBegin;
}

// Whether a worker's record that names its op by address alone would tell the row what it knows
// already: then the address stands for a newer op.
bool Told(const OpRow& row, const EventRecord& record) {
  if (record.op_id != 0) return false;
  switch (static_cast<RecordKind>(record.record_kind)) {
    case RecordKind::kExecStart:
      return row.exec_start_ns != 0 || row.done();
    case RecordKind::kExecEnd:
      return row.done();
    default:
      return false;
  }
}

void AddWait(OpRow& row, std::int64_t start_ns, std::int64_t end_ns) {
  if (start_ns != 0 && row.wait_start_ns == 0) row.wait_start_ns = start_ns;
  row.wait_end_ns = std::max(row.wait_end_ns, end_ns);
}

}  // namespace

OpJoiner::Outcome OpJoiner::Take(const EventRecord& record) {
  switch (static_cast<RecordKind>(record.record_kind)) {
    case RecordKind::kOpEnter:
      return Enter(record);
    case RecordKind::kOpReturn:
      return Return(record);
    case RecordKind::kExecStart:
    case RecordKind::kExecEnd:
    case RecordKind::kWaitStart:
    case RecordKind::kWaitEnd:
      return Worker(record);
    case RecordKind::kWire:
      TakeWire(record);
      return {};
    case RecordKind::kMark:
      sources_seen_ |= abi::kSourcePython;
      TakeMark(record);
      return {};
    case RecordKind::kGpuStart:
      sources_seen_ |= abi::kSourceNcclPlugin;
      GpuStart(record);
      return {};
    case RecordKind::kGpuEnd:
      return GpuEnd(record);
    case RecordKind::kDeviceCalls:
    case RecordKind::kSyncStart:
    case RecordKind::kSyncEnd:
      sources_seen_ |= abi::kSourceCuda;
      device_calls_.Take(record);
      return {};
    case RecordKind::kProducts:
      sources_seen_ |= abi::kSourceProducts;
      products_.Take(record);
      return {};
    case RecordKind::kNone:
      return {};
  }
  return {};
}

OpJoiner::Outcome OpJoiner::Enter(const EventRecord& record) {
  if (by_op_.empty()) by_op_.resize(kOpWindow);
  OpRow row;
  row.op_id = record.op_id;
  row.sequence = record.sequence;
  row.bytes = record.bytes;
  row.enter_ns = record.time_ns;
  const bool on_device = (record.flags & abi::kFlagDevice) != 0;
  sources_seen_ |= SourceOf(static_cast<CollectiveKind>(record.collective_kind), on_device);
  row.device_calls = device_calls_.totals();
  if (on_device) {
    row.stream = record.extra;
  } else {
    row.cpu_at_enter_ns = static_cast<std::int64_t>(record.extra);
  }
  row.thread_id = record.thread_id;
  row.peer = record.peer;
  row.group_slot = record.group_slot;
  row.kind = static_cast<CollectiveKind>(record.collective_kind);
  row.data_type = static_cast<DataType>(record.data_type);
  row.flags = record.flags;
  const bool end_follows = !on_device || (record.flags & abi::kFlagAsync) != 0;
  if (!end_follows) row.end_ns = row.enter_ns;
  const std::uint64_t number = log_.Add(row);
  by_op_[record.op_id & (kOpWindow - 1)] = number + 1;
  ++counters_.ops;
  if (!end_follows) {
    ++counters_.ended;
    return {Outcome::What::kEntered, number};
  }
  open_.push_back(number);
  if (on_device) on_device_[row.group_slot].push_back(number);
  if (open_.size() > kMaxOpenUnpruned) PruneOpen();
  return {Outcome::What::kEntered, number};
}

OpJoiner::Outcome OpJoiner::Return(const EventRecord& record) {
  std::uint64_t number = 0;
  OpRow* row = RowOfOp(record.op_id, number);
  if (row == nullptr) {
    ++counters_.orphans;
    return {};
  }
  if (row->on_device()) return ReturnOfDeviceOp(record, number, *row);
  row->return_ns = record.time_ns;
  row->flags |= record.flags;
  // What could not be known at entry (the tag's number, the size) may be known now.
  if (record.sequence != abi::kNoSequence64) row->sequence = record.sequence;
  if (record.bytes != 0) row->bytes = record.bytes;
  if (record.extra != 0) {
    TakeEarly(record.extra, *row);
    Bind(record.extra, number);
  }
  const bool over = row->failed() || (row->flags & abi::kFlagAsync) == 0;
  const bool worker_seen = row->exec_start_ns != 0;
  if (row->done()) {
    // The worker was faster than the caller: TakeEarly has found the end.
    const std::int64_t end_ns = std::exchange(row->end_ns, 0);
    return Settle(number, *row, end_ns);
  }
  return over && !worker_seen ? Settle(number, *row, record.time_ns) : Outcome{};
}

// Told only where something is to be said: it failed, went into a graph, took long, or it became
// known whether its end will be told.
OpJoiner::Outcome OpJoiner::ReturnOfDeviceOp(const EventRecord& record, std::uint64_t number,
                                             OpRow& row) {
  row.return_ns = record.time_ns;
  row.flags = record.flags;
  if ((record.flags & abi::kFlagCaptured) != 0) row.sequence = record.sequence;
  const bool over =
      row.failed() || (row.flags & (abi::kFlagAsync | abi::kFlagCaptured)) != abi::kFlagAsync;
  if (over) return row.exec_start_ns == 0 ? Settle(number, row, record.time_ns) : Outcome{};
  if (row.end_ns == row.enter_ns) Reopen(number, row);
  return {};
}

void OpJoiner::Reopen(std::uint64_t number, OpRow& row) {
  row.end_ns = 0;
  --counters_.ended;
  open_.push_back(number);
  on_device_[row.group_slot].push_back(number);
}

void OpJoiner::GpuStart(const EventRecord& record) {
  std::uint64_t number = 0;
  OpRow* row = RowOfOp(record.op_id, number);
  if (row == nullptr) {
    ++counters_.orphans;
    return;
  }
  if (row->exec_start_ns != 0) return;  // the first of its parts counts
  if (row->done()) Reopen(number, *row);
  gpu_clock_.NoteStart(row->enter_ns, record.extra);
  const std::int64_t told = gpu_clock_.ToHost(record.extra);
  // Until the first end of all nothing is known of the clock but when the host heard of it.
  row->exec_start_ns = told != 0 ? std::max(told, row->enter_ns) : record.time_ns;
  // The host launched this op ahead of its turn: its stream was busy with what came before it.
  const std::int64_t late = row->exec_start_ns - std::max(row->enter_ns, device_end_ns_);
  AddBounded(device_busy_ns_, std::max<std::int64_t>(0, late));
  row->device_busy_ns = device_busy_ns_;
}

OpJoiner::Outcome OpJoiner::GpuEnd(const EventRecord& record) {
  std::uint64_t number = 0;
  OpRow* row = RowOfOp(record.op_id, number);
  if (row == nullptr) {
    ++counters_.orphans;
    return {};
  }
  gpu_clock_.NoteEnd(record.time_ns, record.extra);
  const std::int64_t told = gpu_clock_.ToHost(record.extra);
  const std::int64_t end_ns = std::max(told != 0 ? told : record.time_ns, row->exec_start_ns);
  device_end_ns_ = std::max(device_end_ns_, end_ns);
  EndThoseBefore(*row);
  if (!row->done()) return Settle(number, *row, end_ns);
  row->end_ns = std::max(row->end_ns, end_ns);  // an op in parts ends with its last one
  return {};
}

void OpJoiner::EndThoseBefore(const OpRow& row) {
  const auto found = on_device_.find(row.group_slot);
  if (found == on_device_.end()) return;
  std::deque<std::uint64_t>& awaited = found->second;
  while (!awaited.empty()) {
    const std::uint64_t number = awaited.front();
    OpRow* before = log_.Find(number);
    if (before != nullptr && !before->done()) {
      // Those that were launched together with it may still be at work: their start is later.
      const bool earlier = before->op_id < row.op_id && before->enter_ns < row.enter_ns &&
                           before->exec_start_ns < row.exec_start_ns;
      if (!earlier) return;
      Settle(number, *before, std::max(row.exec_start_ns, before->enter_ns));
      ++counters_.ends_inferred;
    }
    awaited.pop_front();
  }
}

OpJoiner::Outcome OpJoiner::Worker(const EventRecord& record) {
  const auto kind = static_cast<RecordKind>(record.record_kind);
  const bool waits = kind == RecordKind::kWaitStart || kind == RecordKind::kWaitEnd;
  if (waits && (record.flags & abi::kFlagWaitAll) != 0) {
    WaitAll(record);
    return {};
  }
  std::uint64_t number = 0;
  OpRow* row = RowOf(record, number);
  if (row == nullptr || Told(*row, record)) {
    if (record.op_id == 0 && record.extra != 0) {
      KeepEarly(record);
    } else {
      ++counters_.orphans;
    }
    return {};
  }
  if (waits) return Wait(record, number, *row);
  if (kind == RecordKind::kExecStart) {
    if (row->exec_start_ns == 0) row->exec_start_ns = record.time_ns;
    return {};
  }
  row->flags |= record.flags & abi::kFlagFailed;
  if (!row->done()) return Settle(number, *row, record.time_ns);
  row->end_ns = std::max(row->end_ns, record.time_ns);  // an op in parts ends with its last one
  return {};
}

OpJoiner::Outcome OpJoiner::Wait(const EventRecord& record, std::uint64_t number, OpRow& row) {
  if (static_cast<RecordKind>(record.record_kind) == RecordKind::kWaitStart) {
    AddWait(row, record.time_ns, 0);
    return {};
  }
  AddWait(row, 0, record.time_ns);
  row.flags |= record.flags & abi::kFlagFailed;
  // Where no worker is seen, the end of the wait is the first we hear of the op's end.
  return row.exec_start_ns == 0 ? Settle(number, row, record.time_ns) : Outcome{};
}

void OpJoiner::WaitAll(const EventRecord& record) {
  if (static_cast<RecordKind>(record.record_kind) == RecordKind::kWaitStart) {
    PruneOpen();
    std::vector<std::uint64_t>& waited = waits_for_all_[record.thread_id];
    waited.clear();
    for (auto it = open_.rbegin(); it != open_.rend() && waited.size() < kMaxWaitedForAtOnce;
         ++it) {
      OpRow* row = log_.Find(*it);
      const bool meant = row != nullptr && !row->done() && row->thread_id == record.thread_id &&
                         row->op_id <= record.op_id;
      if (meant) waited.push_back(*it);
    }
  }
  const auto waited = waits_for_all_.find(record.thread_id);
  if (waited == waits_for_all_.end()) return;
  for (const std::uint64_t number : waited->second) {
    if (OpRow* row = log_.Find(number); row != nullptr) Wait(record, number, *row);
  }
  if (static_cast<RecordKind>(record.record_kind) == RecordKind::kWaitEnd) {
    waits_for_all_.erase(waited);
  }
}

void OpJoiner::TakeWire(const EventRecord& record) {
  std::uint64_t number = 0;
  OpRow* row = RowOf(record, number);
  if (row != nullptr && (row->flags & abi::kFlagBytesUnknown) != 0) row->bytes = record.bytes;
}

void OpJoiner::TakeMark(const EventRecord& record) {
  const auto kind = static_cast<abi::MarkKind>(record.extra);
  if (kind == abi::MarkKind::kGcBegin || kind == abi::MarkKind::kDataLoaderBegin ||
      kind == abi::MarkKind::kFunctionBegin) {
    const bool function = kind == abi::MarkKind::kFunctionBegin;
    log_.AddMark({.kind = kind,
                  .begin_ns = record.time_ns,
                  .pair_id = record.op_id,
                  .thread_id = record.thread_id,
                  .function = function ? static_cast<std::uint32_t>(record.bytes) : 0});
    return;
  }
  if (kind != abi::MarkKind::kGcEnd && kind != abi::MarkKind::kDataLoaderEnd &&
      kind != abi::MarkKind::kFunctionEnd) {
    return;
  }
  auto& marks = log_.marks();
  for (auto mark = marks.rbegin(); mark != marks.rend(); ++mark) {
    if (mark->kind == BeginOf(kind) && mark->end_ns == 0 && mark->thread_id == record.thread_id &&
        mark->pair_id == record.op_id) {
      mark->end_ns = record.time_ns;
      if (kind == abi::MarkKind::kDataLoaderEnd) mark->elements = record.bytes;
      return;
    }
    if (std::distance(marks.rbegin(), mark) > 64) break;
  }
  ++counters_.orphans;
}

OpRow* OpJoiner::RowOfOp(std::uint64_t op_id, std::uint64_t& number) {
  if (by_op_.empty()) return nullptr;
  const std::uint64_t found = by_op_[op_id & (kOpWindow - 1)];
  if (found == 0) return nullptr;
  number = found - 1;
  OpRow* row = log_.Find(number);
  return row != nullptr && row->op_id == op_id ? row : nullptr;
}

OpRow* OpJoiner::RowOf(const EventRecord& record, std::uint64_t& number) {
  if (record.op_id != 0) return RowOfOp(record.op_id, number);
  const auto it = by_work_.find(record.extra);
  if (it == by_work_.end()) return nullptr;
  number = it->second;
  return log_.Find(number);
}

void OpJoiner::Bind(std::uint64_t work, std::uint64_t number) {
  if (by_work_.size() >= kMaxWorks) {
    absl::erase_if(by_work_, [this](const auto& entry) {
      const OpRow* row = log_.Find(entry.second);
      return row == nullptr || row->done();
    });
    if (by_work_.size() >= kMaxWorks) by_work_.clear();
  }
  by_work_[work] = number;
}

void OpJoiner::KeepEarly(const EventRecord& record) {
  if (early_.size() >= kMaxUnbound) {
    counters_.orphans += early_.size();
    early_.clear();
  }
  Early& early = early_[record.extra];
  switch (static_cast<RecordKind>(record.record_kind)) {
    case RecordKind::kExecStart:
      early = {.exec_start_ns = record.time_ns};
      break;
    case RecordKind::kExecEnd:
      early.exec_end_ns = record.time_ns;
      break;
    case RecordKind::kWaitStart:
      early.wait_start_ns = record.time_ns;
      break;
    default:
      early.wait_end_ns = record.time_ns;
      break;
  }
}

void OpJoiner::TakeEarly(std::uint64_t work, OpRow& row) {
  const auto it = early_.find(work);
  if (it == early_.end()) return;
  const Early early = it->second;
  early_.erase(it);
  if (early.exec_start_ns >= row.enter_ns) row.exec_start_ns = early.exec_start_ns;
  if (early.exec_end_ns >= row.enter_ns) row.end_ns = early.exec_end_ns;
  if (early.wait_start_ns >= row.enter_ns) AddWait(row, early.wait_start_ns, early.wait_end_ns);
}

OpJoiner::Outcome OpJoiner::Settle(std::uint64_t number, OpRow& row, std::int64_t end_ns) {
  if (row.done()) return {};
  row.end_ns = end_ns;
  ++counters_.ended;
  return {Outcome::What::kEnded, number};
}

void OpJoiner::Stop(std::uint16_t group_slot, std::int64_t stopped_ns) {
  for (const std::uint64_t number : open_) {
    OpRow* row = log_.Find(number);
    const bool meant = row != nullptr && !row->done() && row->group_slot == group_slot &&
                       row->enter_ns <= stopped_ns;
    if (!meant) continue;
    Settle(number, *row, stopped_ns);
    ++counters_.stopped;
  }
}

void OpJoiner::PruneOpen() {
  std::erase_if(open_, [this](std::uint64_t number) {
    const OpRow* row = log_.Find(number);
    if (row == nullptr) ++counters_.open_dropped;
    return row == nullptr || row->done();
  });
}

std::vector<std::uint64_t> OpJoiner::OpenRows() {
  PruneOpen();
  return {open_.begin(), open_.end()};
}

}  // namespace fathom::agent
