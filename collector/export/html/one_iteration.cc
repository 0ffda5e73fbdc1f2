#include "collector/export/html/one_iteration.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "proto/types/collective_kind.h"

namespace fathom::collector {
namespace {

using diagnosis::CommOp;
using diagnosis::JobView;

constexpr std::int64_t kBeforeOnset = 3;  // iterations: well before, yet alike
constexpr std::int64_t kAfterOnset = 8;   // the slowest of these is shown
constexpr std::size_t kVictimsDrawn = 4;  // of each verdict
constexpr double kWholeIteration = 0.8;   // a function as long as this says nothing about where

struct Stretch {
  std::string_view name;
  std::int64_t begin = 0, end = 0;
};

struct Line {
  RankId rank;
  std::int64_t begin = 0, end = 0;  // ns, of the iteration on the rank's clock
  std::vector<const CommOp*> ops;
  std::vector<Stretch> stretches;
  std::int64_t shift = 0;  // ns, onto the first line's clock
  bool cut = false;
};

bool HasRows(const JobView& view, Iteration iteration) {
  return std::any_of(view.rows.begin(), view.rows.end(), [iteration](const auto& entry) {
    const auto& ops = entry.second.ops;
    return std::any_of(ops.begin(), ops.end(),
                       [iteration](const CommOp& op) { return op.iteration == iteration; });
  });
}

// Of the iterations from the onset on, the one in which the fault shows most.
Iteration SlowestAfter(const JobView& view, Iteration onset) {
  Iteration slowest = onset;
  Nanos longest;
  for (const auto& summary : view.window) {
    if (summary.index < onset || summary.index.value > onset.value + kAfterOnset) continue;
    for (const auto& row : summary.ranks) {
      if (row.duration > longest) slowest = summary.index, longest = row.duration;
    }
  }
  return slowest;
}

// The newest iteration of the window that is not after `wanted`, else its first.
Iteration KeptAt(const JobView& view, std::int64_t wanted) {
  Iteration kept = view.window.front().index;
  for (const auto& summary : view.window) {
    if (summary.index.value <= wanted) kept = summary.index;
  }
  return kept;
}

Line LineOf(const JobView& view, RankId rank, const diagnosis::IterationSummary& summary) {
  Line line;
  line.rank = rank;
  const auto row = std::find_if(summary.ranks.begin(), summary.ranks.end(),
                                [rank](const auto& r) { return r.rank == rank; });
  const diagnosis::RankRows& rows = view.rows.at(rank);
  for (const CommOp& op : rows.ops) {
    if (op.iteration != summary.index || !op.arrival().known()) continue;
    line.cut = line.ops.size() == kMostOpsDrawn;
    if (line.cut) break;
    line.ops.push_back(&op);
  }
  if (row != summary.ranks.end() && row->begin.known()) {
    line.begin = row->begin.ns;
    line.end = row->begin.ns + row->duration.count;
  } else if (!line.ops.empty()) {
    line.begin = line.ops.front()->arrival().ns;
    for (const CommOp* op : line.ops) line.end = std::max({line.end, op->arrival().ns, op->end.ns});
  }
  for (const diagnosis::Mark& mark : rows.marks) {
    const bool gc = mark.kind == diagnosis::MarkKind::kGc;
    const std::int64_t end = mark.end.known() ? mark.end.ns : line.end;
    line.stretches.push_back({gc ? "garbage collection" : "data loading", mark.begin.ns, end});
  }
  const auto whole = static_cast<double>(line.end - line.begin) * kWholeIteration;
  for (const diagnosis::FunctionCall& call : rows.functions) {
    if (static_cast<double>((call.end - call.begin).count) > whole) continue;
    line.stretches.push_back({call.name, call.begin.ns, call.end.ns});
  }
  std::erase_if(line.stretches,
                [&](const Stretch& s) { return s.end <= line.begin || s.begin >= line.end; });
  return line;
}

using Instance = std::pair<GroupId, Sequence>;

// The shortest elapsed time over all members of each synchronising collective, also of ranks that
// are not drawn.
std::map<Instance, std::int64_t> Transfers(const JobView& view, Iteration iteration) {
  std::map<Instance, std::int64_t> shortest;
  for (const auto& [rank, rows] : view.rows) {
    for (const CommOp& op : rows.ops) {
      if (op.iteration != iteration || op.sequence == kNoSequence || !op.done()) continue;
      if (!IsSynchronising(op.kind)) continue;
      const auto [at, added] =
          shortest.try_emplace({op.group, op.sequence}, std::numeric_limits<std::int64_t>::max());
      at->second = std::min(at->second, op.elapsed().count);
    }
  }
  return shortest;
}

std::string NodeOf(const JobView& view, RankId rank) {
  for (const auto& facts : view.ranks) {
    if (facts.rank == rank) return facts.node;
  }
  return {};
}

// True if any line had to be moved.
bool AlignClocks(const JobView& view, std::vector<Line>& lines) {
  bool moved = false;
  const std::string reference = NodeOf(view, lines.front().rank);
  std::map<Instance, std::int64_t> ends;
  for (const CommOp* op : lines.front().ops) {
    if (op->done() && IsSynchronising(op->kind)) ends[{op->group, op->sequence}] = op->end.ns;
  }
  for (Line& line : lines) {
    if (NodeOf(view, line.rank) == reference) continue;
    std::vector<std::int64_t> differences;
    for (const CommOp* op : line.ops) {
      const auto at = ends.find({op->group, op->sequence});
      if (op->done() && at != ends.end()) differences.push_back(at->second - op->end.ns);
    }
    if (differences.empty()) continue;
    const auto middle = differences.begin() + static_cast<std::ptrdiff_t>(differences.size() / 2);
    std::nth_element(differences.begin(), middle, differences.end());
    line.shift = *middle;
    moved = true;
  }
  return moved;
}

// Numbers for names, so that a page with 20,000 ops holds each name once.
class Names {
 public:
  std::size_t Of(const std::string& name) {
    const auto [at, added] = numbers_.try_emplace(name, list_.size());
    if (added) list_.push_back(name);
    return at->second;
  }
  void Write(std::string_view key, JsonWriter& json) const {
    json.Key(key).BeginArray();
    for (const std::string& name : list_) json.Value(name);
    json.EndArray();
  }

 private:
  std::map<std::string, std::size_t> numbers_;
  std::vector<std::string> list_;
};

class PictureWriter {
 public:
  PictureWriter(const JobView& view, JsonWriter& json) : view_(view), json_(json) {
    for (const auto& group : view.groups) {
      groups_[group.id] = group.description.empty() ? group.name : group.description;
    }
  }

  void Write(const Picture& picture, const std::set<RankId>& ranks) {
    const auto summary =
        std::find_if(view_.window.begin(), view_.window.end(),
                     [&](const auto& each) { return each.index == picture.iteration; });
    if (summary == view_.window.end()) return;
    std::vector<Line> lines;
    for (const RankId rank : ranks) {
      if (view_.rows.contains(rank)) lines.push_back(LineOf(view_, rank, *summary));
    }
    std::erase_if(lines, [](const Line& line) { return line.begin == 0; });
    if (lines.empty()) return;
    const bool aligned = AlignClocks(view_, lines);
    transfers_ = Transfers(view_, picture.iteration);
    origin_ = std::numeric_limits<std::int64_t>::max();
    std::int64_t end = 0;
    for (const Line& line : lines) {
      origin_ = std::min(origin_, line.begin + line.shift);
      end = std::max(end, line.end + line.shift);
    }
    json_.BeginObject().Field("index", picture.iteration.value).Field("why", picture.why);
    json_.Field("duration_us", (end - origin_) / 1000).Field("aligned", aligned);
    json_.Field("whole", Whole(lines));
    json_.Key("ranks").BeginArray();
    for (const Line& line : lines) WriteLine(line);
    json_.EndArray().EndObject();
  }

  void WriteNames() const {
    kinds_.Write("kinds", json_);
    names_.Write("groups", json_);
  }

 private:
  bool Whole(const std::vector<Line>& lines) const {
    std::set<GroupId> used;
    for (const Line& line : lines) {
      for (const CommOp* op : line.ops) used.insert(op->group);
    }
    for (const auto& group : view_.groups) {
      if (used.erase(group.id) == 0) continue;
      const auto there = [&](RankId rank) { return view_.rows.contains(rank); };
      if (group.members.empty() || !std::ranges::all_of(group.members, there)) return false;
    }
    return used.empty();
  }

  std::int64_t Us(std::int64_t ns, const Line& line) const {
    return (ns + line.shift - origin_) / 1000;
  }

  void WriteLine(const Line& line) {
    json_.BeginObject().Field("rank", line.rank.value).Field("cut", line.cut);
    json_.Key("ops").BeginArray();
    for (const CommOp* op : line.ops) WriteOp(*op, line);
    json_.EndArray().Key("stretches").BeginArray();
    for (const Stretch& s : line.stretches) {
      json_.BeginObject().Field("name", s.name);
      json_.Field("begin_us", Us(std::max(s.begin, line.begin), line));
      json_.Field("end_us", Us(std::min(s.end, line.end), line)).EndObject();
    }
    json_.EndArray().EndObject();
  }

  void WriteOp(const CommOp& op, const Line& line) {
    const std::int64_t end = op.done() ? op.end.ns : std::max(line.end, op.arrival().ns);
    const auto transfer = transfers_.find({op.group, op.sequence});
    std::int64_t waited = 0;
    if (op.done() && transfer != transfers_.end()) waited = op.elapsed().count - transfer->second;
    json_.BeginArray();
    json_.Value(kinds_.Of(std::string(CollectiveKindName(op.kind))));
    json_.Value(names_.Of(groups_[op.group]));
    json_.Value(Us(op.arrival().ns, line)).Value(Us(end, line));
    json_.Value(std::max<std::int64_t>(0, waited) / 1000).Value(op.bytes);
    json_.Value(op.done() ? 0 : 1).EndArray();
  }

  const JobView& view_;
  JsonWriter& json_;
  std::map<GroupId, std::string> groups_;
  std::map<Instance, std::int64_t> transfers_;
  std::int64_t origin_ = 0;
  Names kinds_, names_;
};

}  // namespace

std::vector<Picture> WorthAPicture(const JobView& view, const std::vector<Episode>& verdicts) {
  if (view.window.empty()) return {};
  std::vector<Picture> wanted;
  const Iteration first = view.window.front().index, last = view.window.back().index;
  const Iteration onset = verdicts.empty() ? Iteration(-1) : verdicts[0].verdict.since_iteration;
  if (onset >= first && onset <= last) {
    wanted.push_back({SlowestAfter(view, onset), "slow"});
    wanted.push_back({KeptAt(view, onset.value - kBeforeOnset), "before"});
  } else {
    wanted.push_back({view.window[view.window.size() / 2].index, "middle"});
  }
  wanted.push_back({last, "newest"});
  std::vector<Picture> chosen;
  for (const Picture& picture : wanted) {
    const bool known = std::any_of(chosen.begin(), chosen.end(), [&](const Picture& other) {
      return other.iteration == picture.iteration;
    });
    if (!known) chosen.push_back(picture);
  }
  return chosen;
}

std::set<RankId> RanksToDraw(const std::vector<RankId>& available,
                             const std::vector<Episode>& verdicts,
                             const std::vector<RankId>& first) {
  std::set<RankId> chosen;
  // At most `most` of those that are there.
  const auto take = [&](const std::vector<RankId>& ranks, std::size_t most) {
    for (const RankId rank : ranks) {
      if (most == 0 || chosen.size() == kMostRanksDrawn) return;
      if (!std::ranges::binary_search(available, rank)) continue;
      chosen.insert(rank);
      --most;
    }
  };
  take(first, kMostRanksDrawn);
  for (const Episode& episode : verdicts) take(episode.verdict.entity.ranks, kMostRanksDrawn / 2);
  for (const Episode& episode : verdicts) take(episode.verdict.victims, kVictimsDrawn);
  const std::size_t stride = std::max<std::size_t>(1, available.size() / kMostRanksDrawn);
  for (std::size_t at = 0; at < available.size(); at += stride) take({available[at]}, 1);
  return chosen;
}

void WritePictures(const JobView& view, const std::vector<Picture>& pictures,
                   const std::set<RankId>& ranks, JsonWriter& json) {
  PictureWriter writer(view, json);
  json.BeginObject().Key("iterations").BeginArray();
  for (const Picture& picture : pictures) {
    if (HasRows(view, picture.iteration)) writer.Write(picture, ranks);
  }
  json.EndArray();
  writer.WriteNames();
  json.EndObject();
}

void WritePictures(const JobView& view, const std::vector<Episode>& verdicts, JsonWriter& json) {
  std::vector<RankId> available;
  for (const auto& [rank, rows] : view.rows) available.push_back(rank);
  WritePictures(view, WorthAPicture(view, verdicts), RanksToDraw(available, verdicts, {}), json);
}

}  // namespace fathom::collector
