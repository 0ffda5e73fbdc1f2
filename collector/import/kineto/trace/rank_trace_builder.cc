#include "collector/import/kineto/trace/rank_trace_builder.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "collector/import/kineto/trace/comm_joiner.h"
#include "collector/import/kineto/trace/names.h"
#include "collector/import/kineto/trace/trace_patterns.h"
#include "proto/types/bounds.h"

namespace fathom::collector::kineto {
namespace {

constexpr std::uint32_t kMostRanks = 1 << 20;
constexpr std::string_view kParamComms = "record_param_comms";
constexpr std::string_view kC10d = "c10d::";
constexpr std::string_view kAllToAllBase = "c10d::alltoall_base_";  // (output, input, …)
constexpr std::string_view kGloo = "gloo:";
constexpr std::string_view kNccl = "nccl:";  // c10d's annotation, also where it records no op

bool IsCommOnHost(std::string_view name) {
  return name.starts_with(kC10d) || name.starts_with(kGloo) || name.starts_with(kNccl) ||
         name == kParamComms;
}

// The header lists the groups of a rank, an event that of an op; either may know less. A list of
// all ranks is often left empty.
void Complete(const TraceGroup& from_header, std::int64_t world, TraceGroup& group) {
  TraceGroup known = from_header;
  if (known.ranks.empty()) known.ranks = group.ranks;
  if (known.description.empty()) known.description = group.description;
  if (known.size == 0) known.size = group.size;
  if (known.ranks.empty() && known.size <= kMostRanks && known.size == world) {
    known.ranks.resize(known.size);
    std::iota(known.ranks.begin(), known.ranks.end(), 0U);
  }
  group = std::move(known);
}

// Launches of all kernels are many times as much as what is kept of a trace else.
Launches OfCommunication(const std::vector<CommEvent>& comms, const Launches& all) {
  Launches kept;
  for (const CommEvent& comm : comms) {
    const auto launch = all.find(comm.correlation);
    if (comm.part == CommPart::kKernel && launch != all.end()) kept.insert(*launch);
  }
  return kept;
}

// Members of an all-to-all may send and receive unequal amounts: of it, what the rank receives, or
// nothing.
std::int64_t ElementsOf(CollectiveKind kind, std::string_view name, const EventArgs& args) {
  if (kind == CollectiveKind::kAllToAll) {
    if (args.out_elements != kAbsent) return args.out_elements;
    return name == kAllToAllBase ? args.input_elements : kAbsent;
  }
  const std::int64_t told = std::max(args.in_elements, args.out_elements);
  return told != kAbsent ? told : args.input_elements;
}

}  // namespace

bool RankTraceBuilder::WantsArgs(const TraceEvent& event) {
  if (event.phase != 'X') return false;
  switch (CategoryOf(event.category)) {
    case Category::kHostOp:
    case Category::kAnnotation:
      return IsCommOnHost(event.name);
    case Category::kKernel:
    case Category::kCopy:
      return true;
    case Category::kRuntime:
      return IsLaunch(event.name);
    default:
      return false;
  }
}

void RankTraceBuilder::OnEvent(const TraceEvent& event, const EventArgs& args) {
  if (event.phase != 'X' || !event.timed || event.duration < 0) return;
  if (std::abs(event.begin) > kFarMonoNs || event.duration > kFarMonoNs) return;
  const Category category = CategoryOf(event.category);
  if (category != Category::kOther) {
    trace_.first = seen_ ? std::min(trace_.first, event.begin) : event.begin;
    trace_.last = seen_ ? std::max(trace_.last, event.end()) : event.end();
    seen_ = true;
  }
  switch (category) {
    case Category::kHostOp:
    case Category::kAnnotation:
      return OnHost(category, event, args);
    case Category::kKernel:
    case Category::kCopy:
      return OnDevice(category, event, args);
    case Category::kPython:
      return OnPython(event);
    case Category::kRuntime:
      if (args.LaunchId() != kAbsent) {
        trace_.launches.emplace(args.LaunchId(), Stretch{event.begin, event.end()});
        if (args.blocks > 0) blocks_of_launch_.emplace(args.LaunchId(), args.blocks);
      }
      return;
    case Category::kOther:
      // "Python GC" has had categories of its own.
      if (IsCollection(event.name)) AddMark(diagnosis::MarkKind::kGc, event);
  }
}

void RankTraceBuilder::OnHost(Category category, const TraceEvent& event, const EventArgs& args) {
  const std::string_view name = event.name;
  trace_.last_thread = event.thread;
  trace_.last_begin = event.begin;
  if (trace_.process == kAbsent) trace_.process = event.process;
  if (StepNumber(name)) return OnStep(event);
  if (IsCollection(name)) return AddMark(diagnosis::MarkKind::kGc, event);
  if (IsDataLoading(name)) return AddMark(diagnosis::MarkKind::kDataLoader, event);
  if (name.starts_with(kGloo)) {
    return AddComm(CommPart::kHostRun, KindOfName(name.substr(kGloo.size())), event, args);
  }
  if (name.starts_with(kC10d)) {
    AddComm(CommPart::kCall, KindOfName(name.substr(kC10d.size())), event, args);
  } else if (name.starts_with(kNccl)) {
    AddComm(CommPart::kCall, KindOfName(name.substr(kNccl.size())), event, args);
    trace_.comms.back().source = CallSource::kAnnotation;
  } else if (name == kParamComms) {
    AddComm(CommPart::kCall, KindOfName(args.collective), event, args);
    trace_.comms.back().source = CallSource::kParameters;
  } else if (event.duration >= kLongPythonNs) {
    long_ops_.push_back({std::string(event.name), event.begin, event.end(), event.thread});
    if (category == Category::kAnnotation) {
      trace_.annotations.push_back({WithoutNumbers(name), event.begin, event.end(), event.thread});
    }
  }
  if (category != Category::kHostOp) return;
  if (ops_ == nullptr || ops_thread_ != event.thread) {
    ops_thread_ = event.thread;
    ops_ = &trace_.ops_by_thread[event.thread];
  }
  log_.AddHostOp(event);
  calls_.AddOp(event);
  (IsWait(name) ? ops_->waiting : ops_->busy).Add(event.begin, event.end());
  ops_->begins.push_back(event.begin);
}

std::optional<CollectiveKind> RankTraceBuilder::KindOf(std::uint32_t name, std::string_view text) {
  if (name >= kernel_names_.size()) kernel_names_.resize(name + 1);
  KernelName& known = kernel_names_[name];
  if (!std::exchange(known.seen, true)) known.kind = KindOfKernel(text);
  return known.kind;
}

void RankTraceBuilder::OnDevice(Category category, const TraceEvent& event, const EventArgs& args) {
  const bool copy = category == Category::kCopy;
  if (trace_.device == kAbsent) trace_.device = args.device;
  const std::uint32_t name = log_.NameOf(event.name);
  auto kind = copy ? std::nullopt : KindOf(name, event.name);
  // Libraries beside NCCL name their kernels as they like; PyTorch tells which op launched it.
  if (!copy && !kind && !args.collective.empty()) kind = KindOfName(args.collective);
  log_.AddDevice(kind   ? diagnosis::WorkKind::kCommunication
                 : copy ? diagnosis::WorkKind::kCopy
                        : diagnosis::WorkKind::kCompute,
                 name, event, args);
  if (!kind) {
    if (!copy) AddGrid(event, args);
    return trace_.device_busy.Add(event.begin, event.end());
  }
  const CollectiveKind named = KindOfName(args.collective);
  AddComm(CommPart::kKernel, named != CollectiveKind::kUnknown ? named : *kind, event, args);
}

// Kernels of ROCm's older tracer tell no grid; their launches do.
void RankTraceBuilder::AddGrid(const TraceEvent& event, const EventArgs& args) {
  if (args.blocks > 0) {
    trace_.grids.push_back({event.begin, args.blocks});
  } else if (args.LaunchId() != kAbsent) {
    without_grid_.emplace_back(event.begin, args.LaunchId());
  }
}

void RankTraceBuilder::AddGridsOfLaunches() {
  for (const auto& [begin, launch] : without_grid_) {
    const auto known = blocks_of_launch_.find(launch);
    if (known != blocks_of_launch_.end()) trace_.grids.push_back({begin, known->second});
  }
}

void RankTraceBuilder::OnPython(const TraceEvent& event) {
  calls_.AddFunction(event);
  if (IsCollection(event.name)) return AddMark(diagnosis::MarkKind::kGc, event);
  if (event.duration < kLongPythonNs) return;
  trace_.python.push_back({std::string(event.name), event.begin, event.end(), event.thread});
}

void RankTraceBuilder::OnStep(const TraceEvent& event) {
  trace_.steps.push_back({*StepNumber(event.name), event.begin, event.end(), event.thread});
}

void RankTraceBuilder::AddMark(diagnosis::MarkKind kind, const TraceEvent& event) {
  trace_.marks.push_back({kind, event.begin, event.end(), event.thread});
}

void RankTraceBuilder::AddComm(CommPart part, CollectiveKind kind, const TraceEvent& event,
                               const EventArgs& args) {
  CommEvent comm;
  comm.part = part;
  comm.kind = kind;
  comm.begin = event.begin;
  comm.end = event.end();
  const bool kernel = part == CommPart::kKernel;
  comm.thread = kernel && args.stream != kAbsent ? args.stream : event.thread;
  comm.data_type = DataTypeOfName(args.data_type.empty() ? args.input_type : args.data_type);
  comm.elements = ElementsOf(kind, event.name, args);
  comm.sequence = args.sequence;
  comm.external_id = args.OpId();
  comm.correlation = args.LaunchId();
  comm.group_size = args.group_size;
  comm.group = std::string(args.group_name);
  // c10d::send(tensors, group, peer, tag), c10d::allreduce_(tensors, …, async, timeout).
  const bool peer_told = (args.concrete_known & 4U) != 0 && event.name.starts_with(kC10d);
  if (IsPointToPoint(kind) && peer_told) comm.peer = args.concrete[2];
  const std::int64_t told = kind == CollectiveKind::kSend   ? args.target_rank
                            : kind == CollectiveKind::kRecv ? args.source_rank
                                                            : kAbsent;
  if (told != kAbsent) {
    comm.peer = told;
    comm.peer_is_global = true;
  } else if (IsPointToPoint(kind) && comm.peer == kAbsent && event.name == kParamComms) {
    comm.peer = args.group_rank;
  }
  comm.asynchronous = args.last_truth == 1;
  LearnGroup(args);
  trace_.comms.push_back(std::move(comm));
}

void RankTraceBuilder::LearnGroup(const EventArgs& args) {
  if (args.group_name.empty()) return;
  TraceGroup& group = trace_.groups[std::string(args.group_name)];
  if (!group.name.empty()) return;
  group.name = std::string(args.group_name);
  group.description = std::string(args.group_description);
  group.ranks = RanksOfText(args.group_ranks);
  if (args.group_size > 0) group.size = static_cast<std::uint32_t>(args.group_size);
  if (group.size == 0) group.size = static_cast<std::uint32_t>(group.ranks.size());
}

RankTrace RankTraceBuilder::Take(ReadSummary summary) {
  AddGridsOfLaunches();
  const auto by_begin = [](const auto& a, const auto& b) { return a.begin < b.begin; };
  std::stable_sort(trace_.steps.begin(), trace_.steps.end(), by_begin);
  std::stable_sort(trace_.comms.begin(), trace_.comms.end(), by_begin);
  std::stable_sort(trace_.marks.begin(), trace_.marks.end(), by_begin);
  std::stable_sort(trace_.grids.begin(), trace_.grids.end(), by_begin);
  std::stable_sort(trace_.annotations.begin(), trace_.annotations.end(), by_begin);
  if (trace_.python.empty()) trace_.python = std::move(long_ops_);
  std::stable_sort(trace_.python.begin(), trace_.python.end(), by_begin);
  for (auto& [thread, ops] : trace_.ops_by_thread) {
    // Ops that wrap a wait are no busier for it.
    ops.waiting.Seal();
    ops.busy.Seal();
    ops.busy = ops.busy.Without(ops.waiting);
    std::sort(ops.begins.begin(), ops.begins.end());
  }
  trace_.device_busy.Seal();
  const std::int64_t thread = TrainingThread(trace_);
  trace_.work = log_.Take(trace_.launches, thread);
  const bool marked = !trace_.steps.empty();
  const std::int64_t begin = marked ? trace_.steps.front().begin : trace_.first;
  const std::int64_t end = marked ? trace_.steps.back().end : trace_.last;
  if (patterns_) trace_.patterns = PatternsOfTrace(trace_, calls_, thread, begin, end);
  trace_.stacks = calls_.Take(thread, begin, end);
  trace_.launches = OfCommunication(trace_.comms, trace_.launches);
  for (const TraceGroup& group : summary.header.groups) {
    Complete(group, summary.header.world_size, trace_.groups[group.name]);
  }
  if (std::abs(summary.header.base_ns) > kFarMonoNs) summary.header.base_ns = 0;
  trace_.cut = summary.truncated;
  trace_.summary = std::move(summary);
  return std::move(trace_);
}

}  // namespace fathom::collector::kineto
