#include "diagnosis/graph/group_families.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "diagnosis/graph/group_shape.h"
#include "diagnosis/graph/message_groups.h"
#include "diagnosis/model/lookup.h"
#include "diagnosis/stats/interval_set.h"

namespace fathom::diagnosis {
namespace {

// How often each kind and size ran.
using Ops = std::map<std::pair<CollectiveKind, std::uint64_t>, std::size_t>;

struct InIteration {
  Ops ops;
  std::map<std::size_t, IntervalSet> transfers;  // by line, each on its own clock
  bool comparable = true;
};

using OfGroup = std::map<Iteration, InIteration>;
using TimesOfGroups = std::map<std::size_t, std::map<Iteration, double>>;  // by place in the view
using Shape = std::tuple<std::string, std::vector<std::uint32_t>, std::vector<std::size_t>>;

// Whether what is alike by its size takes as long. A size that is not known is the same for all
// groups where they do the same work: an all-reduce has one for all members, and only stages of a
// pipeline have layers of their own.
bool IsComparable(const Instances& instances, const Instance& instance, bool stages) {
  if (!instance.complete || instance.kind == CollectiveKind::kAllToAll) return false;
  const bool one_size =
      instance.kind == CollectiveKind::kBarrier || instance.kind == CollectiveKind::kAllReduce;
  if (instance.bytes == 0 && (stages || !one_size)) return false;
  return std::all_of(instance.members.begin(), instance.members.end(), [&](const OpRef& ref) {
    const CommOp& op = instances.OpAt(ref);
    return op.done() && op.bytes == instance.bytes;
  });
}

std::unordered_map<GroupId, OfGroup> OpsOf(const Instances& instances, bool stages) {
  std::unordered_map<GroupId, OfGroup> ops;
  for (const Instance& instance : instances.all()) {
    if (!IsSynchronising(instance.kind) || instance.iteration.value < 0) continue;
    InIteration& in = ops[instance.group][instance.iteration];
    ++in.ops[{instance.kind, instance.bytes}];
    in.comparable = in.comparable && IsComparable(instances, instance, stages);
    if (!in.comparable) continue;
    const Nanos transfer = Nanos::FromSeconds(instances.TransferSeconds(instance));
    for (const OpRef& ref : instance.members) {
      const std::int64_t end = instances.OpAt(ref).end.ns;
      in.transfers[ref.line].Add(end - transfer.count, end);
    }
  }
  return ops;
}

double SecondsOf(InIteration& in) {
  double least = std::numeric_limits<double>::infinity();
  for (auto& [line, transfers] : in.transfers) {
    transfers.Seal();
    least = std::min(least, Nanos(transfers.Covered()).Seconds());
  }
  return least;
}

double LowerMedian(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Those in which all of them ran these ops.
std::vector<Iteration> IterationsInCommon(const TimesOfGroups& times) {
  std::map<Iteration, std::size_t> have;
  for (const auto& [group, seconds] : times) {
    for (const auto& [iteration, s] : seconds) ++have[iteration];
  }
  std::vector<Iteration> common;
  for (const auto& [iteration, groups] : have) {
    if (groups == times.size()) common.push_back(iteration);
  }
  return common;
}

GroupFamily FamilyFrom(const JobView& view, const TimesOfGroups& times) {
  GroupFamily family;
  family.iterations = IterationsInCommon(times);
  for (const auto& [place, seconds] : times) {
    FamilyMember member{&view.groups[place], {}};
    for (const Iteration iteration : family.iterations) {
      member.seconds.push_back(seconds.at(iteration));
    }
    family.members.push_back(std::move(member));
  }
  for (std::size_t i = 0; i < family.iterations.size(); ++i) {
    std::vector<double> all;
    for (const FamilyMember& member : family.members) all.push_back(member.seconds[i]);
    family.usual.push_back(LowerMedian(std::move(all)));
  }
  return family;
}

}  // namespace

std::vector<GroupFamily> FamiliesOf(const JobView& view, const Instances& instances,
                                    std::size_t least) {
  auto ops = OpsOf(instances, CarriesMessages(view));
  std::map<std::pair<Shape, Ops>, TimesOfGroups> alike;
  for (std::size_t g = 0; g < view.groups.size(); ++g) {
    const Group& group = view.groups[g];
    const auto ran = ops.find(group.id);
    if (group.guessed || group.members.size() < 2 || ran == ops.end()) continue;
    const Shape shape{group.description, DistancesIn(group.members), SpreadOf(view, group.members)};
    for (auto& [iteration, in] : ran->second) {
      if (in.comparable) alike[{shape, in.ops}][g][iteration] = SecondsOf(in);
    }
  }
  std::vector<GroupFamily> families;
  for (auto& [key, times] : alike) {
    std::erase_if(times, [&](const auto& of_group) { return of_group.second.size() < least; });
    if (times.size() < 2) continue;
    GroupFamily family = FamilyFrom(view, times);
    family.nodes_known = !std::get<2>(key.first).empty();
    if (family.iterations.size() >= least) families.push_back(std::move(family));
  }
  return families;
}

}  // namespace fathom::diagnosis
