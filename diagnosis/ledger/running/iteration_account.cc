#include "diagnosis/ledger/running/iteration_account.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "absl/types/span.h"
#include "diagnosis/model/lookup.h"
#include "diagnosis/model/rank_times.h"
#include "diagnosis/stats/robust.h"

namespace fathom::diagnosis {
namespace {

constexpr std::size_t kNotFound = ~std::size_t{0};
constexpr std::size_t kMostRoles = 4096;  // beyond the ranks: of jobs that never repeat themselves

std::uint64_t Mix(std::uint64_t hash, std::uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15 + (hash << 6) + (hash >> 2);
  return hash * 0xff51afd7ed558ccd;
}

// Reorders the values.
double QuantileOf(std::vector<double>& values, double q) {
  if (values.empty()) return 0;
  const auto at = static_cast<std::ptrdiff_t>(q * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

}  // namespace

// Whether the communicators are still those: a job that was started again has as many of other ids.
bool IterationAccountant::Knows(const std::vector<Group>& groups) const {
  return std::equal(groups.begin(), groups.end(), channels_.begin(), channels_.end(),
                    [](const Group& group, const Channel& channel) {
                      return group.id == channel.id && SizeOf(group) == channel.size;
                    });
}

void IterationAccountant::LearnChannels(const std::vector<Group>& groups) {
  if (Knows(groups)) return;
  channels_.clear();
  channel_by_id_.clear();
  channel_at_.clear();
  for (const Group& group : groups) {
    Channel channel;
    channel.id = group.id;
    channel.size = SizeOf(group);
    channel.kind = Mix(channel.size, std::hash<std::string>{}(group.description));
    channel_by_id_[group.id] = channels_.size();
    channels_.push_back(channel);
  }
}

// A rank names its communicators in the same order again and again.
std::size_t IterationAccountant::ChannelOf(GroupId id, std::size_t place) {
  if (place >= channel_at_.size()) channel_at_.resize(place + 1, kNotFound);
  std::size_t& known = channel_at_[place];
  if (known != kNotFound && channels_[known].id == id) return known;
  const auto at = channel_by_id_.find(id);
  return known = at == channel_by_id_.end() ? kNotFound : at->second;
}

void IterationAccountant::ReadRank(const RankIteration& rank, std::size_t& place) {
  Row& row = rows_.emplace_back();
  row.own = std::max(0.0, (rank.duration - rank.blocked).Seconds());
  row.blocked = rank.blocked.Seconds();
  row.cores = std::min(row.own, CoreWaitOf(rank).Seconds());
  row.compute = BusyOf(rank).Seconds();
  row.gc = rank.gc.Seconds();
  row.dataloader = LoadingOf(rank).Seconds();
  row.elements = static_cast<double>(rank.batch_elements);
  const double marked = row.dataloader + (rank.device.count > 0 ? row.gc : 0);
  row.host = std::max(0.0, row.own - row.cores - row.compute - marked) + row.gc + row.dataloader;
  on_device_ = on_device_ || rank.device.count > 0;
  std::uint64_t signature = 0;
  begins_at_.push_back(place);
  for (const GroupIteration& group : rank.groups) {
    const std::size_t c = ChannelOf(group.group, place++);
    signature += Mix(group.count, c == kNotFound ? 0 : channels_[c].kind);
    if (c == kNotFound) continue;
    Channel& channel = channels_[c];
    const double elapsed = group.elapsed.Seconds();
    const bool first = channel.members++ == 0;
    channel.even = channel.even && (first || channel.count == group.count);
    channel.count = group.count;
    channel.transfer = first ? elapsed : std::min(channel.transfer, elapsed);
  }
  row.role = role_by_signature_.try_emplace(signature, role_by_signature_.size()).first->second;
}

void IterationAccountant::Read(const IterationSummary& iteration) {
  if (role_by_signature_.size() > kMostRoles + iteration.ranks.size()) role_by_signature_.clear();
  rows_.clear();
  begins_at_.clear();
  on_device_ = false;
  for (Channel& channel : channels_) {
    channel.members = 0;
    channel.even = true;
    channel.excess = 0;
  }
  std::size_t place = 0;
  for (const RankIteration& rank : iteration.ranks) ReadRank(rank, place);
}

void IterationAccountant::JudgeChannels(double iteration_s) {
  std::vector<std::pair<std::uint64_t, std::size_t>> families;
  for (std::size_t c = 0; c < channels_.size(); ++c) {
    const Channel& channel = channels_[c];
    const bool whole = channel.size > 1 && channel.members == channel.size && channel.even;
    if (whole) families.emplace_back(Mix(channel.kind, channel.count), c);
  }
  std::sort(families.begin(), families.end());
  for (auto first = families.begin(); first != families.end();) {
    auto last = first;
    scratch_.clear();
    for (; last != families.end() && last->first == first->first; ++last) {
      scratch_.push_back(channels_[last->second].transfer);
    }
    const absl::Span<const std::pair<std::uint64_t, std::size_t>> family(
        &*first, static_cast<std::size_t>(last - first));
    first = last;
    if (family.size() < kFewestForMedian) continue;
    const double usual = QuantileOf(scratch_, limits_.channels.reference_quantile);
    const double least =
        std::max(limits_.channel_ratio * usual, usual + limits_.least_cost * iteration_s);
    const auto slow = std::count_if(family.begin(), family.end(), [&](const auto& each) {
      return channels_[each.second].transfer > least;
    });
    const double most = limits_.ranks.at_once * static_cast<double>(family.size());
    // Of a family of three one may be slow.
    if (static_cast<double>(slow) > std::max(1.0, most)) continue;
    for (const auto& [key, c] : family) {
      if (channels_[c].transfer > least) channels_[c].excess = channels_[c].transfer - usual;
    }
  }
}

void IterationAccountant::AddChannels(const IterationSummary& iteration) {
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    std::size_t place = begins_at_[r];
    double excess = 0, usual = 0;
    const RankIteration& rank = iteration.ranks[r];
    for (const GroupIteration& group : rank.groups) {
      const std::size_t c = channel_at_[place++];
      if (c == kNotFound || channels_[c].excess == 0) continue;
      excess += channels_[c].excess;
      const double op = (channels_[c].transfer - channels_[c].excess) / group.count;
      usual = std::max(usual, op);
    }
    // Of ops beside computing the last one is waited for as it is.
    const double exposed = rows_[r].blocked - (rank.settled ? usual : 0);
    rows_[r].channels = std::min(excess, std::max(0.0, exposed));
  }
}

void IterationAccountant::SortByRole() {
  roles_.assign(role_by_signature_.size(), {});
  for (const Row& row : rows_) ++roles_[row.role].end;
  std::size_t begin = 0;
  for (Role& role : roles_) {
    role.begin = std::exchange(begin, begin + role.end);
    role.end = role.begin;
  }
  by_role_.resize(rows_.size());
  for (std::size_t r = 0; r < rows_.size(); ++r) by_role_[roles_[rows_[r].role].end++] = r;
}

template <typename Part>
double IterationAccountant::MedianOf(const Role& role, const Part& part) {
  scratch_.clear();
  for (std::size_t i = role.begin; i < role.end; ++i) scratch_.push_back(part(rows_[by_role_[i]]));
  return QuantileOf(scratch_, 0.5);
}

// Members of one or two: what their hosts spend beyond the hosts of all ranks is their fault; where
// two differ besides, nobody is accused of it.
void IterationAccountant::ReferFew(const Role& role) {
  double lowest = rows_[by_role_[role.begin]].own;
  for (std::size_t i = role.begin; i < role.end; ++i) {
    Row& row = rows_[by_role_[i]];
    row.excess = row.compute > 0 ? std::max(0.0, row.host - usual_host_) : 0;
    lowest = std::min(lowest, row.own - row.excess);
  }
  for (std::size_t i = role.begin; i < role.end; ++i) rows_[by_role_[i]].reference = lowest;
}

void IterationAccountant::Refer() {
  SortByRole();
  all_ = {.begin = 0, .end = rows_.size()};
  usual_host_ = MedianOf(all_, [](const Row& row) { return row.host; });
  for (Role& role : roles_) {
    if (role.begin == role.end) continue;
    if (role.end - role.begin < kFewestForMedian) {
      ReferFew(role);
      continue;
    }
    role.own = MedianOf(role, [](const Row& row) { return row.own; });
    const double doing = MedianOf(role, [](const Row& row) { return row.own - row.cores; });
    const double cores = MedianOf(role, [](const Row& row) { return row.cores; });
    for (std::size_t i = role.begin; i < role.end; ++i) {
      Row& row = rows_[by_role_[i]];
      row.reference = role.own;
      row.excess = std::max(0.0, row.own - row.cores - doing);
      row.waits = std::max(0.0, row.cores - cores);
    }
  }
}

Cause IterationAccountant::CauseOf(const Row& row) {
  const bool few = roles_[row.role].end - roles_[row.role].begin < kFewestForMedian;
  // What hosts spend is compared over all where the role has too few.
  Role& role = few ? all_ : roles_[row.role];
  if (!std::exchange(role.parts_known, true)) {
    role.compute = MedianOf(role, [](const Row& each) { return each.compute; });
    role.gc = MedianOf(role, [](const Row& each) { return each.gc; });
    role.dataloader = MedianOf(role, [](const Row& each) { return each.dataloader; });
    role.elements = MedianOf(role, [](const Row& each) { return each.elements; });
  }
  const double least = limits_.mostly * row.excess;
  const bool computes = !few && row.compute - role.compute >= least;
  const double longer = row.reference > 0 ? row.excess / row.reference : 0;
  const double ratio = role.elements > 0 ? row.elements / role.elements : 1;
  const bool has_more = ratio > 1 && limits_.WorkExplains(ratio, longer);
  const Cause by_computing = has_more ? Cause::kImbalance : Cause::kComputeSlow;
  // The time of a host that computes holds its collections and batches; a device's does not.
  if (on_device_ && computes) return by_computing;
  if (row.gc - role.gc >= least) return Cause::kGc;
  if (row.dataloader - role.dataloader >= least) return Cause::kDataLoader;
  if (computes) return by_computing;
  return row.compute > 0 ? Cause::kHostSlow : Cause::kUnknown;
}

void IterationAccountant::ChargeFor(const RankIteration& rank, std::size_t r, double seconds,
                                    IterationAccount& out) {
  const Row& row = rows_[r];
  const double floor = limits_.least_cost * out.used_s;
  const double own = row.excess >= floor || row.channels == 0 ? row.excess : 0;
  const double all = own + row.waits + row.channels;
  if (own > 0) out.charges.push_back({rank.rank, {}, CauseOf(row), seconds * own / all});
  if (row.channels == 0) return;
  double sum = 0;
  for (std::size_t g = 0; g < rank.groups.size(); ++g) {
    const std::size_t c = channel_at_[begins_at_[r] + g];
    if (c != kNotFound) sum += channels_[c].excess;
  }
  for (std::size_t g = 0; g < rank.groups.size(); ++g) {
    const std::size_t c = channel_at_[begins_at_[r] + g];
    if (c == kNotFound || channels_[c].excess == 0) continue;
    out.charges.push_back({rank.rank, channels_[c].id, Cause::kCommunicationSlow,
                           seconds * row.channels / all * channels_[c].excess / sum});
  }
}

void IterationAccountant::Share(const IterationSummary& iteration, IterationAccount& out) {
  double reference = 0;
  for (const Row& row : rows_) reference = std::max(reference, row.reference);
  const double floor = limits_.least_cost * out.used_s;
  std::vector<std::pair<double, std::size_t>> accused;  // beyond the reference
  double others = 0;
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    const Row& row = rows_[r];
    const double beyond =
        std::clamp(row.own + row.channels - reference, 0.0, std::max(0.0, out.used_s));
    out.lost_s = std::max(out.lost_s, beyond);
    if (row.excess >= floor || row.channels > 0) {
      accused.emplace_back(beyond, r);
    } else {
      others = std::max(others, beyond);
    }
  }
  out.unexplained_s = out.lost_s;
  std::sort(accused.rbegin(), accused.rend());
  std::vector<double> shares(accused.size());
  double share = 0;  // of the last one, and of all before it
  for (std::size_t i = accused.size(); i-- > 0;) {
    const double below = i + 1 < accused.size() ? std::max(others, accused[i + 1].first) : others;
    share += std::max(0.0, accused[i].first - below) / static_cast<double>(i + 1);
    shares[i] = share;
  }
  for (std::size_t i = 0; i < accused.size() && shares[i] > 0; ++i) {
    ChargeFor(iteration.ranks[accused[i].second], accused[i].second, shares[i], out);
  }
  double charged = 0;
  for (const Charge& charge : out.charges) charged += charge.seconds;
  out.unexplained_s = std::max(0.0, out.lost_s - charged);
}

IterationAccount IterationAccountant::Account(const IterationSummary& iteration,
                                              const std::vector<Group>& groups, double expected_s) {
  IterationAccount out;
  out.index = iteration.index;
  out.begin = iteration.begin;
  out.ranks = iteration.ranks.size();
  LearnChannels(groups);
  Read(iteration);
  scratch_.clear();
  for (const RankIteration& rank : iteration.ranks) scratch_.push_back(rank.duration.Seconds());
  out.used_s = QuantileOf(scratch_, 0.5);
  if (out.ranks < 2) return out;
  JudgeChannels(out.used_s);
  AddChannels(iteration);
  Refer();
  Share(iteration, out);
  const double slower = expected_s > 0 ? out.used_s - expected_s - out.lost_s : 0;
  if (slower > 0) {
    out.lost_s += slower;
    out.unexplained_s += slower;
  }
  return out;
}

}  // namespace fathom::diagnosis
