#include "diagnosis/ledger/sharing.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

namespace fathom::diagnosis {
namespace {

class Sharing {
 public:
  Sharing(Counterfactual& world, std::size_t ranks, std::vector<Suspect> suspects)
      : world_(world), ranks_(static_cast<double>(ranks)), suspects_(std::move(suspects)) {}

  Accounting Share(const AccountLimits& limits) {
    const double recorded = world_.Seconds(world_.None());
    const double ideal = std::min({recorded, world_.Seconds(world_.All()), AllMended()});
    for (Suspect& suspect : suspects_) Ask(recorded, ideal, suspect);
    Accounting out;
    Account& account = out.account;
    account.iterations = static_cast<std::int64_t>(world_.iterations());
    account.replayed_s = recorded;
    account.used_gpu_s = recorded * ranks_;
    account.ideal_gpu_s = ideal * ranks_;
    account.lost_gpu_s = account.used_gpu_s - account.ideal_gpu_s;
    const double left = TakeOut(recorded, ideal, limits, out);
    account.unexplained_gpu_s = (left - ideal) * ranks_;
    for (Suspect& suspect : suspects_) {
      suspect.accused.share.hidden = true;
      out.accused.push_back(std::move(suspect.accused));
    }
    std::stable_sort(
        out.accused.begin(), out.accused.end(),
        [](const Accused& a, const Accused& b) { return a.share.lost_gpu_s > b.share.lost_gpu_s; });
    for (const Accused& accused : out.accused) account.shares.push_back(accused.share);
    return out;
  }

 private:
  static void Put(const Suspect& suspect, bool value, Counterfactual::Repaired& repaired) {
    for (const std::size_t rank : suspect.ranks) repaired.ranks[rank] = value;
    for (const std::size_t channel : suspect.channels) repaired.channels[channel] = value;
  }

  // What everybody at their reference would take may be more than what the job took: whoever is
  // faster than that holds others back less than it would. What mending the suspects wins is lost
  // all the same.
  double AllMended() {
    Counterfactual::Repaired repaired = world_.None();
    for (const Suspect& suspect : suspects_) Put(suspect, true, repaired);
    return world_.Seconds(repaired);
  }

  void Ask(double recorded, double ideal, Suspect& suspect) {
    const auto count = static_cast<double>(std::max<std::size_t>(world_.iterations(), 1));
    Counterfactual::Repaired repaired = world_.None();
    Put(suspect, true, repaired);
    suspect.accused.share.gain_s_per_iteration = (recorded - world_.Seconds(repaired)) / count;
    repaired = world_.All();
    Put(suspect, false, repaired);
    suspect.accused.share.alone_s_per_iteration =
        std::max(0.0, world_.Seconds(repaired) - ideal) / count;
  }

  // What the iterations take with these suspects, as bits of `which`, and those before repaired.
  double With(const Counterfactual::Repaired& before, std::size_t which) {
    Counterfactual::Repaired repaired = before;
    for (std::size_t s = 0; s < suspects_.size(); ++s) {
      if ((which >> s & 1) != 0) Put(suspects_[s], true, repaired);
    }
    return world_.Seconds(repaired);
  }

  // Those that cost most alone, up to kShared of them, share what they cost together by Shapley's
  // rule: of two that are slow alike, mending either wins nothing. Then the rest, likewise.
  double TakeOut(double recorded, double ideal, const AccountLimits& limits, Accounting& out) {
    std::stable_sort(suspects_.begin(), suspects_.end(), [](const Suspect& a, const Suspect& b) {
      return a.accused.share.alone_s_per_iteration > b.accused.share.alone_s_per_iteration;
    });
    Counterfactual::Repaired repaired = world_.None();
    double now = recorded;
    std::vector<Suspect> hidden;
    while (!suspects_.empty()) {
      std::vector<Suspect> later;
      const std::size_t count = std::min(kShared, suspects_.size());
      later.assign(suspects_.begin() + static_cast<std::ptrdiff_t>(count), suspects_.end());
      suspects_.resize(count);
      now = ShareAmong(repaired, recorded, ideal, limits, now, hidden, out);
      suspects_ = std::move(later);
    }
    suspects_ = std::move(hidden);
    return now;
  }

  double ShareAmong(Counterfactual::Repaired& repaired, double recorded, double ideal,
                    const AccountLimits& limits, double now, std::vector<Suspect>& hidden,
                    Accounting& out) {
    const std::size_t count = suspects_.size();
    std::vector<double> seconds(std::size_t{1} << count, now);
    for (std::size_t which = 1; which < seconds.size(); ++which) {
      seconds[which] = std::clamp(With(repaired, which), std::min(ideal, now), now);
    }
    const std::vector<double> won = ShapleyOf(seconds, count);
    const double worth = limits.least_cost / 4 * recorded;
    double left = now;
    for (std::size_t s = 0; s < count; ++s) {
      if (won[s] < worth) {
        hidden.push_back(std::move(suspects_[s]));
        continue;
      }
      Accused& accused = suspects_[s].accused;
      accused.share.lost_gpu_s = won[s] * ranks_;
      accused.loss_share = won[s] / recorded;
      left -= won[s];
      Put(suspects_[s], true, repaired);
      out.accused.push_back(std::move(accused));
    }
    return left;
  }

  // What each of `count` wins in the mean over all orders; seconds by the set that is repaired.
  static std::vector<double> ShapleyOf(const std::vector<double>& seconds, std::size_t count) {
    std::vector<double> factorial(count + 1, 1);
    for (std::size_t k = 1; k <= count; ++k)
      factorial[k] = factorial[k - 1] * static_cast<double>(k);
    std::vector<double> won(count, 0);
    for (std::size_t which = 0; which < seconds.size(); ++which) {
      const auto in = static_cast<std::size_t>(std::popcount(which));
      for (std::size_t s = 0; s < count; ++s) {
        if ((which >> s & 1) != 0) continue;
        const double weight = factorial[in] * factorial[count - in - 1] / factorial[count];
        won[s] += weight * (seconds[which] - seconds[which | std::size_t{1} << s]);
      }
    }
    return won;
  }

  static constexpr std::size_t kShared = 4;

  Counterfactual& world_;
  const double ranks_;
  std::vector<Suspect> suspects_;
};

}  // namespace

Accounting ShareLoss(Counterfactual& world, std::size_t ranks, std::vector<Suspect> suspects,
                     const AccountLimits& limits) {
  return Sharing(world, ranks, std::move(suspects)).Share(limits);
}

}  // namespace fathom::diagnosis
