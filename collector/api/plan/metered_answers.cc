#include "collector/api/plan/metered_answers.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace fathom::collector {
namespace {

bool IsExport(const Request& request) {
  constexpr std::array<std::string_view, 3> kOfJob = {"report", "perfetto", "pictures"};
  const auto& at = request.segments;
  if (at.size() < 4) return false;
  return at[2] == "ops" || std::find(kOfJob.begin(), kOfJob.end(), at.back()) != kOfJob.end();
}

CentrePart PartOf(const Request& request) {
  if (request.path == "/metrics") return CentrePart::kScrapes;
  return IsExport(request) ? CentrePart::kExports : CentrePart::kAnswers;
}

}  // namespace

Response MeteredAnswers::Answer(const Request& request) const {
  const Doing answering(&work_, PartOf(request));
  return answers_.Answer(request);
}

std::vector<std::string> MeteredAnswers::JobObjects(const std::string& job) const {
  const Doing answering(&work_, CentrePart::kAnswers);
  return answers_.JobObjects(job);
}

}  // namespace fathom::collector
