#include "kernels/memory/bandwidth.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <utility>

#include "kernels/measure/samples.h"
#include "kernels/measure/workers.h"

namespace fathom::kernels {
namespace {

constexpr std::size_t kSlice = std::size_t{4} << 20;
constexpr std::size_t kLine = 64;
constexpr std::size_t kHops = 1 << 14;

struct Rates {
  std::vector<double> read, write, copy;
};

std::uint64_t Sum(const std::uint64_t* words, std::size_t count) {
  std::uint64_t sums[8] = {};
  for (std::size_t i = 0; i + 8 <= count; i += 8) {
    for (std::size_t j = 0; j < 8; ++j) sums[j] += words[i + j];
  }
  return std::accumulate(sums, sums + 8, std::uint64_t{0});
}

// Two halves, so that what is copied lies in this node's memory as well.
Rates MeasureHere(const Bounds& bounds, std::size_t bytes) {
  const std::size_t half = bytes / 2 / kSlice * kSlice;
  const auto memory = std::make_unique_for_overwrite<unsigned char[]>(2 * half);
  std::memset(memory.get(), 1, 2 * half);
  std::size_t at = 0;
  const auto next = [&] {
    at = (at + kSlice) % half;
    return memory.get() + at;
  };
  const double each = bounds.seconds / 3;
  Rates rates;
  volatile std::uint64_t sink = 0;
  rates.read = SliceRates(bounds, each, double{kSlice}, [&] {
    sink =
        sink + Sum(reinterpret_cast<const std::uint64_t*>(next()), kSlice / sizeof(std::uint64_t));
  });
  rates.write = SliceRates(bounds, each, double{kSlice},
                           [&] { std::memset(next(), static_cast<int>(at >> 22), kSlice); });
  rates.copy = SliceRates(bounds, each, double{kSlice}, [&] {
    unsigned char* from = next();
    std::memcpy(from + half, from, kSlice);
  });
  return rates;
}

std::string NameOf(const Bounds& bounds, std::size_t node) {
  return bounds.numa.size() == 1 ? "" : "node" + std::to_string(node);
}

using Part = std::vector<double> Rates::*;

Figure SumOver(const char* name, std::string where, const std::vector<Rates>& cores,
               std::size_t begin, std::size_t end, Part part) {
  Figure figure{.name = name, .where = std::move(where), .unit = "B/s"};
  for (std::size_t i = begin; i < end; ++i) {
    figure.value += MedianOf(cores[i].*part);
    figure.spread += SpreadOf(cores[i].*part);
  }
  return figure;
}

// A ring through all lines of the memory, in an order that no prefetcher follows (Sattolo 1986).
std::vector<std::uint32_t> RandomRing(std::size_t lines) {
  std::vector<std::uint32_t> next(lines);
  std::iota(next.begin(), next.end(), 0u);
  std::uint64_t state = 88172645463325252u;
  for (std::size_t i = lines - 1; i > 0; --i) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    std::swap(next[i], next[state % i]);
  }
  return next;
}

struct Line {
  alignas(kLine) std::uint32_t next;
};

struct Ring {
  std::unique_ptr<Line[]> lines;

  // Touched first, and so placed, by the calling thread.
  explicit Ring(std::size_t count) : lines(std::make_unique_for_overwrite<Line[]>(count)) {
    const std::vector<std::uint32_t> next = RandomRing(count);
    for (std::size_t i = 0; i < count; ++i) lines[i].next = next[i];
  }
};

std::vector<double> FollowRates(const Bounds& bounds, double seconds, const Ring& ring) {
  std::uint32_t at = 0;
  return SliceRates(bounds, seconds, double{kHops}, [&] {
    for (std::size_t i = 0; i < kHops; ++i) at = ring.lines[at].next;
    asm volatile("" : "+r"(at));
  });
}

Figure LatencyFigure(std::string where, std::vector<double> rates) {
  for (double& rate : rates) rate = 1 / rate;
  Figure figure = MedianFigure("memory_latency", std::move(where), rates, "s");
  figure.less_is_better = true;
  return figure;
}

}  // namespace

ProbeResult MemoryBandwidth(const Bounds& bounds) {
  ProbeResult result;
  std::vector<int> cpus;
  for (const auto& node : bounds.numa) cpus.insert(cpus.end(), node.begin(), node.end());
  const std::size_t part = bounds.bytes / cpus.size();
  if (part < 4 * kSlice) {
    result.outcome = Outcome::kSkipped;
    result.reason = "the memory it may take is too small for this many cores";
    return result;
  }
  std::vector<Rates> cores(cpus.size());
  RunOnCpus(cpus, [&](std::size_t i) { cores[i] = MeasureHere(bounds, part); });
  std::size_t begin = 0;
  for (std::size_t node = 0; node < bounds.numa.size(); ++node) {
    const std::size_t end = begin + bounds.numa[node].size();
    const std::string where = NameOf(bounds, node);
    result.figures.push_back(SumOver("memory_read", where, cores, begin, end, &Rates::read));
    result.figures.push_back(SumOver("memory_write", where, cores, begin, end, &Rates::write));
    result.figures.push_back(SumOver("memory_copy", where, cores, begin, end, &Rates::copy));
    begin = end;
  }
  return result;
}

ProbeResult MemoryLatency(const Bounds& bounds) {
  ProbeResult result;
  const std::size_t nodes = bounds.numa.size();
  const double each = bounds.seconds / static_cast<double>(2 * nodes - 1);
  const std::size_t count = std::min<std::size_t>(bounds.bytes / 2, std::size_t{64} << 20) / kLine;
  for (std::size_t node = 0; node < nodes; ++node) {
    std::unique_ptr<Ring> ring;
    std::vector<double> own;
    RunOnCpus({bounds.numa[node].front()}, [&](std::size_t) {
      ring = std::make_unique<Ring>(count);
      own = FollowRates(bounds, each, *ring);
    });
    result.figures.push_back(LatencyFigure(NameOf(bounds, node), std::move(own)));
    if (node == 0 || bounds.Stopped()) continue;
    std::vector<double> across;
    RunOnCpus({bounds.numa[0].front()},
              [&](std::size_t) { across = FollowRates(bounds, each, *ring); });
    result.figures.push_back(LatencyFigure("node0-node" + std::to_string(node), std::move(across)));
  }
  return result;
}

}  // namespace fathom::kernels
