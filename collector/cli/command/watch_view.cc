#include "collector/cli/command/watch_view.h"

#include <utility>

#include "collector/cli/render/lists.h"
#include "collector/cli/render/quantity.h"
#include "collector/cli/report/verdict_card.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

std::string JobLine(const Json& job) {
  const std::int64_t iteration = IntField(job, "iteration", -1);
  const double duration = NumberField(job, "iteration_s");
  return Cat("fathom: job ", TextField(job, "name"), " ", TextField(job, "state"),
             iteration >= 0 ? Cat(", iteration ", iteration) : "",
             duration > 0 ? Cat(", ", Seconds(duration), " an iteration") : "", ", ",
             IntField(job, "ranks"), " ranks\n");
}

}  // namespace

WatchView::WatchView(Terminal terminal, std::string job)
    : terminal_(terminal), job_(std::move(job)), narrator_(terminal) {}

std::string WatchView::OnJob(const Json& job) {
  const std::string name = TextField(job, "name");
  if (name.empty() || (!job_.empty() && name != job_)) return "";
  const auto found = jobs_.find(name);
  const bool changed =
      found == jobs_.end() || TextField(found->second, "state") != TextField(job, "state");
  jobs_.insert_or_assign(name, job);
  return changed ? JobLine(job) : "";
}

std::string WatchView::OnVerdict(const Json& verdict) {
  const VerdictView view = ReadVerdict(verdict);
  if (!job_.empty() && !view.job.empty() && view.job != job_) return "";
  verdicts_.insert_or_assign(view.id, verdict);
  culprit_found_ = culprit_found_ || view.Convicts();
  return narrator_.OnVerdict(view);
}

std::string WatchView::Frame(std::int64_t now_unix_ns) const {
  Json jobs = Json::array();
  for (const auto& [name, job] : jobs_) jobs.push_back(job);
  std::string out =
      jobs.empty() ? "no jobs yet\n" : JobsTable(jobs, {terminal_, false, now_unix_ns});
  for (const auto& [id, verdict] : verdicts_) {
    const VerdictView view = ReadVerdict(verdict);
    if (!view.closed) AppendTo(&out, "\n", VerdictCard(view, terminal_, ""));
  }
  return out;
}

bool WatchView::ended() const {
  const auto found = jobs_.find(job_);
  return found != jobs_.end() && TextField(found->second, "state") == "ended";
}

}  // namespace fathom::cli
