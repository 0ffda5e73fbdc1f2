#include "tests/diagnosis/job_player.h"

#include <algorithm>
#include <cmath>

namespace fathom::diagnosis::testing {
namespace {

bool Comes(const Fault& fault, int iteration) {
  return iteration >= fault.from && (iteration - fault.from) % fault.every == 0;
}

constexpr std::int64_t kStart = 1'000'000'000;  // so that no time is 0
constexpr std::int64_t kCallNs = 30'000;        // of an API call

std::int64_t Ns(double ms) { return static_cast<std::int64_t>(ms * 1e6); }

}  // namespace

JobPlayer::JobPlayer(const JobSpec& spec)
    : spec_(spec), groups_(GroupsOf(spec)), random_(spec.seed) {
  ranks_.resize(spec.ranks);
  for (std::uint32_t r = 0; r < spec.ranks; ++r) {
    ranks_[r].rank = r;
    ranks_[r].now.time = kStart;
    ranks_[r].next_sequence.resize(groups_.size());
    ranks_[r].program = ProgramOf(spec, r, 0);
  }
}

void JobPlayer::Play() {
  bool moved = true;
  while (moved) {
    moved = false;
    for (PlayedRank& rank : ranks_) moved = Advance(rank) || moved;
  }
}

bool JobPlayer::Advance(PlayedRank& rank) {
  bool moved = false;
  while (rank.iteration < spec_.iterations && !rank.hung) {
    if (rank.at == rank.program.size()) {
      EndIteration(rank);
      moved = true;
      continue;
    }
    if (!Step(rank, rank.program[rank.at])) return moved;
    ++rank.at;
    moved = true;
  }
  return moved;
}

bool JobPlayer::Step(PlayedRank& rank, const Action& action) {
  const std::int64_t begin = rank.now.time;
  switch (action.what) {
    case Action::What::kCompute:
      Compute(rank, action.ms);
      return true;
    case Action::What::kSleep:
      Rest(rank, action.ms, nullptr);
      return true;
    case Action::What::kGc:
      Compute(rank, action.ms);
      rank.now.gc += rank.now.time - begin;
      Mark_(rank, MarkKind::kGc, begin);
      return true;
    case Action::What::kLoader:
      Rest(rank, action.ms, &Clockwork::loader);
      Mark_(rank, MarkKind::kDataLoader, begin);
      return true;
    case Action::What::kEnter:
      rank.unwaited.push_back(EnterOp(rank, action));
      return true;
    case Action::What::kCall:
      if (!rank.entered) rank.waiting_op = EnterOp(rank, action), rank.entered = true;
      return BlockOn(rank, rank.waiting_op);
    case Action::What::kWaitAll:
      return WaitAll(rank);
    case Action::What::kSend:
      rank.sends.push_back(EnterOp(rank, action));
      return true;
    case Action::What::kRecv:
      return Receive(rank, action);
    case Action::What::kWaitSends:
      return WaitMessages(rank, rank.sends);
    case Action::What::kPostRecv:
      rank.receives.push_back(EnterOp(rank, action));
      return true;
    case Action::What::kWaitRecvs:
      return WaitMessages(rank, rank.receives);
    case Action::What::kHang:
      rank.hung = true;
      return false;
  }
  return true;
}

// More processes than cores: pieces take longer, and some lose their core for a while.
void JobPlayer::Compute(PlayedRank& rank, double ms) {
  const double wall = ms * std::exp(spec_.jitter * normal_(random_));
  double lost = Uniform() < spec_.preempt_rate ? spec_.preempt_ms * Uniform() : 0;
  lost += (Slowdown(rank) - 1) * wall * (0.5 + Uniform());
  rank.now.time += Ns(wall + lost);
  rank.now.cpu += Ns(wall);
  rank.now.runqueue += Ns(lost);
}

double JobPlayer::Slowdown(const PlayedRank& rank) const {
  double factor = 1;
  for (const Fault& f : spec_.faults) {
    const bool here = f.rank / spec_.ranks_per_node == rank.rank / spec_.ranks_per_node;
    if (f.kind == FaultKind::kContention && here && Comes(f, rank.iteration)) {
      factor += f.ms / spec_.iteration_ms;
    }
  }
  return factor;
}

void JobPlayer::Rest(PlayedRank& rank, double ms, std::int64_t Clockwork::*sum) {
  const std::int64_t ns = Ns(ms * (1 + 0.02 * std::abs(normal_(random_))));
  rank.now.time += ns;
  if (sum != nullptr) rank.now.*sum += ns;
}

void JobPlayer::Mark_(PlayedRank& rank, MarkKind kind, std::int64_t begin) {
  rank.marks.push_back(
      {kind, MonoNs(begin), MonoNs(rank.now.time), rank.rank + 1, Iteration(rank.iteration)});
}

std::size_t JobPlayer::EnterOp(PlayedRank& rank, const Action& action) {
  CommOp op;
  op.group = groups_[action.group].id;
  op.kind = action.kind;
  op.data_type = DataType::kFloat32;
  op.bytes = action.bytes;
  op.thread = rank.rank + 1;
  op.iteration = Iteration(rank.iteration);
  op.enter = MonoNs(rank.now.time);
  op.cpu_at_enter = Nanos(rank.now.cpu + 1);
  op.runqueue_at_enter = Nanos(rank.now.runqueue + 1);
  rank.now.time += kCallNs;
  rank.now.cpu += kCallNs;
  op.api_return = MonoNs(rank.now.time);
  if (IsPointToPoint(action.kind)) {
    op.peer = RankId(action.peer);
    const bool sends = action.kind == CollectiveKind::kSend;
    if (sends && !spec_.rendezvous) op.end = MonoNs(rank.now.time);
    auto& mine = sends ? offers_[{rank.rank, action.peer}] : posted_[{action.peer, rank.rank}];
    mine.push_back(rank.ops.size());
  } else {
    op.sequence = Sequence(rank.next_sequence[action.group]++);
  }
  rank.ops.push_back(op);
  if (!IsPointToPoint(action.kind)) {
    Join(rank, action, rank.ops.size() - 1);
  } else if (action.kind == CollectiveKind::kSend) {
    Meet(rank.rank, action.peer, rank.iteration);
  } else {
    Meet(action.peer, rank.rank, rank.iteration);
  }
  return rank.ops.size() - 1;
}

void JobPlayer::Join(PlayedRank& rank, const Action& action, std::size_t op) {
  Rendezvous& meeting = meetings_[{action.group, rank.ops[op].sequence.value}];
  meeting.ops[rank.rank] = op;
  std::int64_t last = 0;
  for (const auto& [other, index] : meeting.ops) {
    const CommOp& theirs = ranks_[other].ops[index];
    last = std::max(last, theirs.enter.ns);
    meeting.broken =
        meeting.broken || theirs.kind != rank.ops[op].kind || theirs.bytes != rank.ops[op].bytes;
  }
  meeting.broken = meeting.broken || LinkDown(action.group, rank.iteration);
  if (meeting.broken || meeting.ops.size() < groups_[action.group].members.size()) return;
  meeting.done = true;
  const std::int64_t end = last + Transfer(action.group, rank.iteration);
  for (const auto& [other, index] : meeting.ops) {
    CommOp& theirs = ranks_[other].ops[index];
    theirs.exec_start = theirs.enter + Nanos(100'000);
    theirs.end = MonoNs(end + Ns(0.3 * Uniform()));
  }
}

std::int64_t JobPlayer::Transfer(std::size_t group, int iteration) {
  double ms = spec_.transfer_ms * (0.8 + 0.6 * Uniform());
  for (const Fault& f : spec_.faults) {
    const auto& members = groups_[group].members;
    const bool mine = std::find(members.begin(), members.end(), RankId(f.rank)) != members.end();
    if (f.kind == FaultKind::kLink && mine && Comes(f, iteration)) ms += f.ms / 3;
  }
  return Ns(ms);
}

bool JobPlayer::LinkDown(std::size_t group, int iteration) const {
  for (const Fault& f : spec_.faults) {
    const auto& members = groups_[group].members;
    const bool mine = std::find(members.begin(), members.end(), RankId(f.rank)) != members.end();
    if (f.kind == FaultKind::kLinkDown && mine && iteration >= f.from) return true;
  }
  return false;
}

bool JobPlayer::BlockOn(PlayedRank& rank, std::size_t index) {
  CommOp& op = rank.ops[index];
  if (!op.wait_start.known()) op.wait_start = MonoNs(rank.now.time);
  if (!op.done()) return false;
  const std::int64_t until = std::max(rank.now.time, op.end.ns + Ns(0.05 + 0.1 * Uniform()));
  rank.now.blocked += until - rank.now.time;
  rank.now.time = until;
  op.wait_end = MonoNs(until);
  rank.entered = false;
  return true;
}

// One wait for all: it stands on the last op, as the tracer writes it.
bool JobPlayer::WaitAll(PlayedRank& rank) {
  if (rank.unwaited.empty()) return true;
  for (std::size_t op : rank.unwaited) {
    if (!rank.ops[op].done()) {
      rank.ops[rank.unwaited.back()].wait_start = MonoNs(rank.now.time);
      return false;
    }
  }
  MonoNs latest;
  for (std::size_t op : rank.unwaited) latest = std::max(latest, rank.ops[op].end);
  CommOp& last = rank.ops[rank.unwaited.back()];
  last.wait_start = MonoNs(rank.now.time);
  const std::int64_t until = std::max(rank.now.time, latest.ns + Ns(0.1));
  rank.now.blocked += until - rank.now.time;
  rank.now.time = until;
  last.wait_end = MonoNs(until);
  rank.unwaited.clear();
  return true;
}

bool JobPlayer::WaitMessages(PlayedRank& rank, std::vector<std::size_t>& messages) {
  for (std::size_t op : messages) {
    if (!rank.ops[op].wait_start.known()) rank.ops[op].wait_start = MonoNs(rank.now.time);
    if (!rank.ops[op].done()) return false;
  }
  std::int64_t until = rank.now.time + 2000;
  for (std::size_t op : messages) until = std::max(until, rank.ops[op].end.ns);
  for (std::size_t op : messages) rank.ops[op].wait_end = MonoNs(until);
  if (spec_.rendezvous) {
    rank.now.blocked += until - rank.now.time;
    rank.now.time = until;
  }
  messages.clear();
  return true;
}

// A message goes when both sides have come; or when it is sent, and somebody keeps it.
void JobPlayer::Meet(std::uint32_t from, std::uint32_t to, int iteration) {
  auto& offers = offers_[{from, to}];
  auto& posted = posted_[{from, to}];
  while (!offers.empty() && !posted.empty()) {
    CommOp& send = ranks_[from].ops[offers.front()];
    CommOp& receive = ranks_[to].ops[posted.front()];
    const std::int64_t taken = Transfer(0, iteration);
    const std::int64_t both = std::max(send.enter.ns, receive.enter.ns);
    receive.end = MonoNs(spec_.rendezvous ? both + taken : std::max(both, send.end.ns + taken));
    if (spec_.rendezvous) send.end = receive.end;
    offers.pop_front();
    posted.pop_front();
  }
}

bool JobPlayer::Receive(PlayedRank& rank, const Action& action) {
  if (!rank.entered) rank.waiting_op = EnterOp(rank, action), rank.entered = true;
  return BlockOn(rank, rank.waiting_op);
}

void JobPlayer::EndIteration(PlayedRank& rank) {
  rank.iteration_ends.push_back(rank.now);
  // The boundary is the end of the loss's all-reduce: the last op of the iteration.
  rank.iteration_ends.back().time = rank.ops.back().end.ns;
  ++rank.iteration;
  rank.at = 0;
  if (rank.iteration < spec_.iterations) {
    rank.program = ProgramOf(spec_, rank.rank, rank.iteration);
  }
}

}  // namespace fathom::diagnosis::testing
