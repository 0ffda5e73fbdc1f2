// The part of Api that changes what is traced: jobs/JOB/trace, jobs/JOB/stacks, jobs/JOB/capture.
#include "collector/api/api.h"
#include "collector/api/trace_json.h"
#include "collector/evaluate/hand_capture_json.h"

namespace fathom::collector {
namespace {

Response Refused(const absl::Status& status) {
  const int code = absl::IsInvalidArgument(status)     ? 400
                   : absl::IsResourceExhausted(status) ? 429
                                                       : 409;
  return Response::Error(code, std::string(status.message()));
}

}  // namespace

Response Api::Trace(JobState& job, const Request& request) const {
  if (request.method != "POST") return Response::Json(TraceJson(job));
  if (auto refused = RefusedUnlessJson(request)) return *std::move(refused);
  const auto wish = ParseSwitch(request);
  if (!wish.ok()) return Refused(wish.status());
  if (!parts_.trace) return Response::Error(503, "this collector switches nothing");
  const absl::Status asked = parts_.trace(job, *wish);
  return asked.ok() ? Response::Json(TraceJson(job)) : Refused(asked);
}

Response Api::Stacks(JobState& job, const Request& request) const {
  if (request.method != "POST") return Response::Json(StacksJson(job));
  if (auto refused = RefusedUnlessJson(request)) return *std::move(refused);
  const auto ranks = ParseRanks(request.Text("ranks"));
  if (!ranks) return Response::Error(400, "ranks is a list like 0,3,5");
  if (!parts_.stacks) return Response::Error(503, "this collector reads no stacks");
  const absl::Status asked = parts_.stacks(job, *ranks);
  return asked.ok() ? Response::Json(StacksJson(job)) : Refused(asked);
}

Response Api::Capture(const JobState& job, const Request& request) const {
  if (parts_.captures == nullptr) {
    return Response::Error(503, "this collector captures no stacks");
  }
  const bool stacks = request.Text("stacks") == "1";
  if (request.method != "POST") {
    return Response::Json(CaptureJson(job.name(), parts_.captures->Read(job), stacks));
  }
  if (auto refused = RefusedUnlessJson(request)) return *std::move(refused);
  auto ranks = ParseRanks(request.Text("ranks"));
  if (!ranks) return Response::Error(400, "ranks is a list like 0,3,5");
  const auto wish = ParseCapture(request, *std::move(ranks));
  if (!wish.ok()) return Refused(wish.status());
  const absl::Status asked = parts_.captures->Ask(job, *wish, request.person.name);
  if (!asked.ok()) return Refused(asked);
  return Response::Json(CaptureJson(job.name(), parts_.captures->Read(job), stacks));
}

}  // namespace fathom::collector
