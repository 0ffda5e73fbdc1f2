#include "tests/fakes/nccl/plan.h"

#include <stdlib.h>
#include <unistd.h>

#include "tests/fakes/nccl/faults.h"
#include "tests/fakes/nccl/stream.h"

namespace fakes::nccl {
namespace {

constexpr std::int64_t kLatencyNs = 30'000;
constexpr double kBytesPerNs = 10;

int ProcessOf(const ncclComm& comm, int rank) {
  return comm.shared->process[rank].load(std::memory_order_acquire) - 1;
}

bool Crosses(const Op& op, const Fault& link) {
  const ncclComm& comm = *op.comm;
  if (op.what.point_to_point) {
    const int me = Process(), other = ProcessOf(comm, op.what.peer);
    return (op.is_send ? me : other) == link.first && (op.is_send ? other : me) == link.second;
  }
  for (int r = 0; r < comm.ranks; ++r) {
    if (ProcessOf(comm, r) == link.first && ProcessOf(comm, (r + 1) % comm.ranks) == link.second) {
      return comm.ranks > 1;
    }
  }
  return false;
}

std::int64_t TransferNs(const Op& op) {
  const auto ns =
      kLatencyNs + static_cast<std::int64_t>(static_cast<double>(op.bytes) / kBytesPerNs);
  const Fault& link = SlowLink();
  return link.first >= 0 && op.ordinal >= link.after && Crosses(op, link) ? ns * link.factor : ns;
}

void BeginRing(Op& op) {
  if (!OverNetwork() || op.what.point_to_point) return;
  const ncclComm& comm = *op.comm;
  const Fault& link = StuckLink();
  const bool stuck = link.second == Process() && op.ordinal >= link.after &&
                     ProcessOf(comm, (comm.rank + comm.ranks - 1) % comm.ranks) == link.first;
  // A process that lends its network card: what it is told of the op is another process's.
  static const bool lent = getenv("FAKE_NCCL_LENT") != nullptr;
  void* const context = lent ? reinterpret_cast<void*>(1) : comm.context;
  op.proxy = std::make_shared<RingProxy>(
      RingPlace{comm.shared, context, op.task, comm.ranks, comm.rank, op.number,
                stuck ? kStuckLinkPasses : -1, lent ? getpid() + 1 : getpid()});
}

bool Met(const Op& op) {
  Shared& shared = *op.comm->shared;
  const int me = op.comm->rank, other = op.what.peer;
  if (!op.what.point_to_point) {
    const auto round = op.number / kPlaces + 1;
    return shared.arrived[op.number % kPlaces].load() >=
           round * static_cast<std::uint64_t>(op.comm->ranks);
  }
  const auto& theirs = op.is_send ? shared.posted[1][me][other] : shared.posted[0][other][me];
  return theirs.load() > op.number;
}

void Begin(Op& op) {
  Shared& shared = *op.comm->shared;
  const std::uint64_t now = GpuNs();
  const int channels = op.what.point_to_point ? 1 : kChannels;
  for (int c = 0; c < channels; ++c) {
    op.channels[c] = Profiler::Get().StartChannel(op.comm->context, op.comm->rank, op.task, c, now);
  }
  BeginRing(op);
  while (Stuck().first == Process() && op.ordinal >= Stuck().after) PollPause();
  if (!op.what.point_to_point) {
    shared.arrived[op.number % kPlaces].fetch_add(1);
  } else if (op.is_send) {
    shared.posted[0][op.comm->rank][op.what.peer].fetch_add(1);
  } else {
    shared.posted[1][op.what.peer][op.comm->rank].fetch_add(1);
  }
}

void Finish(Op& op) {
  SleepFor(TransferNs(op));
  const std::uint64_t now = GpuNs();
  for (void* channel : op.channels) Profiler::Get().StopChannel(channel, now);
  op.over = true;
}

}  // namespace

void Execute(const Plan& plan) {
  for (const auto& op : plan) Begin(*op);
  for (bool over = false; !over;) {
    over = true;
    for (const auto& op : plan) {
      if (!op->over && Met(*op) && (op->proxy == nullptr || op->proxy->Progress())) Finish(*op);
      over = over && op->over;
    }
    if (!over) PollPause();
  }
}

}  // namespace fakes::nccl
