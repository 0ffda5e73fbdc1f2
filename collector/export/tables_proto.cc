#include "collector/export/tables_proto.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "fathom/v1/report.pb.h"
#include "proto/types/collective_kind.h"

namespace fathom::collector {
namespace {

using diagnosis::JobTables;
using diagnosis::RankTables;

void PutIdle(const RankTables& rank, v1::RankTable& out) {
  double host = 0, kernel = 0, other = 0;
  for (const auto& stream : rank.idle) {
    host += stream.host_wait;
    kernel += stream.kernel_wait;
    other += stream.other;
  }
  out.set_host_wait_s(host);
  out.set_kernel_wait_s(kernel);
  out.set_other_idle_s(other);
}

// Over the streams: means by their launches, the worst of the rest.
void PutLaunches(const RankTables& rank, v1::RankTable& out) {
  double call = 0, delay = 0, queue = 0, p99 = 0;
  std::uint64_t count = 0;
  std::int64_t longest = 0;
  for (const auto& stream : rank.launches) {
    const auto weight = static_cast<double>(stream.count);
    count += stream.count;
    call += stream.call_mean * weight;
    delay += stream.delay_mean * weight;
    queue += stream.queue_mean * weight;
    p99 = std::max(p99, stream.delay_p99);
    longest = std::max(longest, stream.queue_max);
  }
  if (count == 0) return;
  const auto all = static_cast<double>(count);
  out.set_launches(count);
  out.set_launch_call_s(call / all);
  out.set_launch_delay_s(delay / all);
  out.set_launch_delay_p99_s(p99);
  out.set_queue_mean(queue / all);
  out.set_queue_max(longest);
}

void PutRank(const RankTables& rank, v1::RankTable& out) {
  out.set_rank(rank.rank.value);
  out.set_on_device(rank.on_device);
  out.set_span_s(rank.breakdown.span);
  out.set_compute_s(rank.breakdown.compute);
  out.set_communication_s(rank.breakdown.communication);
  out.set_copies_s(rank.breakdown.copies);
  out.set_overlap_s(rank.breakdown.overlap);
  PutIdle(rank, out);
  PutLaunches(rank, out);
}

void PutRanks(const JobTables& tables, v1::Tables& out) {
  std::map<RankId, Nanos> late;
  for (const auto& total : tables.totals) late[total.rank] = total.late;
  std::vector<const RankTables*> told;
  for (const RankTables& rank : tables.ranks) told.push_back(&rank);
  if (told.size() > kRanksTold) {
    std::stable_sort(told.begin(), told.end(), [&late](const RankTables* a, const RankTables* b) {
      return late[a->rank] > late[b->rank];
    });
    out.set_ranks_left_out(static_cast<std::uint32_t>(told.size() - kRanksTold));
    told.resize(kRanksTold);
    std::sort(told.begin(), told.end(),
              [](const RankTables* a, const RankTables* b) { return a->rank < b->rank; });
  }
  for (const RankTables* rank : told) PutRank(*rank, *out.add_ranks());
}

struct Sum {
  std::uint64_t count = 0;
  double seconds = 0;
  double longest = 0;
};

template <typename Key>
std::vector<std::pair<Key, Sum>> LongestFirst(const std::map<Key, Sum>& sums) {
  std::vector<std::pair<Key, Sum>> sorted(sums.begin(), sums.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.second.seconds > b.second.seconds;
  });
  return sorted;
}

void PutWork(const JobTables& tables, v1::Tables& out) {
  std::map<std::string, Sum> kinds;
  std::map<std::pair<std::string, std::string>, Sum> work;
  for (const RankTables& rank : tables.ranks) {
    for (const auto& row : rank.kernels) {
      for (Sum* sum : {&kinds[row.kind], &work[{row.kind, row.name}]}) {
        sum->count += row.count;
        sum->seconds += row.sum;
        sum->longest = std::max(sum->longest, row.max);
      }
    }
  }
  for (const auto& [kind, sum] : LongestFirst(kinds)) {
    auto& to = *out.add_kinds();
    to.set_kind(kind);
    to.set_count(sum.count);
    to.set_sum_s(sum.seconds);
  }
  const auto sorted = LongestFirst(work);
  const std::size_t told = std::min(sorted.size(), kWorkTold);
  out.set_work_left_out(static_cast<std::uint32_t>(sorted.size() - told));
  for (std::size_t i = 0; i < told; ++i) {
    const auto& [key, sum] = sorted[i];
    auto& to = *out.add_work();
    to.set_kind(key.first);
    to.set_name(key.second);
    to.set_count(sum.count);
    to.set_sum_s(sum.seconds);
    to.set_mean_s(sum.count > 0 ? sum.seconds / static_cast<double>(sum.count) : 0);
    to.set_max_s(sum.longest);
  }
}

void PutCopies(const JobTables& tables, v1::Tables& out) {
  std::map<std::string, diagnosis::CopyRow> kinds;
  for (const RankTables& rank : tables.ranks) {
    for (const auto& row : rank.copies) {
      diagnosis::CopyRow& sum = kinds[row.kind];
      sum.count += row.count;
      sum.bytes += row.bytes;
      sum.seconds += row.seconds;
    }
  }
  for (const auto& [kind, sum] : kinds) {
    auto& to = *out.add_copies();
    to.set_kind(kind);
    to.set_count(sum.count);
    to.set_bytes(sum.bytes);
    to.set_time_s(sum.seconds);
    to.set_bandwidth_bytes_per_s(sum.bandwidth());
  }
}

// Segments of the same place in the program, over all iterations.
void PutPath(const JobTables& tables, v1::Tables& out) {
  using Key = std::tuple<RankId, bool, CollectiveKind, std::string, std::string>;
  std::map<Key, Sum> segments;
  double all = 0;
  for (const auto& row : tables.path) {
    all += row.seconds;
    const bool talks = row.communication;
    Sum& sum = segments[{row.rank, talks, talks ? row.kind : CollectiveKind::kUnknown,
                         talks ? row.group : "", row.longest}];
    ++sum.count;
    sum.seconds += row.seconds;
    sum.longest += row.longest_s;
  }
  out.set_path_s(all);
  const auto sorted = LongestFirst(segments);
  for (std::size_t i = 0; i < std::min(sorted.size(), kSegmentsTold); ++i) {
    const auto& [rank, talks, kind, group, longest] = sorted[i].first;
    const Sum& sum = sorted[i].second;
    if (sum.seconds <= 0) break;
    auto& to = *out.add_path();
    to.set_rank(rank.value);
    to.set_segment(talks ? "communication" : "local");
    if (talks) to.set_op(std::string(CollectiveKindName(kind)));
    to.set_group(group);
    to.set_longest(longest);
    to.set_longest_s(sum.longest);
    to.set_count(sum.count);
    to.set_sum_s(sum.seconds);
  }
}

}  // namespace

void ToProto(const JobTables& from, v1::Tables& out) {
  PutRanks(from, out);
  PutWork(from, out);
  PutCopies(from, out);
  PutPath(from, out);
}

}  // namespace fathom::collector
