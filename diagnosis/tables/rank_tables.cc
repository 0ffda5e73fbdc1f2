#include "diagnosis/tables/rank_tables.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "diagnosis/stats/robust.h"

namespace fathom::diagnosis {
namespace {

double Seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

struct Span {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

// The time covered by works of some kinds, disjoint. Requires: `work` by begin.
template <typename Wanted>
std::vector<Span> Covered(const std::vector<DeviceWork>& work, const Wanted& wanted) {
  std::vector<Span> spans;
  for (const DeviceWork& one : work) {
    if (!wanted(one.kind)) continue;
    if (!spans.empty() && one.begin <= spans.back().end) {
      spans.back().end = std::max(spans.back().end, one.end);
    } else {
      spans.push_back({one.begin, one.end});
    }
  }
  return spans;
}

std::int64_t Length(const std::vector<Span>& spans) {
  std::int64_t sum = 0;
  for (const Span& span : spans) sum += span.end - span.begin;
  return sum;
}

std::int64_t Common(const std::vector<Span>& a, const std::vector<Span>& b) {
  std::int64_t sum = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    sum +=
        std::max<std::int64_t>(0, std::min(a[i].end, b[j].end) - std::max(a[i].begin, b[j].begin));
    if (a[i].end < b[j].end) {
      ++i;
    } else {
      ++j;
    }
  }
  return sum;
}

Breakdown BreakdownOf(const std::vector<DeviceWork>& work) {
  Breakdown out;
  if (work.empty()) return out;
  const auto compute = Covered(work, [](WorkKind kind) { return kind == WorkKind::kCompute; });
  const auto communication =
      Covered(work, [](WorkKind kind) { return kind == WorkKind::kCommunication; });
  const auto copies = Covered(work, [](WorkKind kind) { return kind == WorkKind::kCopy; });
  const auto all = Covered(work, [](WorkKind) { return true; });
  const std::int64_t span = all.back().end - all.front().begin;
  out.span = Seconds(span);
  out.compute = Seconds(Length(compute));
  out.non_compute = Seconds(Length(all) - Length(compute));
  out.idle = Seconds(span - Length(all));
  out.communication = Seconds(Length(communication));
  out.copies = Seconds(Length(copies));
  out.overlap = Seconds(Common(communication, compute));
  return out;
}

using ByStream = std::map<std::uint16_t, std::vector<const DeviceWork*>>;

ByStream StreamsOf(const std::vector<DeviceWork>& work) {
  ByStream streams;
  for (const DeviceWork& one : work) streams[one.stream].push_back(&one);
  return streams;
}

IdleRow IdleOf(const std::vector<const DeviceWork*>& stream) {
  IdleRow row;
  std::int64_t ended = stream.front()->end;
  for (const DeviceWork* one : stream) {
    const std::int64_t gap = one->begin - ended;
    if (gap > 0) {
      const bool late = one->launched() && one->launch_begin > ended;
      double& where = late ? row.host_wait : gap < kKernelDelayNs ? row.kernel_wait : row.other;
      where += Seconds(gap);
    }
    ended = std::max(ended, one->end);
  }
  return row;
}

// Launched and not begun, over all changes: +1 at the call, −1 at the begin, of those at one time
// the calls first.
void AddQueue(const std::vector<const DeviceWork*>& stream, LaunchRow& row) {
  std::vector<std::int64_t> calls, begins;  // a stream is by begin
  for (const DeviceWork* one : stream) {
    if (!one->launched()) continue;
    calls.push_back(one->launch_begin);
    begins.push_back(one->begin);
  }
  if (!std::is_sorted(calls.begin(), calls.end())) std::sort(calls.begin(), calls.end());
  std::int64_t length = 0, sum = 0;
  auto call = calls.begin();
  for (const std::int64_t begin : begins) {
    for (; call != calls.end() && *call <= begin; ++call) sum += ++length;
    row.queue_max = std::max(row.queue_max, length);
    sum += --length;
  }
  for (; call != calls.end(); ++call) sum += ++length;
  row.queue_max = std::max(row.queue_max, length);
  if (!calls.empty()) {
    row.queue_mean = static_cast<double>(sum) / (2 * static_cast<double>(calls.size()));
  }
}

LaunchRow LaunchesOf(const std::vector<const DeviceWork*>& stream) {
  LaunchRow row;
  std::vector<double> delays;
  double calls = 0, sum = 0;
  for (const DeviceWork* one : stream) {
    if (!one->launched()) continue;
    calls += Seconds(one->launch_end - one->launch_begin);
    delays.push_back(Seconds(one->begin - one->launch_end));
    sum += delays.back();
  }
  row.count = delays.size();
  if (delays.empty()) return row;
  const auto count = static_cast<double>(delays.size());
  row.call_mean = calls / count;
  row.delay_mean = sum / count;
  row.delay_median = Quantile(delays, 0.5);
  row.delay_p99 = Quantile(std::move(delays), 0.99);
  AddQueue(stream, row);
  return row;
}

// Sums of durations with the spread about their mean (Welford).
struct Durations {
  std::uint64_t count = 0;
  std::int64_t min = 0, max = 0;
  double sum = 0, mean = 0, squares = 0;

  void Add(std::int64_t ns) {
    min = count == 0 ? ns : std::min(min, ns);
    max = count == 0 ? ns : std::max(max, ns);
    ++count;
    sum += static_cast<double>(ns);
    const double apart = static_cast<double>(ns) - mean;
    mean += apart / static_cast<double>(count);
    squares += apart * (static_cast<double>(ns) - mean);
  }

  KernelRow Row(const char* kind, const std::string& name) const {
    KernelRow row{kind, name, count, sum * 1e-9, Seconds(min), Seconds(max), 0};
    if (count > 1) row.deviation = std::sqrt(squares / static_cast<double>(count - 1)) * 1e-9;
    return row;
  }
};

const char* NameOf(WorkKind kind) {
  switch (kind) {
    case WorkKind::kCompute:
      return "compute";
    case WorkKind::kCommunication:
      return "communication";
    case WorkKind::kCopy:
      return "copy";
  }
  return "";
}

void SortRows(std::vector<KernelRow>& rows) {
  std::sort(rows.begin(), rows.end(), [](const KernelRow& a, const KernelRow& b) {
    return std::tie(a.kind, b.sum, a.name) < std::tie(b.kind, a.sum, b.name);
  });
}

std::vector<KernelRow> KernelsOf(const RankWork& work) {
  std::map<std::pair<WorkKind, std::uint32_t>, Durations> sums;
  for (const DeviceWork& one : work.device) sums[{one.kind, one.name}].Add(one.end - one.begin);
  std::vector<KernelRow> rows;
  for (const auto& [key, sum] : sums) {
    rows.push_back(sum.Row(NameOf(key.first), work.names[key.second]));
  }
  SortRows(rows);
  return rows;
}

// Ops of the training thread by the time they did not spend in ops that they called.
std::vector<KernelRow> OpsOf(const RankWork& work) {
  std::vector<HostOp> ops = work.host_ops;
  std::sort(ops.begin(), ops.end(), [](const HostOp& a, const HostOp& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  struct Open {
    const HostOp* op;
    double inner;
  };
  std::map<std::uint32_t, Durations> sums;
  std::vector<Open> open;
  const auto close = [&](std::int64_t until) {
    while (!open.empty() && open.back().op->end <= until) {
      const Open last = open.back();
      open.pop_back();
      const auto whole = static_cast<double>(last.op->end - last.op->begin);
      sums[last.op->name].Add(static_cast<std::int64_t>(std::max(0.0, whole - last.inner)));
      if (!open.empty()) open.back().inner += whole;
    }
  };
  for (const HostOp& op : ops) {
    close(op.begin);
    open.push_back({&op, 0});
  }
  std::stable_sort(open.begin(), open.end(),
                   [](const Open& a, const Open& b) { return a.op->end > b.op->end; });
  if (!open.empty()) close(open.front().op->end);
  std::vector<KernelRow> rows;
  for (const auto& [name, sum] : sums) rows.push_back(sum.Row("op", work.names[name]));
  SortRows(rows);
  return rows;
}

void Add(const Breakdown& later, Breakdown& all) {
  for (double Breakdown::*field :
       {&Breakdown::span, &Breakdown::compute, &Breakdown::non_compute, &Breakdown::idle,
        &Breakdown::communication, &Breakdown::copies, &Breakdown::overlap}) {
    all.*field += later.*field;
  }
}

void Add(const IdleRow& later, IdleRow& all) {
  all.host_wait += later.host_wait;
  all.kernel_wait += later.kernel_wait;
  all.other += later.other;
}

// The spread about the common mean (Chan, Golub & LeVeque).
void Add(const KernelRow& later, KernelRow& all) {
  const auto a = static_cast<double>(all.count), b = static_cast<double>(later.count);
  const double apart = later.mean() - all.mean();
  const double squares = all.deviation * all.deviation * std::max(0.0, a - 1) +
                         later.deviation * later.deviation * std::max(0.0, b - 1) +
                         apart * apart * a * b / (a + b);
  all.deviation = a + b > 1 ? std::sqrt(squares / (a + b - 1)) : 0;
  all.min = std::min(all.min, later.min);
  all.max = std::max(all.max, later.max);
  all.count += later.count;
  all.sum += later.sum;
}

void Add(const LaunchRow& later, LaunchRow& all) {
  const auto a = static_cast<double>(all.count), b = static_cast<double>(later.count);
  if (b <= 0) return;
  for (double LaunchRow::*field :
       {&LaunchRow::call_mean, &LaunchRow::delay_mean, &LaunchRow::delay_median,
        &LaunchRow::delay_p99, &LaunchRow::queue_mean}) {
    all.*field = (all.*field * a + later.*field * b) / (a + b);
  }
  all.queue_max = std::max(all.queue_max, later.queue_max);
  all.count += later.count;
}

void Add(const CopyRow& later, CopyRow& all) {
  all.count += later.count;
  all.bytes += later.bytes;
  all.seconds += later.seconds;
}

// Rows of the same key become one.
template <typename Row, typename Key>
void AddRows(const std::vector<Row>& later, const Key& key, std::vector<Row>& all) {
  std::map<decltype(key(later.front())), std::size_t> place;
  for (std::size_t i = 0; i < all.size(); ++i) place[key(all[i])] = i;
  for (const Row& row : later) {
    const auto known = place.find(key(row));
    if (known == place.end()) {
      all.push_back(row);
    } else {
      Add(row, all[known->second]);
    }
  }
}

}  // namespace

void AddTables(const RankTables& later, RankTables& all) {
  if (later.on_device != all.on_device) {
    if (later.on_device) all = later;  // a window without work on the device tells nothing of it
    return;
  }
  Add(later.breakdown, all.breakdown);
  const auto by_stream = [](const auto& row) { return row.stream; };
  AddRows(later.idle, by_stream, all.idle);
  AddRows(later.launches, by_stream, all.launches);
  AddRows(
      later.copies, [](const CopyRow& row) { return row.kind; }, all.copies);
  AddRows(
      later.kernels, [](const KernelRow& row) { return std::pair(row.kind, row.name); },
      all.kernels);
  SortRows(all.kernels);
}

RankTables TablesOfDevice(RankWork work) {
  RankTables tables;
  tables.on_device = true;
  std::vector<DeviceWork>& sorted = work.device;
  const auto earlier = [](const DeviceWork& a, const DeviceWork& b) { return a.begin < b.begin; };
  if (!std::is_sorted(sorted.begin(), sorted.end(), earlier)) {
    std::sort(sorted.begin(), sorted.end(), earlier);
  }
  tables.breakdown = BreakdownOf(sorted);
  for (const auto& [index, stream] : StreamsOf(sorted)) {
    tables.idle.push_back(IdleOf(stream));
    tables.launches.push_back(LaunchesOf(stream));
    tables.idle.back().stream = tables.launches.back().stream = work.streams[index];
  }
  tables.kernels = KernelsOf(work);
  for (const auto& [kind, sum] : work.copies) {
    tables.copies.push_back({kind, sum.count, sum.bytes, sum.ns * 1e-9});
  }
  return tables;
}

RankTables TablesOfHost(const RankWork& work, const HostTime& time) {
  RankTables tables;
  Breakdown& out = tables.breakdown;
  out.span = time.span;
  out.compute = std::min(time.busy, time.span);
  out.non_compute = std::min(time.blocked, time.span - out.compute);
  out.idle = time.span - out.compute - out.non_compute;
  out.communication = time.communication;
  out.overlap = time.overlap;
  tables.kernels = OpsOf(work);
  return tables;
}

void FillTotals(const std::vector<RankTables>& tables, std::vector<RankTotals>& totals) {
  for (const RankTables& from : tables) {
    auto at = std::lower_bound(totals.begin(), totals.end(), from.rank,
                               [](const RankTotals& one, RankId rank) { return one.rank < rank; });
    if (at == totals.end() || at->rank != from.rank) {
      at = totals.insert(at, RankTotals{});
      at->rank = from.rank;
    }
    at->compute = Nanos::FromSeconds(from.breakdown.compute);
    at->non_compute = Nanos::FromSeconds(from.breakdown.non_compute);
    at->idle = Nanos::FromSeconds(from.breakdown.idle);
    at->communication = Nanos::FromSeconds(from.breakdown.communication);
    at->overlap_ratio = from.breakdown.overlap_ratio();
    at->wait = std::min(at->wait, at->communication);
  }
}

}  // namespace fathom::diagnosis
