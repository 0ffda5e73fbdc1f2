#include "collector/kubernetes/api_client.h"

#include <algorithm>

#include "collector/http/remote_call.h"
#include "collector/net/redacted.h"

namespace fathom::kubernetes {
namespace {

constexpr char kPatch[] = "application/json-patch+json";

// Whatever a look before a change met, nothing has been changed.
absl::Status NotChanged(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kAborted:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnauthenticated:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kResourceExhausted:
      return status;
    default:
      return absl::FailedPreconditionError(std::string(status.message()));
  }
}

}  // namespace

absl::StatusOr<std::string> ApiClient::Send(const std::string& method, const std::string& path,
                                            const std::string& type, const std::string& body) {
  if (not_before_.known() && now_() < not_before_) {
    return absl::ResourceExhaustedError("the API server asked to be left alone for a while");
  }
  collector::HttpCall call{method, options_.server + path, {}, body, kTimeout};
  if (!type.empty()) call.headers.push_back("Content-Type: " + type);
  call.headers.push_back("Accept: application/json");
  call.headers.push_back("User-Agent: " + options_.agent);
  if (auto status = collector::AddBearer(options_.token_file, call.headers); !status.ok())
    return status;
  const auto answer = transport_.Send(call);
  if (!answer.ok()) return answer.status();
  if (answer->retry_after_s > 0 && (answer->status == 429 || answer->status == 503)) {
    not_before_ = now_() + Nanos::FromSeconds(std::min(answer->retry_after_s, kMaxWait.Seconds()));
  }
  const std::string said = collector::Redacted(answer->body, options_.server, call.headers);
  if (auto status = collector::StatusOfHttp(answer->status, said); !status.ok()) return status;
  return answer->body;
}

absl::StatusOr<std::string> ApiClient::Change(const std::string& path, const PatchOf& patch_of,
                                              const std::string& query) {
  for (int left = kTries;; --left) {
    const auto before = Send("GET", path);
    if (!before.ok()) return NotChanged(before.status());
    const auto patch = patch_of(*before);
    if (!patch.ok()) return patch.status();
    auto done = Send("PATCH", path + query, kPatch, *patch);
    if (done.ok()) return done;
    const bool raced = absl::IsAborted(done.status()) || absl::IsFailedPrecondition(done.status());
    if (!raced || left == 1) return done.status();
  }
}

}  // namespace fathom::kubernetes
