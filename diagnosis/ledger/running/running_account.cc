#include "diagnosis/ledger/running/running_account.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace fathom::diagnosis {
namespace {

bool IsOf(const Loss& known, const Loss& loss) {
  return known.rest == loss.rest && known.number == loss.number && known.cause == loss.cause &&
         known.owner == loss.owner && known.entity.type == loss.entity.type &&
         known.entity.node == loss.entity.node;
}

double& At(std::vector<double>& values, std::size_t place) {
  if (values.size() <= place) values.resize(place + 1, 0);
  return values[place];
}

// `to`: by loss, its new place.
std::vector<double> Moved(const std::vector<double>& values, const std::vector<std::size_t>& to) {
  std::vector<double> out;
  for (std::size_t i = 0; i < values.size(); ++i) At(out, to[i]) += values[i];
  return out;
}

}  // namespace

std::size_t RunningAccount::PlaceOf(const Loss& loss) {
  auto& losses = state_.losses;
  const auto at = std::find_if(losses.begin(), losses.end(),
                               [&](const Loss& known) { return IsOf(known, loss); });
  if (at != losses.end()) return static_cast<std::size_t>(at - losses.begin());
  losses.push_back(loss);
  losses.back().gpu_s = 0;
  return losses.size() - 1;
}

void RunningAccount::JoinSlices() {
  std::vector<AccountSlice> joined;
  for (AccountSlice& slice : state_.slices) {
    const bool second = !joined.empty() && joined.back().iterations == state_.slice_iterations;
    if (!second) {
      joined.push_back(std::move(slice));
      continue;
    }
    AccountSlice& first = joined.back();
    first.iterations += slice.iterations;
    first.used_gpu_s += slice.used_gpu_s;
    first.unexplained_gpu_s += slice.unexplained_gpu_s;
    for (std::size_t i = 0; i < slice.lost_gpu_s.size(); ++i) {
      At(first.lost_gpu_s, i) += slice.lost_gpu_s[i];
    }
  }
  state_.slices = std::move(joined);
  state_.slice_iterations *= 2;
}

AccountSlice& RunningAccount::SliceFor(const Took& took) {
  auto& slices = state_.slices;
  if (!slices.empty() && slices.back().iterations < state_.slice_iterations) return slices.back();
  if (slices.size() >= kMostSlices) JoinSlices();
  slices.push_back({.begin = took.begin, .first = took.index});
  return slices.back();
}

void RunningAccount::Add(const Took& took, const std::vector<Loss>& losses) {
  state_.iterations += took.iterations;
  state_.used_gpu_s += took.used_gpu_s;
  state_.unexplained_gpu_s += took.unexplained_gpu_s;
  AccountSlice& slice = SliceFor(took);
  slice.iterations += took.iterations;
  slice.used_gpu_s += took.used_gpu_s;
  slice.unexplained_gpu_s += took.unexplained_gpu_s;
  for (const Loss& loss : losses) {
    const std::size_t place = PlaceOf(loss);
    state_.losses[place].gpu_s += loss.gpu_s;
    state_.by_cause[{loss.cause, loss.owner}] += loss.gpu_s;
    At(slice.lost_gpu_s, place) += loss.gpu_s;
  }
  if (state_.losses.size() > 2 * kMostShares) TellSmallOnesTogether();
}

void RunningAccount::TellSmallOnesTogether() {
  const std::vector<Loss> all = std::move(state_.losses);
  std::vector<double> amounts;
  for (const Loss& loss : all) amounts.push_back(loss.gpu_s);
  std::nth_element(amounts.begin(), amounts.begin() + kMostShares, amounts.end(),
                   std::greater<double>());
  const double least = amounts[kMostShares];
  state_.losses.clear();
  std::vector<std::size_t> to;
  for (Loss loss : all) {
    const double gpu_s = loss.gpu_s;
    if (gpu_s <= least && !loss.rest) {
      loss.entity = Entity();
      loss.entity.type = EntityType::kJob;
      loss.number = 0;
      loss.rest = true;
    }
    to.push_back(PlaceOf(loss));
    state_.losses[to.back()].gpu_s += gpu_s;
  }
  for (AccountSlice& slice : state_.slices) slice.lost_gpu_s = Moved(slice.lost_gpu_s, to);
}

double RunningAccount::State::lost_gpu_s() const {
  return std::accumulate(by_cause.begin(), by_cause.end(), unexplained_gpu_s,
                         [](double sum, const auto& cause) { return sum + cause.second; });
}

}  // namespace fathom::diagnosis
