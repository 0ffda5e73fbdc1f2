// How long before its start on the device an op was issued by its host, as counts in buckets: a
// sketch that merges by addition, over ops, ranks and iterations.
//
// Made by the agent from ops whose device tells when it began them, carried in summaries, merged by
// the collector, compared with earlier runs by diagnosis/history. docs/rules/issue_latency.md.
//
// Model: two buckets a decade, bounds at 10 us, 31.6 us, 100 us … 100 ms; the first and the last
// are open. A host that runs ahead of its device issues ops long before their turn; one that waits
// for the device first issues them just before.
//
//   bucket   0      1       2       3      …     8        9
//            < 10us | <32us | <100us | …       | <100ms | longer
//
// Units: ns. std only. Thread-safety: values. Errors: none; a negative time counts as none. Cost: a
// few compares an op.
#ifndef FATHOM_PROTO_TYPES_ISSUE_LATENCY_H_
#define FATHOM_PROTO_TYPES_ISSUE_LATENCY_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace fathom {

inline constexpr std::size_t kIssueBuckets = 10;
inline constexpr std::array<std::int64_t, kIssueBuckets - 1> kIssueBoundsNs = {
    10'000, 31'623, 100'000, 316'228, 1'000'000, 3'162'278, 10'000'000, 31'622'777, 100'000'000};

struct IssueLatency {
  std::array<std::uint64_t, kIssueBuckets> counts{};  // ops

  void Add(std::int64_t ns) {
    std::size_t bucket = 0;
    while (bucket < kIssueBoundsNs.size() && ns >= kIssueBoundsNs[bucket]) ++bucket;
    ++counts[bucket];
  }
  IssueLatency& operator+=(const IssueLatency& other) {
    for (std::size_t i = 0; i < kIssueBuckets; ++i) counts[i] += other.counts[i];
    return *this;
  }
  std::uint64_t ops() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t count : counts) sum += count;
    return sum;
  }
  bool known() const { return ops() > 0; }
  friend bool operator==(const IssueLatency&, const IssueLatency&) = default;
};

}  // namespace fathom

#endif  // FATHOM_PROTO_TYPES_ISSUE_LATENCY_H_
