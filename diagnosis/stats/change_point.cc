#include "diagnosis/stats/change_point.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace fathom::diagnosis {
namespace {

// One hypothesis: the run began `length` values ago.
struct Run {
  double log_weight = 0;
  double mean = 0;
  double rate = 0;
  std::size_t length = 0;
  std::size_t first = 0;  // index of its first value
};

class RunSet {
 public:
  explicit RunSet(const ChangePointPrior& prior) : prior_(prior) {}

  void Observe(double value, std::size_t index) {
    const double hazard = 1 / static_cast<double>(prior_.longest_run);
    const double log_change = std::log(hazard), log_stay = std::log1p(-hazard);
    Run fresh = Fresh(index);
    fresh.log_weight = runs_.empty() ? 0 : log_change + Total();
    for (Run& run : runs_) run.log_weight += log_stay;
    runs_.push_back(fresh);
    for (Run& run : runs_) {
      run.log_weight += LogPredictive(run, value);
      Update(run, value);
    }
    Bound();
    Normalise();
  }

  const std::vector<Run>& runs() const { return runs_; }

 private:
  Run Fresh(std::size_t index) const {
    Run run;
    run.mean = prior_.mean;
    run.rate = prior_.rate;
    run.first = index;
    return run;
  }

  double Weight(const Run& run) const {
    return prior_.mean_weight + static_cast<double>(run.length);
  }
  double Shape(const Run& run) const {
    return prior_.shape + 0.5 * static_cast<double>(run.length);
  }

  double LogPredictive(const Run& run, double value) {
    const double kappa = Weight(run), alpha = Shape(run);
    const double scale2 = run.rate * (kappa + 1) / (alpha * kappa);
    const double z2 = (value - run.mean) * (value - run.mean) / scale2;
    return LogNorm(run.length) - 0.5 * std::log(scale2) -
           (alpha + 0.5) * std::log1p(z2 / (2 * alpha));
  }

  // lgamma(a + ½) − lgamma(a) − ½ log(2πa), which depends on the run's length alone.
  double LogNorm(std::size_t length) {
    while (log_norm_.size() <= length) {
      const double a = prior_.shape + 0.5 * static_cast<double>(log_norm_.size());
      log_norm_.push_back(std::lgamma(a + 0.5) - std::lgamma(a) -
                          0.5 * std::log(2 * std::numbers::pi * a));
    }
    return log_norm_[length];
  }

  void Update(Run& run, double value) const {
    const double kappa = Weight(run), off = value - run.mean;
    run.rate += 0.5 * kappa * off * off / (kappa + 1);
    run.mean += off / (kappa + 1);
    ++run.length;
  }

  double Total() const {
    double top = runs_.front().log_weight;
    for (const Run& run : runs_) top = std::max(top, run.log_weight);
    double sum = 0;
    for (const Run& run : runs_) sum += std::exp(run.log_weight - top);
    return top + std::log(sum);
  }

  void Normalise() {
    const double total = Total();
    for (Run& run : runs_) run.log_weight -= total;
  }

  void Bound() {
    if (runs_.size() <= prior_.longest_run) return;
    const double lost = runs_.front().log_weight;
    runs_.erase(runs_.begin());
    const double top = std::max(lost, runs_.front().log_weight);
    runs_.front().log_weight =
        top + std::log(std::exp(lost - top) + std::exp(runs_.front().log_weight - top));
  }

  const ChangePointPrior& prior_;
  std::vector<Run> runs_;
  std::vector<double> log_norm_;
};

}  // namespace

std::vector<double> RunStartPosterior(const std::vector<double>& values,
                                      const ChangePointPrior& prior) {
  RunSet set(prior);
  for (std::size_t i = 0; i < values.size(); ++i) set.Observe(values[i], i);
  std::vector<double> start(values.size(), 0.0);
  for (const Run& run : set.runs()) start[run.first] += std::exp(run.log_weight);
  return start;
}

}  // namespace fathom::diagnosis
