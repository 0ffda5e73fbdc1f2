// How long it takes to find the odd ones among the patterns of many workers.
//
// Usage: localise_bench [FUNCTIONS [THREADS]]
// Prints for 1,000 to 1,000,000 workers, each with so many functions (20), the seconds on so many
// threads (2), drawing left out, and whether exactly the workers that were made odd were found.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "diagnosis/functions/patterns/localise.h"

namespace {

using fathom::diagnosis::FunctionClass;
using fathom::diagnosis::PatternColumn;

constexpr std::uint32_t kOddEach = 5;  // workers of each function

PatternColumn Drawn(std::size_t workers, std::uint32_t function, std::set<std::uint32_t>& odd) {
  std::minstd_rand random(function + 1);
  const auto noise = [&] { return static_cast<float>(random() % 2001) / 2000.F * 0.04F - 0.02F; };
  PatternColumn column{
      function % 2 == 0 ? FunctionClass::kCollective : FunctionClass::kCompute, {}, {}, {}};
  for (std::size_t i = 0; i < workers; ++i) {
    column.beta.push_back(0.04F + noise() / 2);
    column.mu.push_back(0.8F + noise());
    column.sigma.push_back(0.1F + noise());
  }
  for (std::uint32_t k = 0; k < kOddEach; ++k) {
    const auto worker = static_cast<std::uint32_t>(random() % workers);
    column.mu[worker] = 0.3F;
    odd.insert(worker);
  }
  return column;
}

struct Outcome {
  double seconds = 0;
  std::size_t planted = 0, found = 0, innocent = 0;
};

Outcome Measure(std::size_t workers, std::uint32_t functions, unsigned threads) {
  std::vector<PatternColumn> columns;
  std::vector<std::set<std::uint32_t>> odd(functions);
  for (std::uint32_t f = 0; f < functions; ++f) columns.push_back(Drawn(workers, f, odd[f]));
  std::vector<std::vector<fathom::diagnosis::OddPattern>> found(functions);
  const auto begin = std::chrono::steady_clock::now();
  std::atomic<std::uint32_t> next{0};
  const auto work = [&] {
    for (std::uint32_t f = next++; f < functions; f = next++) {
      found[f] = fathom::diagnosis::Localise(columns[f]);
    }
  };
  std::vector<std::thread> helpers;
  for (unsigned i = 1; i < threads; ++i) helpers.emplace_back(work);
  work();
  for (std::thread& helper : helpers) helper.join();
  const std::chrono::duration<double> lasted = std::chrono::steady_clock::now() - begin;
  Outcome out{lasted.count(), 0, 0, 0};
  for (std::uint32_t f = 0; f < functions; ++f) {
    out.planted += odd[f].size();
    for (const auto& each : found[f]) ++(odd[f].contains(each.worker) ? out.found : out.innocent);
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  const auto functions = static_cast<std::uint32_t>(argc > 1 ? std::atoi(argv[1]) : 20);
  const auto threads = static_cast<unsigned>(argc > 2 ? std::atoi(argv[2]) : 2);
  std::printf("%10s %10s %10s %8s %8s %8s\n", "workers", "patterns", "seconds", "planted", "found",
              "innocent");
  bool right = true;
  for (const std::size_t workers : {1'000, 10'000, 100'000, 1'000'000}) {
    const Outcome out = Measure(workers, functions, threads);
    std::printf("%10zu %10zu %10.3f %8zu %8zu %8zu\n", workers, workers * functions, out.seconds,
                out.planted, out.found, out.innocent);
    right = right && out.found == out.planted && out.innocent == 0;
  }
  return right ? 0 : 1;
}
