#include "tests/diagnosis/functions/drawn_captures.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace fathom::diagnosis {
namespace {

enum Spot : std::uint32_t { kInForward, kInBackward, kInReduce, kInFault };
constexpr double kRate = 100;
constexpr double kForwardPart = 0.4;     // of an iteration
constexpr double kWaitInBackward = 0.6;  // of what is waited

struct Stay {
  Spot place;
  double end;
};

// Whether others use the cores of a rank, along its time.
class Crowd {
 public:
  Crowd(double part, double length, std::mt19937& random) : random_(random) {
    if (part <= 0) return;
    on_ = length;
    off_ = length * (1 - std::min(part, 0.9)) / std::min(part, 0.9);
    crowded_ = std::uniform_real_distribution<>(0, 1)(random_) < part;
  }
  bool At(double when) {
    if (on_ <= 0) return false;
    while (until_ <= when) {
      if (until_ > 0) crowded_ = !crowded_;
      until_ += std::exponential_distribution<>(1 / (crowded_ ? on_ : off_))(random_);
    }
    return crowded_;
  }

 private:
  std::mt19937& random_;
  double on_ = 0, off_ = 0, until_ = 0;
  bool crowded_ = false;
};

class Drawing {
 public:
  Drawing(const DrawnJob& job, std::uint32_t seed)
      : job_(job), random_(seed), stays_(job.ranks), core_waits_(job.ranks) {
    for (std::uint32_t rank = 0; rank < job.ranks; ++rank) {
      const bool unlucky = rank >= job.ranks - std::min(job.ranks, job.unlucky);
      crowds_.emplace_back((unlucky ? 3 : 1) * job.crowded, job.crowd, random_);
    }
  }

  StackCapture Draw() {
    double at = 0;
    std::int64_t iterations = 0;
    while (at < job_.lasts) {
      at = Iterate(at);
      ++iterations;
    }
    StackCapture capture;
    capture.iterations = iterations;
    for (std::uint32_t rank = 0; rank < job_.ranks; ++rank) {
      RankStacks& told = capture.ranks[RankId(rank)] = Look(stays_[rank]);
      if (job_.tells_core_wait) told.core_wait = core_waits_[rank] / stays_[rank].back().end;
    }
    return capture;
  }

 private:
  double Uniform() { return std::uniform_real_distribution<>(0, 1)(random_); }

  double Phase(std::uint32_t rank, double usual, double at) {
    double took = usual * std::exp(job_.spread * std::normal_distribution<>()(random_));
    if (Uniform() < job_.stalls) took += job_.stall * std::pow(Uniform(), -1 / job_.tail);
    if (!crowds_[rank].At(at)) return took;
    core_waits_[rank] += (job_.slower - 1) * took;
    return took * job_.slower;
  }

  double Iterate(double begin) {
    std::vector<double> ends;
    for (std::uint32_t rank = 0; rank < job_.ranks; ++rank) {
      double at = begin;
      const bool faulty = rank == 0 && job_.fault > 0;
      const double more = faulty && !job_.own_function ? job_.fault : 0;
      at += Phase(rank, (kForwardPart + more) * job_.iteration, at);
      stays_[rank].push_back({kInForward, at});
      if (faulty && job_.own_function) {
        at += Phase(rank, job_.fault * job_.iteration, at);
        stays_[rank].push_back({kInFault, at});
      }
      at += Phase(rank, (1 - kForwardPart) * job_.iteration, at);
      ends.push_back(at);
    }
    const double all = *std::max_element(ends.begin(), ends.end());
    for (std::uint32_t rank = 0; rank < job_.ranks; ++rank) {
      stays_[rank].push_back({kInBackward, ends[rank] + kWaitInBackward * (all - ends[rank])});
      stays_[rank].push_back({kInReduce, all});
    }
    return all;
  }

  RankStacks Look(const std::vector<Stay>& stays) {
    RankStacks rank;
    rank.source = "py-spy";
    rank.lasted = Nanos::FromSeconds(stays.back().end);
    rank.frames = {{"train", "/job/train.py", 10, false},
                   {"train", "/job/train.py", 20, false},
                   {"train", "/job/train.py", 30, false},
                   {"all_reduce", "/v/torch/distributed/distributed_c10d.py", 3, true},
                   {"write_metrics", "/job/train.py", 85, false},
                   {"train", "/job/train.py", 40, false}};
    rank.stacks = {{{0}, 0}, {{1}, 0}, {{3, 2}, 0}, {{4, 5}, 0}};
    double sees = 0;
    std::size_t at_stay = 0;
    for (double due = 0.5 / kRate; due < stays.back().end; due += 1 / kRate) {
      if (due >= sees) {
        sees = due;
        if (Uniform() < job_.blind) sees += std::exponential_distribution<>(10)(random_);
      }
      while (at_stay + 1 < stays.size() && stays[at_stay].end <= sees) ++at_stay;
      const Spot place = stays[at_stay].place;
      ++rank.samples;
      ++rank.stacks[place].samples;
      if (rank.order.empty() || rank.order.back().stack != place) rank.order.push_back({place, 0});
      ++rank.order.back().samples;
    }
    return rank;
  }

  const DrawnJob& job_;
  std::mt19937 random_;
  std::vector<std::vector<Stay>> stays_;
  std::vector<double> core_waits_;
  std::vector<Crowd> crowds_;
};

}  // namespace

StackCapture Draw(const DrawnJob& job, std::uint32_t seed) { return Drawing(job, seed).Draw(); }

}  // namespace fathom::diagnosis
