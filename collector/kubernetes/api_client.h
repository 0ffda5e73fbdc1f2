// Speaks to a Kubernetes API server, and changes one object so that nobody else's change is lost.
//
// Used by the Kubernetes back-ends of fathom-cordon and of `fathom recover`. Model: a change is a
// JSON patch that tests what was read (SameObject), so that it applies to the object as it was read
// and to no other state of it: 409 and 422 mean that somebody was faster; then the object is read
// and judged anew, kTries times at most. A server that says Retry-After (429, 503) is not asked
// again before, for kMaxWait at most.
//
// Thread-safety: single-threaded. Ownership: refers to the transport. Errors: those of StatusOfHttp
// and of the transport: after Unavailable or DeadlineExceeded of a change it is not known whether
// it was made. Cost: at most kTimeout a request.
#ifndef FATHOM_COLLECTOR_KUBERNETES_API_CLIENT_H_
#define FATHOM_COLLECTOR_KUBERNETES_API_CLIENT_H_

#include <absl/status/statusor.h>

#include <functional>
#include <string>

#include "collector/net/http_transport.h"
#include "proto/types/time_units.h"

namespace fathom::kubernetes {

class ApiClient {
 public:
  struct Options {
    std::string server;      // https://HOST:PORT
    std::string token_file;  // read at each request; empty: the transport proves who we are
    std::string agent;       // what the server's audit log calls us
  };
  // From the object as it is now to the patch that changes it; an error: it must not be changed.
  using PatchOf = std::function<absl::StatusOr<std::string>(const std::string& object)>;

  static constexpr int kTries = 3;
  static constexpr Nanos kMaxWait{60'000'000'000};
  static constexpr double kTimeout = 10;  // seconds
  static constexpr char kStrategic[] = "application/strategic-merge-patch+json";

  ApiClient(Options options, collector::HttpTransport& transport, std::function<MonoNs()> now)
      : options_(std::move(options)), transport_(transport), now_(std::move(now)) {}

  // The body of the answer. `type`: of the body; empty: there is none.
  absl::StatusOr<std::string> Send(const std::string& method, const std::string& path,
                                   const std::string& type = "", const std::string& body = "");
  // The object after the change. `query`: "?dryRun=All" judges the patch and changes nothing.
  absl::StatusOr<std::string> Change(const std::string& path, const PatchOf& patch_of,
                                     const std::string& query = "");

 private:
  const Options options_;
  collector::HttpTransport& transport_;
  const std::function<MonoNs()> now_;
  MonoNs not_before_;  // unknown: no wait was asked for
};

}  // namespace fathom::kubernetes

#endif  // FATHOM_COLLECTOR_KUBERNETES_API_CLIENT_H_
