#include "collector/job/ranks/run_facts_table.h"

#include <algorithm>
#include <utility>

#include "collector/admission/limits.h"
#include "fathom/v1/run.pb.h"

namespace fathom::collector {
namespace {

diagnosis::JobProfile ProfileOf(const v1::RunFacts& told) {
  diagnosis::JobProfile profile;
  profile.name = told.profile();
  profile.program = told.program();
  profile.device = told.device();
  profile.framework = told.framework();
  std::map<std::pair<std::uint32_t, CollectiveKind>, diagnosis::WorkPart> parts;
  for (const v1::GroupWork& work : told.work()) {
    const CollectiveKind kind{static_cast<std::uint8_t>(work.kind())};
    diagnosis::WorkPart& part = parts[{work.size(), kind}];
    part.group_size = work.size();
    part.kind = kind;
    part.calls += work.calls();
    part.bytes += work.bytes();
  }
  for (const auto& [key, part] : parts) profile.work.push_back(part);
  return profile;
}

}  // namespace

void RunFactsTable::Take(const v1::RunFacts& facts, std::string_view node) {
  const auto [spoke, first] = told_.emplace(node, facts.rank());
  if (!first && spoke->second < facts.rank()) return;
  spoke->second = facts.rank();
  for (auto& [held, nodes] : nodes_of_) {
    if (const auto at = nodes.find(node); at != nodes.end()) nodes.erase(at);
  }
  std::erase_if(nodes_of_, [](const auto& entry) { return entry.second.empty(); });
  const diagnosis::RunFacts said(facts.facts().begin(), facts.facts().end());
  if (nodes_of_.size() < kMaxRunVariants || nodes_of_.contains(said)) {
    nodes_of_[said].emplace(node);
  } else {
    ++left_out_;
  }
  if (told_by_ >= 0 && told_by_ < facts.rank()) return;
  told_by_ = facts.rank();
  profile_ = ProfileOf(facts);
}

bool RunFactsTable::known(std::size_t nodes) const {
  return told_by_ == 0 || (told_by_ > 0 && told_.size() >= nodes);
}

diagnosis::JobProfile RunFactsTable::Profile(std::uint32_t world_size) const {
  diagnosis::JobProfile profile = profile_;
  profile.world_size = world_size;
  return profile;
}

diagnosis::RunSetup RunFactsTable::Setup() const {
  diagnosis::RunSetup setup;
  for (const auto& [facts, nodes] : nodes_of_) {
    setup.variants.push_back({facts, {nodes.begin(), nodes.end()}});
  }
  return setup;
}

}  // namespace fathom::collector
