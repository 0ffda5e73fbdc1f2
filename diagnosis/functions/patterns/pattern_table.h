// The patterns of all ranks as one table, with who is not as they should be.
//
// Made for `fathom analyze --tables`, of traces. docs/rules/patterns.md, docs/formats/tables.md.
//
// Model: a function is the same on two ranks by class, name, file and line. Utilisation of
// collectives and copies comes as bytes a ns, and is divided by the best that any rank shows of the
// function, so that it lies between 0 and 1. Then functions/patterns/localise, function by
// function.
//
// Thread-safety: pure. Errors: none. Cost: that of functions/patterns/localise.
#ifndef FATHOM_DIAGNOSIS_FUNCTIONS_PATTERNS_PATTERN_TABLE_H_
#define FATHOM_DIAGNOSIS_FUNCTIONS_PATTERNS_PATTERN_TABLE_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "diagnosis/functions/patterns/patterns.h"
#include "proto/types/ids.h"

namespace fathom::diagnosis {

struct NamedPattern {
  std::string function;
  std::string file;
  std::uint32_t line = 0;
  FunctionPattern pattern;
};

using RankPatterns = std::map<RankId, std::vector<NamedPattern>>;

struct PatternRow {
  RankId rank;
  NamedPattern of;
  double distance = 0;        // D
  std::uint32_t differs = 0;  // Δ
  bool odd = false;
};

// Odd ones first, by β; at most `most` rows.
std::vector<PatternRow> PatternTable(const RankPatterns& ranks, std::size_t most);

// "compute", "memory", "collective", "host".
std::string_view ClassName(FunctionClass of);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_FUNCTIONS_PATTERNS_PATTERN_TABLE_H_
