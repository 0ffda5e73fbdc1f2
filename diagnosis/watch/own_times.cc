#include "diagnosis/watch/own_times.h"

namespace fathom::diagnosis {

OwnTimes::OwnTimes(const JobView& view, const JobSeries& series)
    : at_(series.points.size()), seconds_(series.points.size()) {
  for (const IterationSummary& it : view.window) {
    const std::size_t place = iterations_.size();
    if (place < series.points.size() && series.points[place].index == it.index) {
      iterations_.push_back(&it.ranks);
    }
  }
}

bool OwnTimes::Next(std::size_t every) {
  if (iterations_.empty() || iterations_.size() < seconds_.size()) return false;
  const std::vector<RankIteration>& newest = *iterations_.back();
  while (next_ < newest.size()) {
    const RankId rank = newest[next_].rank;
    next_ += every;
    if (Read(rank)) return true;
  }
  return false;
}

// Ranks come in ascending order, as iterations have them.
bool OwnTimes::Read(RankId rank) {
  for (std::size_t i = 0; i < iterations_.size(); ++i) {
    const std::vector<RankIteration>& ranks = *iterations_[i];
    while (at_[i] < ranks.size() && ranks[at_[i]].rank < rank) ++at_[i];
    if (at_[i] == ranks.size() || ranks[at_[i]].rank != rank) return false;
    seconds_[i] = (ranks[at_[i]].duration - ranks[at_[i]].blocked).Seconds();
  }
  return true;
}

}  // namespace fathom::diagnosis
