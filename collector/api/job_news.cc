#include "collector/api/job_news.h"

#include "collector/api/job_json.h"
#include "collector/export/report.h"
#include "collector/export/verdict_proto.h"
#include "fathom/v1/report.pb.h"

namespace fathom::collector {
namespace {

std::string IterationsNews(const std::string& job, std::int64_t last) {
  JsonWriter json;
  json.BeginObject().Field("job", job).Field("last", last).EndObject();
  return json.Take();
}

}  // namespace

void JobNews::Looked(const std::string& name, const VerdictLedger& ledger) {
  if (!hub_.wanted()) return;
  const Doing telling(work_, CentrePart::kNews);
  const auto job = jobs_.Find(name);
  if (job == nullptr) return;
  const JobFigures figures = job->Figures();
  const auto episodes = ledger.Of(name);
  JsonWriter json;
  json.BeginObject();
  WriteJob(figures, episodes, json);
  const std::string object = json.EndObject().Take();
  std::string headline(JobStateName(figures, episodes));
  if (!episodes.empty()) headline += episodes.front().id + episodes.front().verdict.sentence;

  const service::MutexLock lock(mutex_);
  Told& told = told_[name];
  const bool due = clock_.Mono() - told.at >= GapOf(work_, CentreKnob::kNews);
  if (due || told.headline != headline) {
    hub_.Publish("job", name, object);
    told.headline = headline;
    told.at = clock_.Mono();
  }
  if (figures.iteration != told.iteration) {
    hub_.Publish("iterations", name, IterationsNews(name, figures.iteration));
    told.iteration = figures.iteration;
  }
  std::erase_if(told_, [this](const auto& entry) { return !jobs_.Find(entry.first); });
}

void JobNews::Verdict(const Episode& episode) {
  v1::Verdict message;
  ToProto(episode, message);
  hub_.Publish("verdict", episode.job, ToJson(message));
}

}  // namespace fathom::collector
