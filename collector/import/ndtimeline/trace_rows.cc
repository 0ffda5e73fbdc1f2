#include "collector/import/ndtimeline/trace_rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"

namespace fathom::collector::ndtimeline {
namespace {

using diagnosis::OpKind;
using diagnosis::ScheduledOp;
using parquet::Column;
using parquet::ColumnKind;

enum ColumnIndex : std::size_t {
  kReplica,
  kStage,
  kRank,
  kStep,
  kKind,
  kStart,
  kDuration,
  kSequence,
  kChunk,
  kModelChunk,
  kMicroBatch,
};

// A trace of more seconds is no trace of training steps; keeps arithmetic on times safe.
constexpr double kLongest = 1e9;
constexpr std::size_t kKindsNamed = 5;

std::optional<OpKind> KindOf(const std::string& name) {
  for (std::size_t i = 0; i < diagnosis::kOpKinds; ++i) {
    const auto kind = static_cast<OpKind>(i);
    if (name == diagnosis::ToString(kind)) return kind;
  }
  return std::nullopt;
}

bool IsNumber(const Column& column) {
  return column.kind == ColumnKind::kIntegers || column.kind == ColumnKind::kReals;
}

absl::Status CheckColumns(const std::vector<Column>& columns) {
  for (const std::size_t i : {kStage, kStep, kStart, kDuration}) {
    if (IsNumber(columns[i])) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("column ", ColumnNames()[i],
                     columns[i].kind == ColumnKind::kAbsent ? " is missing" : " holds no numbers"));
  }
  if (columns[kKind].kind == ColumnKind::kTexts) return absl::OkStatus();
  return absl::InvalidArgumentError("column optype is missing or holds no text");
}

// Integers may come as reals: pandas turns a column with nulls into one.
std::optional<double> NumberAt(const Column& column, std::size_t i) {
  if (!IsNumber(column) || column.present[i] == 0) return std::nullopt;
  if (column.kind == ColumnKind::kIntegers) return static_cast<double>(column.integers[i]);
  if (!std::isfinite(column.reals[i])) return std::nullopt;
  return column.reals[i];
}

template <typename Integer>
bool IntegerAt(const Column& column, std::size_t i, std::int64_t least, Integer& out) {
  const auto number = NumberAt(column, i);
  constexpr auto kMost = static_cast<double>(std::numeric_limits<Integer>::max() / 2);
  if (!number || *number < static_cast<double>(least) || *number > kMost) return false;
  out = static_cast<Integer>(*number);
  return true;
}

std::string NamesOf(const std::map<std::string, std::size_t>& kinds) {
  std::string names;
  std::size_t named = 0;
  for (const auto& [name, rows] : kinds) {
    if (named++ == kKindsNamed) return names + " …";
    absl::StrAppend(&names, named == 1 ? "" : ", ", name, " (", rows, ")");
  }
  return names;
}

// Each step on a clock of its own: what lies between steps was not recorded.
void StartStepsAtZero(std::vector<ScheduledOp>& ops) {
  for (std::size_t begin = 0, end = 0; begin < ops.size(); begin = end) {
    double start = ops[begin].start_s;
    for (end = begin; end < ops.size() && ops[end].step == ops[begin].step; ++end) {
      start = std::min(start, ops[end].start_s);
    }
    for (std::size_t i = begin; i < end; ++i) ops[i].start_s -= start;
  }
}

}  // namespace

const std::vector<std::string>& ColumnNames() {
  static const std::vector<std::string> kNames = {"dp_rank", "stage",    "rank",     "step",
                                                  "optype",  "start_ts", "duration", "seq_id",
                                                  "mc",      "gmc",      "mb_id"};
  return kNames;
}

bool TraceRows::Take(const parquet::RowBlock& block, std::size_t i, Row& row) const {
  const auto& columns = block.columns;
  const auto start = NumberAt(columns[kStart], i);
  const auto duration = NumberAt(columns[kDuration], i);
  if (!start || !duration || std::abs(*start) > kLongest || *duration > kLongest) return false;
  if (!IntegerAt(columns[kStage], i, 0, row.stage) || !IntegerAt(columns[kStep], i, 0, row.step)) {
    return false;
  }
  // A job without data parallelism may leave its replica out, one without tensors its rank.
  if (columns[kReplica].kind != ColumnKind::kAbsent &&
      !IntegerAt(columns[kReplica], i, 0, row.replica)) {
    return false;
  }
  row.op.start_s = *start;
  row.op.duration_s = std::max(0.0, *duration);
  row.numbered = IntegerAt(columns[kSequence], i, 0, row.op.sequence);
  if (!IntegerAt(columns[kRank], i, 0, row.rank)) row.rank = kNoRank.value;
  if (!IntegerAt(columns[kChunk], i, -1, row.op.chunk)) row.op.chunk = -1;
  if (!IntegerAt(columns[kModelChunk], i, -1, row.op.model_chunk)) row.op.model_chunk = -1;
  if (!IntegerAt(columns[kMicroBatch], i, -1, row.op.micro_batch)) row.op.micro_batch = -1;
  return true;
}

absl::Status TraceRows::Add(const std::string& file, const parquet::RowBlock& block) {
  if (files_.empty() || files_.back() != file) files_.push_back(file);
  if (absl::Status usable = CheckColumns(block.columns); !usable.ok()) return usable;
  const Column& kinds = block.columns[kKind];
  std::vector<std::optional<OpKind>> kind_of;
  for (const std::string& name : kinds.dictionary) kind_of.push_back(KindOf(name));
  for (std::size_t i = 0; i < block.rows; ++i) {
    Row row;
    if (kinds.present[i] == 0 || !Take(block, i, row)) {
      ++incomplete_;
      continue;
    }
    const auto kind = kind_of[kinds.words[i]];
    if (!kind) {
      ++unknown_kinds_[kinds.dictionary[kinds.words[i]]];
      continue;
    }
    row.op.kind = *kind;
    row.file = static_cast<std::uint32_t>(files_.size() - 1);
    rows_.push_back(row);
  }
  return absl::OkStatus();
}

bool TraceRows::Before(const Row& a, const Row& b) {
  return std::tuple(a.step, a.replica, a.stage, a.rank, a.op.start_s, a.op.kind, a.op.sequence) <
         std::tuple(b.step, b.replica, b.stage, b.rank, b.op.start_s, b.op.kind, b.op.sequence);
}

// Requires: rows_ in order. One op without a number makes all of its worker be numbered anew.
void TraceRows::NumberOps() {
  const auto same_worker = [](const Row& a, const Row& b) {
    return a.step == b.step && a.replica == b.replica && a.stage == b.stage;
  };
  for (std::size_t begin = 0, end = 0; begin < rows_.size(); begin = end) {
    bool numbered = true;
    for (end = begin; end < rows_.size() && same_worker(rows_[begin], rows_[end]); ++end) {
      numbered = numbered && rows_[end].numbered;
    }
    if (numbered) continue;
    std::array<std::int32_t, diagnosis::kOpKinds> next{};
    for (std::size_t i = begin; i < end; ++i) {
      rows_[i].op.sequence = next[static_cast<std::size_t>(rows_[i].op.kind)]++;
    }
  }
}

// Requires: rows_ in order. Drops rows of a second rank of a worker.
absl::Status TraceRows::PutWorkers(diagnosis::ScheduleTrace& trace,
                                   std::vector<std::string>& notes) {
  std::map<std::pair<std::int32_t, std::int32_t>, std::uint32_t> rank_of;
  for (const Row& row : rows_) {
    const auto [at, added] = rank_of.try_emplace(std::pair(row.replica, row.stage), row.rank);
    if (!added) at->second = std::min(at->second, row.rank);
    if (rank_of.size() > most_ranks_ || (row.rank >= most_ranks_ && row.rank != kNoRank.value)) {
      return absl::ResourceExhaustedError(
          absl::StrCat("more than ", most_ranks_, " ranks; raise the limit"));
    }
  }
  const std::size_t all = rows_.size();
  std::erase_if(rows_, [&](const Row& row) {
    return row.rank != rank_of.at(std::pair(row.replica, row.stage));
  });
  if (rows_.size() < all) {
    notes.push_back(absl::StrCat(all - rows_.size(),
                                 " ops of further ranks of a worker were left out: one rank stands "
                                 "for each"));
  }
  std::int32_t stages = 0;
  for (const auto& [position, rank] : rank_of) stages = std::max(stages, position.second + 1);
  for (const auto& [position, rank] : rank_of) {
    const auto [replica, stage] = position;
    const std::uint32_t made_up =
        static_cast<std::uint32_t>(replica) * static_cast<std::uint32_t>(stages) +
        static_cast<std::uint32_t>(stage);
    trace.workers.push_back({replica, stage, RankId(rank == kNoRank.value ? made_up : rank)});
  }
  return absl::OkStatus();
}

// Requires: rows_ in order. What two files both tell is dropped once, or is two jobs.
absl::Status TraceRows::DropCopies(std::vector<std::string>& notes) {
  const std::size_t all = rows_.size();
  const auto place = [](const Row& row) {
    return std::tuple(row.step, row.replica, row.stage, row.op.start_s, row.op.kind,
                      row.op.sequence);
  };
  const auto same = [&](const Row& a, const Row& b) {
    return place(a) == place(b) && a.op.duration_s == b.op.duration_s;
  };
  rows_.erase(std::unique(rows_.begin(), rows_.end(), same), rows_.end());
  if (rows_.size() < all) {
    notes.push_back(absl::StrCat(all - rows_.size(), " ops are there twice; one of each is used"));
  }
  std::map<std::tuple<std::int64_t, std::int32_t, std::int32_t>, std::uint32_t> file_of;
  for (const Row& row : rows_) {
    const auto [at, added] =
        file_of.try_emplace(std::tuple(row.step, row.replica, row.stage), row.file);
    if (!added && at->second != row.file) {
      return absl::InvalidArgumentError(
          absl::StrCat(files_[at->second], " and ", files_[row.file], " both hold step ", row.step,
                       " of the worker of replica ", row.replica, ", stage ", row.stage,
                       ", with other times: they are two jobs; name the file of one"));
    }
  }
  return absl::OkStatus();
}

// Requires: rows_ in order.
void TraceRows::PutOps(diagnosis::ScheduleTrace& trace) const {
  std::uint32_t worker = 0;
  for (const Row& row : rows_) {
    if (trace.steps.empty() || trace.steps.back() != row.step) {
      trace.steps.push_back(row.step);
      worker = 0;
    }
    const auto at_work = [&](const diagnosis::Worker& w) {
      return w.replica == row.replica && w.stage == row.stage;
    };
    while (!at_work(trace.workers[worker])) ++worker;
    ScheduledOp op = row.op;
    op.step = static_cast<std::uint32_t>(trace.steps.size() - 1);
    op.worker = worker;
    trace.ops.push_back(op);
  }
}

absl::StatusOr<diagnosis::ScheduleTrace> TraceRows::Build(std::vector<std::string>& notes) {
  if (incomplete_ > 0) {
    notes.push_back(
        absl::StrCat(incomplete_, " rows without worker, step, kind or time were left out"));
  }
  if (!unknown_kinds_.empty()) {
    notes.push_back(
        absl::StrCat("ops of kinds that are not known were left out: ", NamesOf(unknown_kinds_)));
  }
  std::sort(rows_.begin(), rows_.end(), Before);
  diagnosis::ScheduleTrace trace;
  if (absl::Status put = PutWorkers(trace, notes); !put.ok()) return put;
  if (absl::Status dropped = DropCopies(notes); !dropped.ok()) return dropped;
  NumberOps();
  PutOps(trace);
  rows_.clear();
  StartStepsAtZero(trace.ops);
  return trace;
}

}  // namespace fathom::collector::ndtimeline
