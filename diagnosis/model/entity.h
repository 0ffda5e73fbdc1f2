// Whom and what diagnosis speaks of: an entity, the cause of its trouble, and whom that concerns.
//
// Used by verdicts (diagnosis/model/verdict.h) and by the account (diagnosis/model/account.h). The
// names of the enumerators on the wire are those of docs/formats/report.md (ToString).
// Thread-safety: plain values.
#ifndef FATHOM_DIAGNOSIS_MODEL_ENTITY_H_
#define FATHOM_DIAGNOSIS_MODEL_ENTITY_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proto/types/ids.h"

namespace fathom::diagnosis {

enum class Cause : std::uint8_t {
  kUnknown,
  kComputeSlow,
  kHostSlow,
  kGc,
  kDataLoader,
  kMemorySlow,
  kLinkSlow,
  kCommunicationSlow,
  kCommunicationHang,
  kNonCommunicationHang,
  kMismatch,
  kProcessStopped,
  kProcessDead,
  kImbalance,
  kRegression,
};

enum class EntityType : std::uint8_t {
  kRank,
  kGpu,
  kHost,
  kNic,
  kLink,
  kSwitch,
  kGroup,
  kStage,
  kJob,
};

enum class Owner : std::uint8_t { kOperations, kInfrastructure, kAlgorithm };

std::string_view ToString(Cause cause);
std::string_view ToString(EntityType type);
std::string_view ToString(Owner owner);

struct Entity {
  EntityType type = EntityType::kRank;
  std::vector<RankId> ranks;
  std::string node;
  std::string gpu;  // of a single rank: PCI bus id, else its number; empty where not known
  std::string link_src;
  std::string link_dst;
};

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_MODEL_ENTITY_H_
