#include "diagnosis/ledger/channel_suspects.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "absl/strings/str_format.h"
#include "diagnosis/ledger/odd_place.h"
#include "diagnosis/model/lookup.h"
#include "diagnosis/wording/phrase.h"

namespace fathom::diagnosis {
namespace {

class ChannelSuspects {
 public:
  ChannelSuspects(const JobView& view, const Channels& channels, const Outliers& outliers,
                  const std::vector<Iteration>& iterations, const AccountLimits& limits,
                  const Topology* topology)
      : view_(view), channels_(channels), iterations_(iterations), topology_(topology) {
    for (const Outlier& outlier : outliers.found) {
      const double ratio = 1 + outlier.excess / std::max(outlier.usual, 1e-9);
      const bool sure = Sure(outlier);
      if (!sure && !NodesKnown(outlier)) continue;
      if (ratio >= (sure ? limits.channel_ratio : limits.sure_ratio)) found_.push_back(&outlier);
    }
  }

  std::vector<Suspect> All() const {
    if (found_.empty()) return {};
    std::vector<OddGroup> odd;
    for (const Outlier* outlier : found_) {
      odd.push_back({&channels_.groups[outlier->entity], outlier->excess});
    }
    const std::optional<OddPlace> place = PlaceOfOdd(view_, odd, Well(), topology_);
    return {At(place ? *place : OfAll(odd))};
  }

 private:
  // Else what crosses nodes is compared with what does not.
  bool NodesKnown(const Outlier& outlier) const {
    return !NodesOf(view_, channels_.groups[outlier.entity].members).contains("");
  }

  // Most of those like it are well: else the wires may differ by design.
  bool Sure(const Outlier& outlier) const {
    const std::size_t family = channels_.family[outlier.entity];
    const auto members = std::count(channels_.family.begin(), channels_.family.end(), family);
    return 2 * outlier.peers > static_cast<std::size_t>(members) && outlier.peers > 1;
  }

  // What they have in common cannot be told: all of their ranks.
  OddPlace OfAll(const std::vector<OddGroup>& odd) const {
    std::set<RankId> ranks;
    for (const OddGroup& each : odd) {
      ranks.insert(each.group->members.begin(), each.group->members.end());
    }
    OddPlace place;
    place.entity.type = EntityType::kGroup;
    place.entity.ranks.assign(ranks.begin(), ranks.end());
    place.where =
        absl::StrFormat("of %d channels of %s", odd.size(), RanksInWords(place.entity.ranks));
    return place;
  }

  // Of the families in which one was found.
  std::vector<const Group*> Well() const {
    std::set<std::size_t> families, found;
    for (const Outlier* outlier : found_) {
      families.insert(channels_.family[outlier->entity]);
      found.insert(outlier->entity);
    }
    std::vector<const Group*> well;
    for (std::size_t c = 0; c < channels_.groups.size(); ++c) {
      if (families.contains(channels_.family[c]) && !found.contains(c)) {
        well.push_back(&channels_.groups[c]);
      }
    }
    return well;
  }

  Suspect At(const OddPlace& place) const {
    Suspect suspect;
    Accused& accused = suspect.accused;
    accused.outlier = *found_.front();
    accused.where = place.where;
    accused.victims = place.victims;
    accused.share.entity = place.entity;
    accused.share.cause = place.cause;
    for (const Outlier* outlier : found_) suspect.channels.push_back(outlier->entity);
    if (found_.size() == 1 && channels_.pair[found_.front()->entity]) NameLink(accused);
    DateShare(accused.outlier, iterations_, accused.share);
    return suspect;
  }

  static void NameLink(Accused& accused) {
    Entity& entity = accused.share.entity;
    entity.type = EntityType::kLink;
    entity.link_src = std::to_string(entity.ranks.front().value);
    entity.link_dst = std::to_string(entity.ranks.back().value);
    accused.share.cause = Cause::kLinkSlow;
    accused.where = "between " + RanksInWords(entity.ranks);
  }

  const JobView& view_;
  const Channels& channels_;
  const std::vector<Iteration>& iterations_;
  const Topology* topology_;
  std::vector<const Outlier*> found_;
};

}  // namespace

std::vector<Suspect> SlowChannels(const JobView& view, const Channels& channels,
                                  const Outliers& outliers,
                                  const std::vector<Iteration>& iterations,
                                  const AccountLimits& limits, const Topology* topology) {
  return ChannelSuspects(view, channels, outliers, iterations, limits, topology).All();
}

}  // namespace fathom::diagnosis
