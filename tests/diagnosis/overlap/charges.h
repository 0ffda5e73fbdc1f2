// What a played job is charged with, as a collector would: by the rows of its iterations, and by
// their summaries.
//
// Used by overlap_test and overlap_table. Units: ms an iteration. Thread-safety: plain values.
#ifndef FATHOM_TESTS_DIAGNOSIS_OVERLAP_CHARGES_H_
#define FATHOM_TESTS_DIAGNOSIS_OVERLAP_CHARGES_H_

#include <string>

#include "tests/diagnosis/overlap/overlapped_job.h"

namespace fathom::diagnosis::testing {

struct Charges {
  double iteration_ms = 0;
  double healthy_ms = 0;  // without what is wrong
  double by_rows_ms = 0;  // the rank, or the slow pair
  double all_by_rows_ms = 0;
  double by_summaries_ms = 0;
  double all_by_summaries_ms = 0;
  std::string verdicts;  // "compute_slow 2, communication_slow group 2 3"
};

Charges ChargesOf(const OverlappedJob& job);

}  // namespace fathom::diagnosis::testing

#endif  // FATHOM_TESTS_DIAGNOSIS_OVERLAP_CHARGES_H_
