#include "diagnosis/graph/execution_graph.h"

#include <algorithm>

#include "diagnosis/model/lookup.h"
#include "diagnosis/stats/robust.h"

namespace fathom::diagnosis {
namespace {

// Of one rank. Rows are of few ranks of a large job: the others are passed over.
std::map<Iteration, MonoNs> IterationBegins(const JobView& view, RankId rank) {
  std::map<Iteration, MonoNs> begins;
  for (const IterationSummary& it : view.window) {
    const RankIteration* mine = RankIn(it, rank);
    if (mine != nullptr && mine->begin.known()) begins[it.index] = mine->begin;
  }
  return begins;
}

bool OnDevice(const JobView& view) {
  for (const auto& [rank, rows] : view.rows) {
    for (const CommOp& op : rows.ops) {
      if (op.on_device) return true;
    }
  }
  return false;
}

// Gives `part` at most what is left, and takes it away.
double Take(double& left, double part) {
  const double given = std::clamp(part, 0.0, std::max(0.0, left));
  left -= given;
  return given;
}

}  // namespace

Excess& Excess::operator+=(const Excess& other) {
  total += other.total;
  compute += other.compute;
  gc += other.gc;
  dataloader += other.dataloader;
  runqueue += other.runqueue;
  host += other.host;
  unsplit += other.unsplit;
  crowding += other.crowding;
  return *this;
}

Excess Excess::Scaled(double factor) const {
  return {total * factor,    compute * factor, gc * factor,      dataloader * factor,
          runqueue * factor, host * factor,    unsplit * factor, crowding * factor};
}

ExecutionGraph::ExecutionGraph(const JobView& view, const std::set<Iteration>& irregular,
                               Iteration onset, const DiagnosisConfig& config)
    : samples_(kFewestForMedian),
      wait_floor_((OnDevice(view) ? config.device_wait_floor : config.wait_floor).Seconds()) {
  for (const auto& [rank, rows] : view.rows) {
    if (rows.ops.empty()) continue;
    lines_.push_back(BuildTimeline(rank, rows, IterationBegins(view, rank), wait_floor_));
  }
  LeaveOutNewcomers(onset);
  instances_.emplace(lines_, view.groups);
  PickIterations(irregular, onset, static_cast<std::size_t>(config.min_irregular));
  LearnGaps();
  LearnTransfers();
}

// Rows that begin after the onset have nothing to be compared with, and no iteration before it
// would be one of all. Where that is true of most nobody can be judged anyway.
void ExecutionGraph::LeaveOutNewcomers(Iteration onset) {
  const auto is_new = [&](const RankTimeline& line) {
    return line.iterations.empty() || line.iterations.begin()->first >= onset;
  };
  const auto newcomers =
      static_cast<std::size_t>(std::count_if(lines_.begin(), lines_.end(), is_new));
  if (onset.value < 0 || 2 * newcomers > lines_.size()) return;
  std::erase_if(lines_, is_new);
}

// An iteration counts when every rank that sent rows sent some for it. If those are too few, it is
// enough that every rank did whose rows have not ended before, and half of all.
void ExecutionGraph::PickIterations(const std::set<Iteration>& irregular, Iteration onset,
                                    std::size_t enough) {
  std::map<Iteration, std::size_t> lines, ended;
  for (const RankTimeline& line : lines_) {
    for (const auto& [iteration, range] : line.iterations) ++lines[iteration];
    if (!line.iterations.empty()) ++ended[line.iterations.rbegin()->first];
  }
  std::vector<Iteration> of_some;
  std::size_t gone = 0;
  for (const auto& [iteration, count] : lines) {
    const bool of_all = count == lines_.size();
    const bool of_rest = count + gone == lines_.size() && 2 * count >= lines_.size();
    if (const auto last = ended.find(iteration); last != ended.end()) gone += last->second;
    if (irregular.contains(iteration)) {
      if (of_all && iteration >= onset) irregular_.push_back(iteration);
      if (of_rest && iteration >= onset) of_some.push_back(iteration);
    } else if (of_all && (iteration < onset || onset.value < 0)) {
      baseline_.push_back(iteration);
    }
  }
  if (irregular_.size() < enough) irregular_ = std::move(of_some);
}

std::optional<ExecutionGraph::Usual> ExecutionGraph::UsualFrom(const Samples& s) const {
  if (s.own.size() < samples_) return std::nullopt;
  return Usual{Median(s.own), Median(s.cpu),        Median(s.runqueue),
               Median(s.gc),  Median(s.dataloader), s.cpu.size() >= samples_};
}

void ExecutionGraph::LearnGaps() {
  std::map<GapKey, Samples> of_one;
  std::map<std::uint64_t, Samples> of_all;
  for (std::size_t l = 0; l < lines_.size(); ++l) {
    for (Iteration iteration : baseline_) {
      const auto [first, last] = lines_[l].iterations.at(iteration);
      for (std::size_t k = first; k < last; ++k) {
        const Gap& gap = lines_[l].gaps[k];
        for (Samples* s : {&of_one[{l, gap.key}], &of_all[gap.key]}) {
          s->own.push_back(gap.own());
          if (gap.cpu_known) s->cpu.push_back(gap.cpu);
          if (gap.runqueue_known) s->runqueue.push_back(gap.runqueue);
          s->gc.push_back(gap.gc);
          s->dataloader.push_back(gap.dataloader);
        }
      }
    }
  }
  for (const auto& [key, samples] : of_one) {
    if (const auto usual = UsualFrom(samples)) usual_[key] = *usual;
  }
  for (const auto& [key, samples] : of_all) {
    if (const auto usual = UsualFrom(samples)) usual_of_all_[key] = *usual;
  }
}

void ExecutionGraph::LearnTransfers() {
  std::map<TransferKey, std::vector<double>> samples;
  const std::set<Iteration> wanted(baseline_.begin(), baseline_.end());
  for (const Instance& instance : instances_->all()) {
    if (!instance.complete || !wanted.contains(instance.iteration)) continue;
    samples[{instance.group, instance.kind, instance.bytes}].push_back(
        instances_->TransferSeconds(instance));
  }
  for (auto& [key, values] : samples) {
    if (values.size() >= samples_) transfer_[key] = Median(std::move(values));
  }
}

const ExecutionGraph::Usual* ExecutionGraph::UsualOf(const OpRef& ref) const {
  const std::uint64_t key = lines_[ref.line].gaps[ref.op].key;
  const auto mine = usual_.find({ref.line, key});
  if (mine != usual_.end()) return &mine->second;
  const auto any = usual_of_all_.find(key);
  return any == usual_of_all_.end() ? nullptr : &any->second;
}

std::optional<Excess> ExecutionGraph::GapExcess(const OpRef& ref) const {
  const Usual* usual = UsualOf(ref);
  if (usual == nullptr) return std::nullopt;
  const Gap& gap = lines_[ref.line].gaps[ref.op];
  Excess excess;
  excess.total = gap.own() - usual->own;
  double left = excess.total;
  // What a device computed is known exactly; marks are of the host, which runs ahead of it.
  if (gap.on_device && gap.cpu_known && usual->cpu_known) {
    excess.compute = Take(left, gap.cpu - usual->cpu);
  }
  excess.gc = Take(left, gap.gc - usual->gc);
  excess.dataloader = Take(left, gap.dataloader - usual->dataloader);
  if (!gap.cpu_known || !usual->cpu_known) {
    excess.unsplit = Take(left, left);
    return excess;
  }
  if (!gap.on_device) excess.compute = Take(left, gap.cpu - usual->cpu - excess.gc);
  excess.runqueue = Take(left, gap.runqueue - usual->runqueue);
  excess.host = Take(left, left);
  return excess;
}

std::optional<double> ExecutionGraph::TransferExcess(const Instance& instance) const {
  const auto it = transfer_.find({instance.group, instance.kind, instance.bytes});
  if (it == transfer_.end()) return std::nullopt;
  return instances_->TransferSeconds(instance) - it->second;
}

}  // namespace fathom::diagnosis
