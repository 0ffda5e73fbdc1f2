// The real trace that the tests of this folder look at and change, and the figures that its authors
// publish for it.
//
// Found through FATHOM_DATA_DIR, else ../shared/data beside the source tree; tests skip where it is
// absent. Thread-safety: none needed.
#ifndef FATHOM_TESTS_COLLECTOR_IMPORT_NDTIMELINE_REAL_TRACE_H_
#define FATHOM_TESTS_COLLECTOR_IMPORT_NDTIMELINE_REAL_TRACE_H_

#include <map>
#include <string>

#include "collector/import/reading/recording.h"
#include "diagnosis/model/schedule_trace.h"
#include "diagnosis/model/verdict.h"

namespace fathom::collector::ndtimeline {

std::string DataPath(const std::string& name);
bool HaveRealTrace();

// Of trace-ST.parquet. Requires: HaveRealTrace().
diagnosis::ScheduleTrace RealTrace();

// What diagnosis says of a job with that schedule, as `fathom analyze` asks.
diagnosis::Diagnosis DiagnosisOf(const diagnosis::ScheduleTrace& trace);

// "grade cause type rank…" of each verdict, joined by "; ". "" where there is none.
std::string Summary(const diagnosis::Diagnosis& diagnosis);

// The number behind `"key":` in a JSON file of the authors; NaN where there is none.
double PublishedNumber(const std::string& file, const std::string& key);

// The numbers of the object behind `"key":`.
std::map<std::string, double> PublishedNumbers(const std::string& file, const std::string& key);

}  // namespace fathom::collector::ndtimeline

#endif  // FATHOM_TESTS_COLLECTOR_IMPORT_NDTIMELINE_REAL_TRACE_H_
