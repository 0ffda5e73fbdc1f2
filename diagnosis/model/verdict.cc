#include "diagnosis/model/verdict.h"

namespace fathom::diagnosis {

std::string_view ToString(Grade grade) {
  switch (grade) {
    case Grade::kUnknown:
      return "unknown";
    case Grade::kHypothesis:
      return "hypothesis";
    case Grade::kSupported:
      return "supported";
    case Grade::kEstablished:
      return "established";
  }
  return "unknown";
}

std::string_view ToString(Cause cause) {
  switch (cause) {
    case Cause::kUnknown:
      return "unknown";
    case Cause::kComputeSlow:
      return "compute_slow";
    case Cause::kHostSlow:
      return "host_slow";
    case Cause::kGc:
      return "gc";
    case Cause::kDataLoader:
      return "dataloader";
    case Cause::kMemorySlow:
      return "memory_slow";
    case Cause::kLinkSlow:
      return "link_slow";
    case Cause::kCommunicationSlow:
      return "communication_slow";
    case Cause::kCommunicationHang:
      return "communication_hang";
    case Cause::kNonCommunicationHang:
      return "noncommunication_hang";
    case Cause::kMismatch:
      return "mismatch";
    case Cause::kProcessStopped:
      return "process_stopped";
    case Cause::kProcessDead:
      return "process_dead";
    case Cause::kImbalance:
      return "imbalance";
    case Cause::kRegression:
      return "regression";
  }
  return "unknown";
}

std::string_view ToString(ProblemClass problem) {
  switch (problem) {
    case ProblemClass::kNone:
      return "none";
    case ProblemClass::kCommunicationHang:
      return "communication_hang";
    case ProblemClass::kCommunicationSlow:
      return "communication_slow";
    case ProblemClass::kNonCommunicationHang:
      return "noncommunication_hang";
    case ProblemClass::kNonCommunicationSlow:
      return "noncommunication_slow";
  }
  return "none";
}

std::string_view ToString(EntityType type) {
  switch (type) {
    case EntityType::kRank:
      return "rank";
    case EntityType::kGpu:
      return "gpu";
    case EntityType::kHost:
      return "host";
    case EntityType::kNic:
      return "nic";
    case EntityType::kLink:
      return "link";
    case EntityType::kSwitch:
      return "switch";
    case EntityType::kGroup:
      return "group";
    case EntityType::kStage:
      return "stage";
    case EntityType::kJob:
      return "job";
  }
  return "rank";
}

std::string_view ToString(Owner owner) {
  switch (owner) {
    case Owner::kOperations:
      return "operations";
    case Owner::kInfrastructure:
      return "infrastructure";
    case Owner::kAlgorithm:
      return "algorithm";
  }
  return "operations";
}

}  // namespace fathom::diagnosis
