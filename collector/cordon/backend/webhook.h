// Holds nodes back through somebody's own service: three requests in plain JSON.
//
//   GET  URL/nodes            {"nodes":[{"name","withheld","healthy","owner","note","rack",
//                                        "partitions":[…]}]}
//   POST URL/hold             {"node","action","cause","verdict","sentence"}
//   POST URL/release          {"node","action"}
//
// 2xx: done. 409: not free, or no longer ours. 401, 403, 404, 422, 429: certainly not done. Any
// other status or no answer: not known. The service does the compare-and-set on `owner`.
// Thread-safety, errors: see backend.h. An answer of GET that cannot be read is an error, never an
// empty list.
#ifndef FATHOM_COLLECTOR_CORDON_BACKEND_WEBHOOK_H_
#define FATHOM_COLLECTOR_CORDON_BACKEND_WEBHOOK_H_

#include <string>
#include <string_view>

#include "collector/cordon/backend/backend.h"
#include "collector/net/http_transport.h"

namespace fathom::cordon {

class WebhookBackend final : public Backend {
 public:
  // `token_file` may be empty; it is read at each request.
  WebhookBackend(std::string url, std::string token_file, collector::HttpTransport& transport)
      : url_(std::move(url)), token_file_(std::move(token_file)), transport_(transport) {}

  absl::Status Nodes(std::map<std::string, NodeFact>& nodes) override;
  absl::Status HoldBack(const Hold& hold) override;
  absl::Status Release(const std::string& node, const std::string& action) override;
  std::string HoldCommand(const Hold& hold) const override;

 private:
  absl::StatusOr<collector::HttpAnswer> Send(const std::string& method, const std::string& path,
                                             const std::string& body) const;
  absl::Status Post(const std::string& path, const std::string& body) const;

  const std::string url_;
  const std::string token_file_;
  collector::HttpTransport& transport_;
};

// Errors: InvalidArgument with what is wrong.
absl::Status ReadWebhookNodes(std::string_view json, std::map<std::string, NodeFact>& nodes);

}  // namespace fathom::cordon

#endif  // FATHOM_COLLECTOR_CORDON_BACKEND_WEBHOOK_H_
