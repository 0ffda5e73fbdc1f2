#include "diagnosis/history/issue_shift.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace fathom::diagnosis {
namespace {

constexpr double kDecadesApart = 0.5;   // from bucket to bucket
constexpr double kFirstMiddle = -5.25;  // of the first bucket, decades of a second

double MeanDecade(const IssueShares& shares) {
  double mean = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    mean += shares[i] * (kFirstMiddle + kDecadesApart * static_cast<double>(i));
  }
  return mean;
}

double MeanDistance(const IssueShares& run, const std::vector<IssueShares>& history,
                    std::size_t without) {
  double sum = 0;
  std::size_t taken = 0;
  for (std::size_t i = 0; i < history.size(); ++i) {
    if (i == without) continue;
    sum += IssueDistance(run, history[i]);
    ++taken;
  }
  return taken == 0 ? 0 : sum / static_cast<double>(taken);
}

}  // namespace

IssueShares SharesOf(const IssueLatency& sketch) {
  IssueShares shares{};
  const auto ops = static_cast<double>(sketch.ops());
  for (std::size_t i = 0; i < shares.size() && ops > 0; ++i) {
    shares[i] = static_cast<float>(static_cast<double>(sketch.counts[i]) / ops);
  }
  return shares;
}

bool Known(const IssueShares& shares) {
  return std::any_of(shares.begin(), shares.end(), [](float share) { return share > 0; });
}

double IssueDistance(const IssueShares& a, const IssueShares& b) {
  double distance = 0, ahead = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ahead += a[i] - b[i];
    distance += kDecadesApart * std::abs(ahead);
  }
  return distance;
}

double TypicalIssue_s(const IssueShares& shares) {
  return Known(shares) ? std::pow(10.0, MeanDecade(shares)) : 0;
}

IssueShift ShiftOf(const IssueShares& run, const std::vector<IssueShares>& history) {
  IssueShift shift;
  shift.known =
      Known(run) && !history.empty() && std::all_of(history.begin(), history.end(), Known);
  if (!shift.known) return shift;
  double lowest = MeanDecade(history.front()), mean = 0;
  for (std::size_t i = 0; i < history.size(); ++i) {
    const double decade = MeanDecade(history[i]);
    lowest = std::min(lowest, decade);
    mean += decade / static_cast<double>(history.size());
    shift.usual_distance = std::max(shift.usual_distance, MeanDistance(history[i], history, i));
  }
  shift.before_s = std::pow(10.0, mean);
  shift.after_s = TypicalIssue_s(run);
  shift.distance = MeanDistance(run, history, history.size());
  const double least =
      std::max(IssueShift::kLeastFall, IssueShift::kFallFactor * shift.usual_distance);
  const auto by = [&](double times) {
    return shift.distance > times * least &&
           MeanDecade(run) < lowest - times * IssueShift::kLeastFall;
  };
  shift.fallen = by(1);
  shift.far = by(2);
  return shift;
}

}  // namespace fathom::diagnosis
