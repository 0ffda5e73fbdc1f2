#include "collector/simulate/play/layout.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace fathom::simulate {
namespace {

constexpr const char* kNames[kDimensions] = {"tensor", "context",  "expert",
                                             "data",   "pipeline", "world"};

}  // namespace

Layout::Layout(const Scenario& scenario)
    : plan_(scenario.plan),
      world_(plan_.WorldSize()),
      slice_(world_ / plan_.pipeline),
      gpus_(scenario.cluster.gpus_per_node),
      nodes_per_leaf_(scenario.cluster.nodes_per_leaf),
      rails_(scenario.cluster.rails) {}

DimensionShape Layout::Shape(Dimension dimension) const {
  switch (dimension) {
    case Dimension::kTensor:
      return {1, plan_.tensor};
    case Dimension::kContext:
      return {plan_.tensor, plan_.context};
    case Dimension::kExpert:
      return {plan_.tensor * plan_.context, plan_.expert};
    case Dimension::kData:
      return {plan_.tensor, plan_.context * plan_.data};
    default:
      return {1, 1};
  }
}

std::uint32_t Layout::SizeOf(Dimension dimension) const {
  if (dimension == Dimension::kPipeline) return plan_.pipeline;
  if (dimension == Dimension::kWorld) return world_;
  return Shape(dimension).size;
}

std::uint32_t Layout::GroupOf(Dimension dimension, std::uint32_t rank) const {
  if (dimension == Dimension::kWorld) return 0;
  const std::uint32_t local = rank % slice_;
  if (dimension == Dimension::kPipeline) return local;
  const auto [stride, size] = Shape(dimension);
  const std::uint32_t in_slice = local / (stride * size) * stride + local % stride;
  return rank / slice_ * (slice_ / size) + in_slice;
}

std::vector<std::uint32_t> Layout::Members(Dimension dimension, std::uint32_t group) const {
  std::vector<std::uint32_t> members;
  const std::uint32_t size = SizeOf(dimension);
  std::uint32_t first = group, stride = slice_;
  if (dimension == Dimension::kWorld) {
    first = 0, stride = 1;
  } else if (dimension != Dimension::kPipeline) {
    stride = Shape(dimension).stride;
    const std::uint32_t stage = group / (slice_ / size), in_slice = group % (slice_ / size);
    first = stage * slice_ + in_slice / stride * stride * size + in_slice % stride;
  }
  for (std::uint32_t k = 0; k < size; ++k) members.push_back(first + k * stride);
  return members;
}

GroupId Layout::IdOf(Dimension dimension, std::uint32_t group) {
  return GroupId((static_cast<std::uint64_t>(dimension) + 1) << 32 | group);
}

std::uint32_t Layout::LeafOf(std::uint32_t rank) const {
  const std::uint32_t pod = NodeOf(rank) / nodes_per_leaf_;
  return rails_ ? pod * gpus_ + rank % gpus_ : pod;
}

std::vector<diagnosis::Group> Layout::Groups() const {
  std::vector<diagnosis::Group> groups;
  for (std::size_t d = 0; d < kDimensions; ++d) {
    const auto dimension = static_cast<Dimension>(d);
    if (!InUse(dimension)) continue;
    for (std::uint32_t g = 0; g < GroupCount(dimension); ++g) {
      diagnosis::Group group;
      group.id = IdOf(dimension, g);
      group.name = absl::StrCat(kNames[d], " ", g);
      group.description = kNames[d];
      group.size = SizeOf(dimension);
      for (std::uint32_t rank : Members(dimension, g)) group.members.push_back(RankId(rank));
      groups.push_back(std::move(group));
    }
  }
  return groups;
}

std::string NodeName(std::uint32_t node) { return absl::StrFormat("node-%04d", node); }

}  // namespace fathom::simulate
