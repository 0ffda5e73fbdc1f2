// Who answers requests, as HttpServer sees it: the API of this collector, or of a cluster of them.
//
// Implemented by api/Api and cluster/PeerApi. Thread-safety: thread-safe. Errors: in the Response.
#ifndef FATHOM_COLLECTOR_HTTP_ANSWERER_H_
#define FATHOM_COLLECTOR_HTTP_ANSWERER_H_

#include <string>
#include <vector>

#include "collector/http/request.h"

namespace fathom::collector {

class Answerer {
 public:
  virtual ~Answerer() = default;
  virtual Response Answer(const Request& request) const = 0;
  // Job objects as they stand now, for a new listener; of all jobs when `job` is empty.
  virtual std::vector<std::string> JobObjects(const std::string& job) const = 0;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_HTTP_ANSWERER_H_
