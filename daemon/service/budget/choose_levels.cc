#include "daemon/service/budget/choose_levels.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace fathom::service {
namespace {

// Of the first parts only.
using Partial = Choice;

bool NoWorse(const Partial& a, const Partial& b) {
  return a.loss <= b.loss && a.spend.cores <= b.spend.cores &&
         a.spend.bytes_per_s <= b.spend.bytes_per_s && a.spend.memory <= b.spend.memory;
}

// Those that no other beats. In order of loss and spend nobody is beaten by one that comes later.
std::vector<Partial> Unbeaten(std::vector<Partial> all) {
  std::sort(all.begin(), all.end(), [](const Partial& a, const Partial& b) {
    const auto key = [](const Partial& p) {
      return std::tuple(p.loss, p.spend.cores, p.spend.bytes_per_s, p.spend.memory);
    };
    return key(a) < key(b);
  });
  std::vector<Partial> kept;
  for (Partial& each : all) {
    const bool beaten = std::any_of(kept.begin(), kept.end(),
                                    [&](const Partial& other) { return NoWorse(other, each); });
    if (!beaten) kept.push_back(std::move(each));
  }
  return kept;
}

// The least that the parts from each place on take, resource by resource.
std::vector<Spend> LeastToCome(const Levels& parts) {
  std::vector<Spend> least(parts.size() + 1);
  for (std::size_t p = parts.size(); p-- > 0;) {
    Spend of_part{kNoLimit, kNoLimit, kNoLimit};
    for (const Level& level : parts[p]) {
      if (!level.allowed) continue;
      of_part.cores = std::min(of_part.cores, level.spend.cores);
      of_part.bytes_per_s = std::min(of_part.bytes_per_s, level.spend.bytes_per_s);
      of_part.memory = std::min(of_part.memory, level.spend.memory);
    }
    least[p] = least[p + 1] + (parts[p].empty() ? Spend() : of_part);
  }
  return least;
}

std::vector<Partial> WithPart(const std::vector<Partial>& before, const std::vector<Level>& part) {
  std::vector<Partial> all;
  for (const Partial& partial : before) {
    for (std::size_t l = 0; l < part.size(); ++l) {
      if (!part[l].allowed) continue;
      Partial& next = all.emplace_back(partial);
      next.spend += part[l].spend;
      next.loss += part[l].loss;
      next.level.push_back(l);
    }
  }
  return all;
}

// All that nobody beats; with a limit, only those within it, of which there may be none.
std::vector<Partial> Combined(const Levels& parts, const Spend* limit) {
  const std::vector<Spend> to_come = LeastToCome(parts);
  std::vector<Partial> partials(1);
  for (std::size_t p = 0; p < parts.size(); ++p) {
    if (parts[p].empty()) {
      for (Partial& partial : partials) partial.level.push_back(0);
      continue;
    }
    partials = WithPart(partials, parts[p]);
    if (limit != nullptr) {
      std::erase_if(partials, [&](const Partial& partial) {
        return !(partial.spend + to_come[p + 1]).Within(*limit);
      });
    }
    partials = Unbeaten(std::move(partials));
  }
  return partials;
}

}  // namespace

Choice Priced(const Levels& parts, const std::vector<std::size_t>& level, const Spend& budget) {
  Choice choice{level, {}, 0, false};
  for (std::size_t p = 0; p < parts.size(); ++p) {
    if (parts[p].empty()) continue;
    choice.spend += parts[p][level[p]].spend;
    choice.loss += parts[p][level[p]].loss;
  }
  choice.fits = choice.spend.Within(budget);
  return choice;
}

Choice ChooseLevels(const Levels& parts, const Spend& budget) {
  std::vector<Partial> partials = Combined(parts, &budget);
  if (partials.empty()) partials = Combined(parts, nullptr);
  for (Partial& each : partials) each.fits = each.spend.Within(budget);
  const auto over = [&](const Choice& choice) {
    return choice.fits ? 0 : std::ceil((choice.spend.Times(budget) - 1) / kStep);
  };
  const auto better = [&](const Choice& a, const Choice& b) {
    return std::pair(over(a), a.loss) < std::pair(over(b), b.loss);
  };
  return *std::min_element(partials.begin(), partials.end(), better);
}

}  // namespace fathom::service
