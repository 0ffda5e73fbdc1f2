#include "tests/fakes/nccl/proxy.h"

namespace fakes::nccl {
namespace {

constexpr int kSteps = 6;
constexpr int kDepth = 4;  // buffers of a transfer

// NCCL's numbers of states: of a step, and of an op in version 3.
constexpr int kStepStates[2][4] = {{10, -1, 11, 12}, {8, 20, 9, -1}};
constexpr int kOpStates[2][4] = {{4, -1, 5, 6}, {0, 1, 2, -1}};
constexpr int kOpDone[2] = {7, 3};

}  // namespace

RingProxy::RingProxy(const RingPlace& place) : place_(place) {
  for (int channel = 0; channel < kRingChannels; ++channel) {
    transfers_.push_back(Begin(channel, true));
    transfers_.push_back(Begin(channel, false));
  }
}

RingProxy::Transfer RingProxy::Begin(int channel, bool sends) const {
  Transfer transfer;
  const int before = (place_.rank + place_.ranks - 1) % place_.ranks;
  transfer.channel = channel;
  transfer.sends = sends;
  transfer.peer = sends ? (place_.rank + 1) % place_.ranks : before;
  transfer.steps.resize(kSteps);
  transfer.edge =
      &place_.shared->edges[place_.number % kPlaces][channel][sends ? place_.rank : before];
  transfer.handle =
      Profiler::Get().StartTransfer(place_.context, place_.rank, place_.task,
                                    {place_.pid, channel, transfer.peer, kSteps, sends});
  return transfer;
}

// Counters of a place only rise: those of this collective begin where the last round's ended.
bool RingProxy::Before(const std::atomic<std::uint64_t>& count, int step) const {
  return count.load() > place_.number / kPlaces * kSteps + static_cast<std::uint64_t>(step);
}

void RingProxy::Tell(const Transfer& transfer, Told what, int step) const {
  const auto which = static_cast<int>(what);
  Profiler& profiler = Profiler::Get();
  if (!profiler.counts_steps()) {
    profiler.NoteStep(transfer.steps[static_cast<std::size_t>(step)],
                      kStepStates[transfer.sends][which]);
  } else if (kOpStates[transfer.sends][which] >= 0) {
    profiler.NoteSteps(transfer.handle, kOpStates[transfer.sends][which], step + 1);
  }
}

void RingProxy::Post(Transfer& transfer) {
  while (transfer.posted < kSteps && transfer.posted < transfer.done + kDepth) {
    const int step = transfer.posted++;
    transfer.steps[static_cast<std::size_t>(step)] =
        Profiler::Get().StartStep(place_.context, place_.rank, transfer.handle, step);
    Tell(transfer, Told::kPosted, step);
    if (!transfer.sends) transfer.edge->room.fetch_add(1);
  }
}

void RingProxy::Send(Transfer& transfer, int received) {
  Post(transfer);
  while (transfer.moved < transfer.posted && transfer.moved <= received) {
    const int step = transfer.moved;
    Tell(transfer, Told::kCredit, step);  // again at each look, as NCCL does
    if (!Before(transfer.edge->room, step)) break;
    ++transfer.moved;
    Tell(transfer, Told::kMoved, step);
    transfer.edge->taken.fetch_add(1);
  }
  while (transfer.done < transfer.moved && Before(transfer.edge->arrived, transfer.done)) {
    Finish(transfer);
  }
}

void RingProxy::Receive(Transfer& transfer) {
  Post(transfer);
  while (transfer.moved < transfer.posted && Before(transfer.edge->taken, transfer.moved)) {
    if (place_.passes >= 0 && transfer.moved >= place_.passes) break;
    const int step = transfer.moved++;
    transfer.edge->arrived.fetch_add(1);
    Tell(transfer, Told::kMoved, step);
    Tell(transfer, Told::kGpu, step);
    Finish(transfer);
  }
}

void RingProxy::Finish(Transfer& transfer) {
  const int step = transfer.done++;
  Profiler& profiler = Profiler::Get();
  if (profiler.counts_steps()) {
    profiler.NoteSteps(transfer.handle, kOpDone[transfer.sends], transfer.done);
  } else {
    profiler.Stop(transfer.steps[static_cast<std::size_t>(step)]);
  }
}

bool RingProxy::Progress() {
  bool over = true;
  for (std::size_t i = 0; i < transfers_.size(); i += 2) {
    Receive(transfers_[i + 1]);
    Send(transfers_[i], transfers_[i + 1].done);
    over = over && transfers_[i].done == kSteps && transfers_[i + 1].done == kSteps;
  }
  if (over) {
    for (const Transfer& transfer : transfers_) Profiler::Get().Stop(transfer.handle);
  }
  return over;
}

}  // namespace fakes::nccl
