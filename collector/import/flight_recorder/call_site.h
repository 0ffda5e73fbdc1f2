// Where the program called an op: the innermost frame of an entry that is not PyTorch's own.
//
// Used by dump.cc. "reduce_loss (train.py:175)". Frames come innermost first and are bounded: of
// more than kMostFrames the rest is not looked at, and long names are cut. Pure; empty where the
// entry has no frames or only PyTorch's.
#ifndef FATHOM_COLLECTOR_IMPORT_FLIGHT_RECORDER_CALL_SITE_H_
#define FATHOM_COLLECTOR_IMPORT_FLIGHT_RECORDER_CALL_SITE_H_

#include <cstddef>
#include <string>

#include "collector/import/flight_recorder/value.h"

namespace fathom::collector::flight_recorder {

inline constexpr std::size_t kMostFrames = 64;
inline constexpr std::size_t kMostNameBytes = 120;

// `frames`: entries[].frames; null: not there.
std::string CallSite(const Value* frames);

}  // namespace fathom::collector::flight_recorder

#endif  // FATHOM_COLLECTOR_IMPORT_FLIGHT_RECORDER_CALL_SITE_H_
