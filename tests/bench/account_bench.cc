// How long the account of one iteration takes from the summaries of all ranks, by size of the job.
//
// Usage: account_bench [--quick]    prints a row a size: milliseconds on one core (best and median
// of the runs), and bytes a rank that the accountant keeps of the job.
//
// The job has tensor, pipeline and data parallelism (8 × 8 × the rest) and a communicator of all;
// one rank of a thousand is slow, all are noisy.
#include <malloc.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <random>
#include <string>
#include <vector>

#include "diagnosis/ledger/running/iteration_account.h"

namespace {

using namespace fathom;             // NOLINT: one file
using namespace fathom::diagnosis;  // NOLINT

constexpr std::uint32_t kTensor = 8, kPipeline = 8;

struct Job {
  std::vector<Group> groups;
  IterationSummary iteration;
};

void AddGroup(Job& job, const std::string& description, const std::vector<std::uint32_t>& ranks,
              std::uint32_t count, double seconds) {
  Group group;
  group.id = GroupId(job.groups.size() + 1);
  group.description = description;
  group.size = static_cast<std::uint32_t>(ranks.size());
  for (const std::uint32_t rank : ranks) {
    group.members.emplace_back(rank);
    GroupIteration use;
    use.group = group.id;
    use.count = count;
    use.elapsed = Nanos::FromSeconds(seconds);
    job.iteration.ranks[rank].groups.push_back(use);
  }
  job.groups.push_back(std::move(group));
}

Job JobOf(std::uint32_t ranks) {
  std::mt19937 dice(1);
  std::normal_distribution<double> noise(0.9, 0.003);
  Job job;
  job.iteration.ranks.resize(ranks);
  for (std::uint32_t r = 0; r < ranks; ++r) {
    RankIteration& rank = job.iteration.ranks[r];
    const double own = noise(dice) + (r % 1000 == 17 ? 0.2 : 0);
    rank.rank = RankId(r);
    rank.duration = Nanos::FromSeconds(1.2);
    rank.blocked = Nanos::FromSeconds(1.2 - own);
    rank.cpu = Nanos::FromSeconds(own);
  }
  const std::uint32_t block = kTensor * kPipeline;
  std::vector<std::uint32_t> all;
  for (std::uint32_t first = 0; first < ranks; first += kTensor) {
    std::vector<std::uint32_t> members;
    for (std::uint32_t t = 0; t < kTensor; ++t) members.push_back(first + t);
    AddGroup(job, "tensor", members, 96, 0.1);
    all.insert(all.end(), members.begin(), members.end());
  }
  for (std::uint32_t first = 0; first < ranks; first += block) {
    for (std::uint32_t t = 0; t < kTensor; ++t) {
      std::vector<std::uint32_t> members;
      for (std::uint32_t p = 0; p < kPipeline; ++p) members.push_back(first + p * kTensor + t);
      AddGroup(job, "pipeline", members, 64, 0.05);
    }
  }
  for (std::uint32_t place = 0; place < block; ++place) {
    std::vector<std::uint32_t> members;
    for (std::uint32_t r = place; r < ranks; r += block) members.push_back(r);
    AddGroup(job, "data", members, 4, 0.08);
  }
  AddGroup(job, "world", all, 1, 0.01);
  return job;
}

double Milliseconds(std::clock_t begin) {
  return 1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

void Measure(std::uint32_t ranks, int runs) {
  const Job job = JobOf(ranks);
  const std::size_t before = mallinfo2().uordblks;
  IterationAccountant accountant;
  std::vector<double> times;
  double lost = 0;
  for (int i = 0; i < runs; ++i) {
    const std::clock_t begin = std::clock();
    lost += accountant.Account(job.iteration, job.groups, 0).lost_s;
    times.push_back(Milliseconds(begin));
  }
  const double first = times.front();
  std::sort(times.begin(), times.end());
  const double bytes = static_cast<double>(mallinfo2().uordblks - before) / ranks;
  std::printf("%8u %10.2f %10.2f %10.2f %12.0f   lost %.3f s\n", ranks, times.front(),
              times[times.size() / 2], first, bytes, lost / runs);
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
  std::printf("%8s %10s %10s %10s %12s\n", "ranks", "best, ms", "median", "first", "bytes a rank");
  for (std::uint32_t ranks = 512; ranks <= (quick ? 2048u : 131072u); ranks *= 4) {
    Measure(ranks, quick ? 3 : 21);
  }
}
