#include "tests/diagnosis/job_program.h"

#include <algorithm>
#include <numeric>
#include <string>

namespace fathom::diagnosis::testing {
namespace {

using What = Action::What;

constexpr std::uint64_t kBucket = 1 << 20;
constexpr std::uint64_t kActivation = 98304;

bool Active(const Fault& fault, std::uint32_t rank, int iteration) {
  return fault.rank == rank && iteration >= fault.from && iteration < fault.until &&
         (iteration - fault.from) % fault.every == 0;
}

class Writer {
 public:
  Writer(const JobSpec& spec, std::uint32_t rank, int iteration)
      : spec_(spec), rank_(rank), iteration_(iteration) {}

  Program Take() { return std::move(program_); }

  void Work(double share) { Add({What::kCompute, share * spec_.iteration_ms}); }
  void Enter(std::size_t group, std::uint64_t bytes) {
    Add({What::kEnter, 0, group, CollectiveKind::kAllReduce, bytes});
  }
  void Call(std::size_t group, std::uint64_t bytes) {
    Add({What::kCall, 0, group, CollectiveKind::kAllReduce, bytes});
  }
  void WaitAll() { Add({What::kWaitAll}); }
  void Send(std::uint32_t to) { Add({What::kSend, 0, 0, CollectiveKind::kSend, kActivation, to}); }
  void Recv(std::uint32_t from) {
    Add({What::kRecv, 0, 0, CollectiveKind::kRecv, kActivation, from});
  }
  void PostRecv(std::uint32_t from) {
    Add({What::kPostRecv, 0, 0, CollectiveKind::kRecv, kActivation, from});
  }
  void WaitSends() { Add({What::kWaitSends}); }
  void WaitRecvs() { Add({What::kWaitRecvs}); }

  void Loader() {
    double ms = 0.3;
    for (const Fault& f : spec_.faults) {
      if (f.kind == FaultKind::kDataLoader && Active(f, rank_, iteration_)) ms += f.ms;
    }
    Add({What::kLoader, ms});
  }

  // `share` of a slow computation's extra time.
  void ExtraCompute(double share) {
    for (const Fault& f : spec_.faults) {
      const bool grown = f.kind == FaultKind::kGrowth && Active(f, f.rank, iteration_);
      const bool more = f.kind == FaultKind::kCompute || f.kind == FaultKind::kLonger;
      const bool mine = more && Active(f, rank_, iteration_);
      if (grown || mine) Add({What::kCompute, share * f.ms});
    }
  }

  void BeforeStep() {
    for (const Fault& f : spec_.faults) {
      if (!Active(f, rank_, iteration_)) continue;
      if (f.kind == FaultKind::kSleep) Add({What::kSleep, f.ms});
      if (f.kind == FaultKind::kGc) Add({What::kGc, f.ms});
      if (f.kind == FaultKind::kStop || f.kind == FaultKind::kLoop || f.kind == FaultKind::kIdle ||
          f.kind == FaultKind::kDead) {
        Add({What::kHang});
      }
    }
  }

  void Loss() {
    CollectiveKind kind = CollectiveKind::kAllReduce;
    for (const Fault& f : spec_.faults) {
      if (!Active(f, rank_, iteration_)) continue;
      if (f.kind == FaultKind::kMismatch) kind = CollectiveKind::kAllGather;
      if (f.kind == FaultKind::kSkip) return;
    }
    Add({What::kCall, 0, 0, kind, 4});
  }

 private:
  void Add(Action action) { program_.push_back(action); }

  const JobSpec& spec_;
  std::uint32_t rank_;
  int iteration_;
  Program program_;
};

void WriteDdp(Writer& w) {
  w.Loader();
  w.Work(0.35);
  w.ExtraCompute(1);
  w.Work(0.3);
  w.Enter(0, kBucket);
  w.Work(0.2);
  w.Enter(0, kBucket / 2);
  w.Work(0.05);
  w.WaitAll();
  w.BeforeStep();
  w.Loss();
  w.Work(0.1);
}

void WriteTensorData(const JobSpec& spec, std::uint32_t rank, Writer& w) {
  const std::size_t tensor = 1 + rank / spec.tensor;
  const std::size_t data = 1 + spec.ranks / spec.tensor + rank % spec.tensor;
  w.Loader();
  for (int depth = 0; depth < 2; ++depth) {
    w.ExtraCompute(0.5);
    w.Work(0.2);
    w.Call(tensor, kActivation);
  }
  for (int depth = 0; depth < 2; ++depth) {
    w.Work(0.2);
    w.Call(tensor, kActivation);
  }
  w.Enter(data, kBucket);
  w.Work(0.05);
  w.WaitAll();
  w.BeforeStep();
  w.Loss();
  w.Work(0.15);
}

// Keys and values go round; every rank attends to those that it has.
void WriteRing(const JobSpec& spec, std::uint32_t rank, Writer& w) {
  w.Loader();
  w.ExtraCompute(1);
  for (std::uint32_t hop = 0; hop < spec.ranks; ++hop) {
    w.Work(0.6 / spec.ranks);
    if (hop + 1 == spec.ranks) break;
    w.Send((rank + 1) % spec.ranks);
    w.PostRecv((rank + spec.ranks - 1) % spec.ranks);
    w.WaitSends();
    w.WaitRecvs();
  }
  w.Work(0.3);
  w.BeforeStep();
  w.Loss();
  w.Work(0.1);
}

// Rank 0 gets each worker's gradients by a message, and sends the parameters back.
void WriteServer(const JobSpec& spec, std::uint32_t rank, Writer& w) {
  if (rank != 0) {
    w.Loader();
    w.ExtraCompute(1);
    w.Work(0.9);
    w.BeforeStep();
    w.Send(0);
    w.WaitSends();
    w.Recv(0);
    return;
  }
  for (std::uint32_t worker = 1; worker < spec.ranks; ++worker) w.Recv(worker);
  w.Work(0.05);
  w.BeforeStep();
  for (std::uint32_t worker = 1; worker < spec.ranks; ++worker) {
    w.Send(worker);
    w.WaitSends();
  }
}

class Stage {
 public:
  Stage(const JobSpec& spec, std::uint32_t rank, Writer& w)
      : spec_(spec), rank_(rank), stages_(spec.ranks / spec.replicas), w_(w) {}

  void Run() {
    w_.Loader();
    const int ahead = static_cast<int>(stages_ - 1 - rank_ % stages_);
    int held = 0;
    for (int m = 0; m < spec_.micro_batches; ++m) {
      Forward();
      ++held;
      if (m >= ahead) Backward(), --held;
    }
    for (; held > 0; --held) Backward();
    w_.WaitSends();
    if (spec_.replicas > 1) w_.Call(1 + rank_ % stages_, kBucket);
    w_.BeforeStep();
    w_.Loss();
    w_.Work(0.02);
  }

 private:
  bool First() const { return rank_ % stages_ == 0; }
  bool Last() const { return rank_ % stages_ + 1 == stages_; }
  double Share() const { return (Last() ? spec_.last_stage_times : 1) / spec_.micro_batches; }
  void Forward() {
    if (!First()) w_.Recv(rank_ - 1);
    w_.ExtraCompute(1.0 / spec_.micro_batches);
    w_.Work(0.35 * Share());
    if (!Last()) w_.Send(rank_ + 1);
  }
  void Backward() {
    if (!Last()) w_.Recv(rank_ + 1);
    w_.Work(0.6 * Share());
    if (!First()) w_.Send(rank_ - 1);
  }

  const JobSpec& spec_;
  std::uint32_t rank_;
  std::uint32_t stages_;
  Writer& w_;
};

Group MakeGroup(std::uint64_t id, std::string description, std::vector<RankId> members) {
  Group group;
  group.id = GroupId(id + 100);
  group.name = std::to_string(id);
  group.description = std::move(description);
  group.size = static_cast<std::uint32_t>(members.size());
  group.members = std::move(members);
  return group;
}

std::vector<RankId> EveryNth(std::uint32_t first, std::uint32_t end, std::uint32_t step) {
  std::vector<RankId> ranks;
  for (std::uint32_t rank = first; rank < end; rank += step) ranks.push_back(RankId(rank));
  return ranks;
}

}  // namespace

std::vector<Group> GroupsOf(const JobSpec& spec) {
  std::vector<Group> groups;
  groups.push_back(MakeGroup(0, "default_pg", EveryNth(0, spec.ranks, 1)));
  const auto add = [&](const char* what, std::uint32_t from, std::uint32_t to, std::uint32_t step) {
    groups.push_back(MakeGroup(groups.size(), what, EveryNth(from, to, step)));
  };
  if (spec.type == JobType::kPipeline && spec.replicas > 1) {
    const std::uint32_t stages = spec.ranks / spec.replicas;
    for (std::uint32_t stage = 0; stage < stages; ++stage) add("DATA", stage, spec.ranks, stages);
  }
  if (spec.type != JobType::kTensorData) return groups;
  for (std::uint32_t first = 0; first < spec.ranks; first += spec.tensor) {
    add("TENSOR", first, first + spec.tensor, 1);
  }
  for (std::uint32_t first = 0; first < spec.tensor; ++first) {
    add("DATA", first, spec.ranks, spec.tensor);
  }
  return groups;
}

Program ProgramOf(const JobSpec& spec, std::uint32_t rank, int iteration) {
  Writer writer(spec, rank, iteration);
  switch (spec.type) {
    case JobType::kDdp:
      WriteDdp(writer);
      break;
    case JobType::kTensorData:
      WriteTensorData(spec, rank, writer);
      break;
    case JobType::kRing:
      WriteRing(spec, rank, writer);
      break;
    case JobType::kServer:
      WriteServer(spec, rank, writer);
      break;
    case JobType::kPipeline:
      Stage(spec, rank, writer).Run();
      break;
  }
  return writer.Take();
}

std::uint64_t BatchElements(const JobSpec& spec, std::uint32_t rank, int iteration) {
  constexpr double kUsual = 512;
  double elements = 0;
  for (const Fault& f : spec.faults) {
    if (f.kind != FaultKind::kLonger) continue;
    const double times = Active(f, rank, iteration) ? 1 + f.ms / spec.iteration_ms : 1;
    elements = std::max(elements, kUsual * times);
  }
  return static_cast<std::uint64_t>(elements);
}

}  // namespace fathom::diagnosis::testing
