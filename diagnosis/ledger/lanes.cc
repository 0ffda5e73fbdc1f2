#include "diagnosis/ledger/lanes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "diagnosis/model/lookup.h"
#include "proto/types/chained_ops.h"

namespace fathom::diagnosis {
namespace {

// What the ends of a wait and of its op may lie apart: a thread that has to wake up.
constexpr Nanos kWakeUp{2'000'000};

struct Wait {
  MonoNs begin;
  MonoNs end;
  std::size_t op = kNoOp;  // of the line
};

struct Span {
  MonoNs begin;
  MonoNs end;
};

using SpanOf = std::map<Iteration, Span>;

// Waits of a line by begin, those that overlap as one after the other.
std::vector<Wait> WaitsOf(const RankTimeline& line, const RankRows& rows) {
  std::vector<Wait> waits;
  std::unordered_map<const CommOp*, std::size_t> place;
  for (std::size_t k = 0; k < line.ops.size(); ++k) place[line.ops[k]] = k;
  for (const DeviceWait& wait : rows.device_waits) {
    const bool told = wait.op < rows.ops.size();
    waits.push_back({wait.begin, wait.end, told ? place.at(&rows.ops[wait.op]) : kNoOp});
  }
  for (std::size_t k = 0; k < line.ops.size(); ++k) {
    const CommOp& op = *line.ops[k];
    if (op.device_known() || op.hidden) continue;
    if (op.in_device_time()) {
      // What else its device does meanwhile is not known: it is taken to stand still.
      if (op.done()) waits.push_back({op.exec_start, op.end, k});
    } else if (op.wait_start.known() && op.wait_end.known()) {
      waits.push_back({op.wait_start, op.wait_end, k});
    } else if (!op.wait_start.known() && op.api_return.known() && op.done() && op.thread != 0 &&
               op.end <= op.api_return) {
      waits.push_back({op.enter, op.api_return, k});
    }
  }
  std::sort(waits.begin(), waits.end(),
            [](const Wait& a, const Wait& b) { return a.begin < b.begin; });
  MonoNs covered;
  for (Wait& wait : waits) {
    wait.begin = std::max(wait.begin, covered);
    covered = std::max(covered, wait.end);
  }
  std::erase_if(waits, [](const Wait& wait) { return wait.end <= wait.begin; });
  return waits;
}

// The spans of a rank's iterations.
std::map<RankId, SpanOf> SpansOf(const JobView& view) {
  std::map<RankId, SpanOf> spans;
  for (const IterationSummary& it : view.window) {
    for (const RankIteration& rank : it.ranks) {
      if (!view.rows.contains(rank.rank) || rank.duration.count <= 0) continue;
      spans[rank.rank][it.index] = {rank.begin, rank.begin + rank.duration};
    }
  }
  return spans;
}

// Ranks that meet in some steps only have others without any op.
bool NobodyCommunicated(const IterationSummary& it, const std::vector<RankTimeline>& lines) {
  return std::all_of(
             it.ranks.begin(), it.ranks.end(),
             [](const RankIteration& rank) { return rank.ops == 0 && rank.groups.empty(); }) &&
         std::none_of(lines.begin(), lines.end(),
                      [&](const RankTimeline& line) { return line.iterations.contains(it.index); });
}

// Iterations of which every line has ops, or none had any, and a span, in stretches that follow one
// another.
std::vector<std::vector<Iteration>> StretchesOf(const JobView& view,
                                                const std::vector<RankTimeline>& lines,
                                                const std::map<RankId, SpanOf>& spans) {
  std::vector<std::vector<Iteration>> stretches;
  bool open = false;
  for (const IterationSummary& it : view.window) {
    const bool alone = NobodyCommunicated(it, lines);
    const bool whole = std::all_of(lines.begin(), lines.end(), [&](const RankTimeline& line) {
      const auto of = spans.find(line.rank);
      return of != spans.end() && of->second.contains(it.index) &&
             (alone || line.iterations.contains(it.index));
    });
    if (whole && !open) stretches.emplace_back();
    if (whole) stretches.back().push_back(it.index);
    open = whole;
  }
  return stretches;
}

class LaneBuilder {
 public:
  LaneBuilder(const JobView& view, const ExecutionGraph& graph, LaneGraph& out)
      : view_(view), graph_(graph), out_(out) {}

  void Build(const std::map<RankId, SpanOf>& spans) {
    const std::vector<RankTimeline>& lines = graph_.lines();
    out_.late = LateBegins(lines, spans);
    for (std::size_t l = 0; l < lines.size(); ++l) AddLane(l, spans.at(lines[l].rank));
    for (auto& [instance, join] : join_of_) Measure(*instance, out_.joins[join]);
    for (const auto& [where, turns] : exchanges_) MeasureExchange(turns);
    MeasureMessages();
  }

 private:
  // Messages alone let each rank end an iteration at another time.
  static bool EndsTogether(const RankTimeline& line, Iteration iteration) {
    const auto range = line.iterations.find(iteration);
    if (range == line.iterations.end()) return false;
    for (std::size_t k = range->second.first; k < range->second.second; ++k) {
      if (!IsPointToPoint(line.ops[k]->kind)) return true;
    }
    return false;
  }

  // By how much each line began the stretch after the first: ranks are together again at the end of
  // the first iteration in which they communicate.
  std::vector<double> LateBegins(const std::vector<RankTimeline>& lines,
                                 const std::map<RankId, SpanOf>& spans) const {
    const auto met =
        std::find_if(out_.iterations.begin(), out_.iterations.end(), [&](const Iteration it) {
          return std::any_of(lines.begin(), lines.end(),
                             [&](const auto& any) { return any.iterations.contains(it); });
        });
    const bool together = met != out_.iterations.end() &&
                          std::all_of(lines.begin(), lines.end(), [&](const RankTimeline& line) {
                            return EndsTogether(line, *met);
                          });
    if (!together) return std::vector<double>(lines.size(), 0);
    std::vector<double> until, late;
    for (const RankTimeline& line : lines) {
      const SpanOf& own = spans.at(line.rank);
      until.push_back((own.at(*met).end - own.at(out_.iterations.front()).begin).Seconds());
    }
    const double longest = *std::max_element(until.begin(), until.end());
    for (const double each : until) {
      late.push_back(longest - each > kWakeUp.Seconds() ? longest - each : 0);
    }
    return late;
  }

  void AddLane(std::size_t l, const SpanOf& spans) {
    line_ = &graph_.lines()[l];
    l_ = l;
    Lane& lane = out_.lanes.emplace_back();
    lane.rank = line_->rank;
    if (out_.late[l] > 0) lane.steps.push_back({.act = LaneAct::kBlocked, .seconds = out_.late[l]});
    lane_ = &lane;
    at_ = spans.at(out_.iterations.front()).begin;
    iteration_ = 0;
    last_of_.clear();
    ends_.clear();
    for (const Iteration it : out_.iterations) ends_.push_back(spans.at(it).end);
    const MonoNs begin = at_;
    const std::vector<Wait> waits = WaitsOf(*line_, view_.rows.at(line_->rank));
    auto wait = std::find_if(waits.begin(), waits.end(),
                             [&](const Wait& each) { return each.end > begin; });
    std::size_t k = 0;
    while (k < line_->ops.size() && line_->ops[k]->arrival() < begin) ++k;
    for (; iteration_ < ends_.size();) {
      const MonoNs op = k < line_->ops.size() ? line_->ops[k]->arrival() : MonoNs(kNever);
      const MonoNs blocked = wait != waits.end() ? std::max(wait->begin, at_) : MonoNs(kNever);
      const MonoNs next = std::min({op, blocked, ends_[iteration_]});
      if (next == ends_[iteration_] && (op > next || next.ns == kNever) && blocked >= next) {
        End();
      } else if (op <= blocked) {
        Arrive(k++, op);
      } else {
        k = PassWait(*wait++, k);
      }
    }
  }

  LaneStep& Add(LaneAct act, MonoNs until) {
    LaneStep& step = lane_->steps.emplace_back();
    step.own = std::max(0.0, (until - at_).Seconds());
    step.act = act;
    step.iteration = static_cast<std::uint32_t>(iteration_);
    at_ = std::max(at_, until);
    return step;
  }

  void End() {
    Add(LaneAct::kEnd, ends_[iteration_]);
    ++iteration_;
  }

  // Where the lane was at `at_` when the op came; later by what the host or the stream took.
  void Arrive(std::size_t k, MonoNs lane_at) {
    const CommOp& op = *line_->ops[k];
    const std::size_t join = JoinOf(k);
    const auto before = last_of_.find(op.group);
    const CommOp* previous = before == last_of_.end() ? nullptr : line_->ops[before->second];
    const bool chained = op.device_known() && previous != nullptr && previous->done() &&
                         op.arrival() >= previous->end &&
                         op.arrival() - previous->end <= kChainedWithin;
    LaneStep& step = Add(chained ? LaneAct::kChained : LaneAct::kArrive, lane_at);
    step.join = join;
    if (chained) step.after = JoinOf(before->second);
    step.seconds = (op.arrival() - (chained ? previous->end : lane_at)).Seconds();
    last_of_[op.group] = k;
  }

  // The lane stands still: ops that come meanwhile came from elsewhere. Returns the next op.
  std::size_t PassWait(const Wait& wait, std::size_t k) {
    const MonoNs begin = std::max(wait.begin, at_);
    for (; k < line_->ops.size() && line_->ops[k]->arrival() < wait.end; ++k) Arrive(k, begin);
    const CommOp* op = wait.op == kNoOp ? nullptr : line_->ops[wait.op];
    const bool told =
        op != nullptr && op->done() && op->end >= begin && op->end <= wait.end + kWakeUp &&
        arrived_.contains({l_, wait.op}) &&
        (op->kind != CollectiveKind::kSend || op->device_known() || AwaitsReceiver(wait));
    LaneStep& step = Add(told ? LaneAct::kWait : LaneAct::kBlocked, begin);
    step.seconds = (wait.end - begin).Seconds();
    if (op != nullptr && IsPointToPoint(op->kind) && op->peer == kNoRank) {
      out_.unknown_waits += step.seconds;
    }
    if (told) step.join = JoinOf(wait.op);
    at_ = told ? std::clamp(op->end, begin, std::max(begin, wait.end)) : wait.end;
    while (iteration_ + 1 < ends_.size() && ends_[iteration_] < at_) {
      const MonoNs at = at_;
      at_ = ends_[iteration_];
      End();
      at_ = at;
    }
    return k;
  }

  // A thread that sends goes on once the message has been taken over, at once where somebody keeps
  // it for the receiver. One that stood still, and came before the receiver did, waited for that.
  bool AwaitsReceiver(const Wait& wait) const {
    const Instance* instance = graph_.instances().Of({l_, wait.op});
    if (instance == nullptr || wait.end - wait.begin < kWakeUp) return false;
    const Nanos mine = line_->ops[wait.op]->elapsed();
    return std::any_of(
        instance->members.begin(), instance->members.end(), [&](const OpRef& member) {
          const CommOp& op = graph_.instances().OpAt(member);
          return op.kind == CollectiveKind::kRecv && op.done() && op.elapsed() <= mine;
        });
  }

  std::size_t JoinOf(std::size_t k) {
    arrived_.insert({l_, k});
    const OpRef ref{l_, k};
    const Instance* instance = graph_.instances().Of(ref);
    if (instance == nullptr) return Single(k);
    const auto [at, fresh] = join_of_.try_emplace(instance, out_.joins.size());
    if (fresh) {
      Join& join = out_.joins.emplace_back();
      join.group = instance->group;
      join.kind = instance->kind;
      join.bytes = instance->bytes;
      join.iteration = static_cast<std::uint32_t>(iteration_);
    }
    Join& join = out_.joins[at->second];
    if (join.lanes.empty() || join.lanes.back() != l_) join.lanes.push_back(l_);
    return at->second;
  }

  // An op whose partners are not known: it takes what it took.
  std::size_t Single(std::size_t k) {
    const auto [at, fresh] = single_.try_emplace({l_, k}, out_.joins.size());
    if (!fresh) return at->second;
    const CommOp& op = *line_->ops[k];
    Join& join = out_.joins.emplace_back();
    join.group = op.group;
    join.kind = op.kind;
    join.iteration = static_cast<std::uint32_t>(iteration_);
    join.lanes = {l_};
    join.transfer = op.done() ? std::max(0.0, op.elapsed().Seconds()) : 0;
    return at->second;
  }

  void Measure(const Instance& instance, Join& join) {
    join.complete = instance.complete && join.lanes.size() == instance.members.size();
    const bool device = graph_.instances().OpAt(instance.members.front()).device_known();
    join.comparable =
        join.kind != CollectiveKind::kBarrier && (device || IsSynchronising(join.kind));
    std::optional<double> least;
    for (const OpRef& ref : instance.members) {
      const CommOp& op = graph_.instances().OpAt(ref);
      if (!op.done()) continue;
      const double elapsed = std::max(0.0, op.elapsed().Seconds());
      least = least ? std::min(*least, elapsed) : elapsed;
    }
    join.transfer = least.value_or(0);
    if (device && IsPointToPoint(join.kind) && InOtherBatches(instance)) {
      MeasureBatch(instance, join);
    }
  }

  // The messages of the kernel that an op ran in (batch_isend_irecv makes one of several).
  std::set<const Instance*> KernelOf(const OpRef& ref) const {
    const std::vector<const CommOp*>& ops = graph_.lines()[ref.line].ops;
    const CommOp& op = *ops[ref.op];
    const auto here = [&](std::size_t k) {
      const bool same = ops[k]->exec_start == op.exec_start && ops[k]->end == op.end;
      return k == ref.op || (op.done() && same);
    };
    std::size_t first = ref.op;
    while (first > 0 && here(first - 1)) --first;
    std::set<const Instance*> messages;
    for (std::size_t k = first; k < ops.size() && here(k); ++k) {
      messages.insert(graph_.instances().Of({ref.line, k}));
    }
    return messages;
  }

  // A kernel goes on until the last of its messages is through: where both ends carry out the same
  // ones they stay as long as these take, else one may wait for what is none of the other's.
  bool InOtherBatches(const Instance& instance) const {
    const std::set<const Instance*> messages = KernelOf(instance.members.front());
    return std::any_of(instance.members.begin(), instance.members.end(),
                       [&](const OpRef& ref) { return KernelOf(ref) != messages; });
  }

  // Such a message is through when the first of both kernels has ended, and could begin when both
  // had begun; that takes one clock. Of two nodes it is told of all members together, if at all.
  void MeasureBatch(const Instance& instance, Join& join) {
    std::set<std::string> nodes;
    std::optional<MonoNs> begin, end;
    for (const OpRef& ref : instance.members) {
      const CommOp& op = graph_.instances().OpAt(ref);
      nodes.insert(NodeOf(view_, graph_.lines()[ref.line].rank));
      if (!op.done()) continue;
      begin = begin ? std::max(*begin, op.arrival()) : op.arrival();
      end = end ? std::min(*end, op.end) : op.end;
    }
    if (nodes.size() != 1 || nodes.contains("") || !begin) {
      join.comparable = false;
      Exchange& exchange = exchanges_[{instance.group, instance.iteration}];
      exchange.messages.push_back(&instance);
      for (const OpRef& ref : instance.members) {
        const CommOp& op = graph_.instances().OpAt(ref);
        if (op.done()) exchange.kernels[ref.line][op.exec_start] = op.elapsed().Seconds();
      }
      return;
    }
    join.transfer = std::clamp((*end - *begin).Seconds(), 0.0, join.transfer);
  }

  // Such messages of a communicator in an iteration, and the kernels of each line by their begin.
  struct Exchange {
    std::vector<const Instance*> messages;
    std::map<std::size_t, std::map<MonoNs, double>> kernels;
  };

  // Where all members take as many turns, the last to come to one finds its neighbours there: the
  // shortest kernel of a turn tells what the exchange took, of the communicator and of no pair.
  void MeasureExchange(const Exchange& exchange) {
    const std::size_t turns = exchange.kernels.begin()->second.size();
    const Group* group = FindGroup(view_, exchange.messages.front()->group);
    if (group == nullptr || exchange.kernels.size() != group->members.size()) return;
    std::vector<double> least(turns, 1e9);
    for (const auto& [line, kernels] : exchange.kernels) {
      if (kernels.size() != turns) return;
      std::size_t turn = 0;
      for (const auto& [begin, elapsed] : kernels) {
        least[turn] = std::min(least[turn], elapsed);
        ++turn;
      }
    }
    for (const Instance* message : exchange.messages) {
      const OpRef& ref = message->members.front();
      const auto& kernels = exchange.kernels.at(ref.line);
      const auto at = kernels.find(graph_.instances().OpAt(ref).exec_start);
      Join& join = out_.joins[join_of_.at(message)];
      if (!join.complete || at == kernels.end()) continue;
      join.transfer = std::max(0.0, least[std::distance(kernels.begin(), at)]);
      join.comparable = join.of_group = true;
    }
  }

  // The receive of a message that a thread sends, and the send where it is known.
  struct Message {
    std::size_t join = kNoJoin;
    const CommOp* send = nullptr;
    const CommOp* receive = nullptr;
    RankId to;
  };

  std::vector<Message> MessagesOfThreads() const {
    std::vector<Message> messages;
    for (const auto& [instance, join] : join_of_) {
      Message message;
      message.join = join;
      for (const OpRef& ref : instance->members) {
        const CommOp& op = graph_.instances().OpAt(ref);
        if (op.device_known() || !op.done()) continue;
        if (op.kind == CollectiveKind::kSend) message.send = &op;
        if (op.kind != CollectiveKind::kRecv) continue;
        message.receive = &op;
        message.to = graph_.lines()[ref.line].rank;
      }
      if (message.receive != nullptr) messages.push_back(message);
    }
    return messages;
  }

  // When a message that a thread sends could begin is not known. What its receiver was in it is the
  // transfer where it came after its sender: the shortest of its pair and size. A receiver that is
  // first each time waits in all of them, and the shortest of any pair as far apart tells.
  void MeasureMessages() {
    std::map<std::tuple<RankId, RankId, std::uint64_t>, double> of_pair;
    std::map<std::pair<bool, std::uint64_t>, double> of_any;
    const auto least = [](auto& table, const auto& key, double seconds) {
      const auto [at, fresh] = table.try_emplace(key, seconds);
      at->second = std::min(at->second, seconds);
    };
    const auto apart = [&](const Message& message) {
      return NodeOf(view_, message.receive->peer) != NodeOf(view_, message.to);
    };
    const std::vector<Message> messages = MessagesOfThreads();
    for (const Message& each : messages) {
      const CommOp& receive = *each.receive;
      const double elapsed = std::max(0.0, receive.elapsed().Seconds());
      least(of_any, std::pair(apart(each), receive.bytes), elapsed);
      const bool second = each.send != nullptr && receive.elapsed() <= each.send->elapsed();
      if (second) least(of_pair, std::tuple(receive.peer, each.to, receive.bytes), elapsed);
    }
    for (const Message& each : messages) {
      const auto own = of_pair.find({each.receive->peer, each.to, each.receive->bytes});
      out_.joins[each.join].transfer =
          own != of_pair.end() ? own->second : of_any.at({apart(each), each.receive->bytes});
    }
  }

  static constexpr std::int64_t kNever = INT64_MAX;

  const JobView& view_;
  const ExecutionGraph& graph_;
  LaneGraph& out_;
  const RankTimeline* line_ = nullptr;
  std::size_t l_ = 0;
  Lane* lane_ = nullptr;
  MonoNs at_;
  std::size_t iteration_ = 0;
  std::vector<MonoNs> ends_;
  std::map<GroupId, std::size_t> last_of_;  // op of the line
  std::unordered_map<const Instance*, std::size_t> join_of_;
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> single_;
  std::set<std::pair<std::size_t, std::size_t>> arrived_;
  std::map<std::pair<GroupId, Iteration>, Exchange> exchanges_;
};

}  // namespace

std::vector<LaneGraph> BuildLanes(const JobView& view, const ExecutionGraph& graph) {
  std::vector<LaneGraph> out;
  if (graph.lines().empty()) return out;
  const std::map<RankId, SpanOf> spans = SpansOf(view);
  for (std::vector<Iteration>& stretch : StretchesOf(view, graph.lines(), spans)) {
    LaneGraph& lanes = out.emplace_back();
    lanes.iterations = std::move(stretch);
    LaneBuilder(view, graph, lanes).Build(spans);
  }
  return out;
}

}  // namespace fathom::diagnosis
