// What a comparison of two recordings means, in words and as a verdict.
//
// Used by collector/import/analysis after Compare(). A verdict names the job, never a device: two
// recordings tell that something changed, not who did.
// Thread-safety: pure functions. Errors: none; where nothing can be told, an abstention.
#ifndef FATHOM_DIAGNOSIS_TABLES_COMPARISON_VERDICT_H_
#define FATHOM_DIAGNOSIS_TABLES_COMPARISON_VERDICT_H_

#include <string>
#include <string_view>

#include "diagnosis/model/verdict.h"
#include "diagnosis/tables/comparison.h"

namespace fathom::diagnosis {

// "slower", "faster", "same", "unrelated", "unknown".
std::string_view ToString(Outcome outcome);

// What changed, or why that cannot be told.
std::string SentenceOf(const Comparison& comparison);

// Adds a verdict of cause regression where the job is slower, an abstention where that cannot be
// told.
void JudgeComparison(const Comparison& comparison, const JobTables& after, Diagnosis& diagnosis);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_TABLES_COMPARISON_VERDICT_H_
