// Counts what answering requests costs, beside the answers themselves.
//
// Put by Collector between HttpServer and whoever answers. Model: requests of the metrics, those
// whose answers hold much of a job (reports, recordings, ops), and all others are parts of the
// collector's work each (budget/centre_work.h). Thread-safety: thread-safe. Ownership: refers to
// both, which outlive it. Errors: none of its own. Cost: that of a Doing.
#ifndef FATHOM_COLLECTOR_API_PLAN_METERED_ANSWERS_H_
#define FATHOM_COLLECTOR_API_PLAN_METERED_ANSWERS_H_

#include <string>
#include <vector>

#include "collector/budget/centre_work.h"
#include "collector/http/answerer.h"

namespace fathom::collector {

class MeteredAnswers final : public Answerer {
 public:
  MeteredAnswers(const Answerer& answers, CentreWork& work) : answers_(answers), work_(work) {}

  Response Answer(const Request& request) const override;
  std::vector<std::string> JobObjects(const std::string& job) const override;

 private:
  const Answerer& answers_;
  CentreWork& work_;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_API_PLAN_METERED_ANSWERS_H_
