// Answers the HTTP requests of fathom-cordon: what stands, metrics, and people's commands.
//
// Called by CordonServer on its threads, and by tests without a socket.
//
//   GET  /api/v1/actions, /api/v1/plan, /metrics, /healthz, /readyz
//   POST /api/v1/actions/ID/approve, /api/v1/actions/ID/undo      Authorization: Bearer TOKEN
//   POST /api/v1/pause, /api/v1/resume, /api/v1/reset             body: {"reason": "…"}
//
// A POST is for operators; what is read, but for health, for viewers where open_reading is off.
//
// Thread-safety: thread-safe. Ownership: refers to the login, and to the actuator, which comes with
// Activate and must outlive it; before that this is a standby: it answers health, metrics and 503.
// Errors: JSON {"error"} with 400, 401, 403, 404, 405, 409, 429, 503.
#ifndef FATHOM_COLLECTOR_CORDON_SERVE_CORDON_API_H_
#define FATHOM_COLLECTOR_CORDON_SERVE_CORDON_API_H_

#include <atomic>
#include <string>

#include "collector/cordon/actuator.h"
#include "collector/http/login.h"
#include "collector/http/request.h"

namespace fathom::cordon {

struct CordonRequest {
  collector::Request line;
  collector::Credentials who;
};

class CordonApi {
 public:
  CordonApi(std::string backend, collector::Login& login)
      : backend_(std::move(backend)), login_(login) {}

  void Activate(Actuator& actuator) { actuator_ = &actuator; }
  collector::Response Answer(const CordonRequest& request) const;

 private:
  collector::Response Change(Actuator& actuator, const CordonRequest& request,
                             const std::string& person) const;
  collector::Response Actions(const Actuator& actuator) const;
  collector::Response Plan(const Actuator& actuator) const;
  collector::Response Ready(const Actuator* actuator) const;
  std::string Metrics(const Actuator* actuator) const;

  const std::string backend_;
  collector::Login& login_;
  std::atomic<Actuator*> actuator_{nullptr};
};

}  // namespace fathom::cordon

#endif  // FATHOM_COLLECTOR_CORDON_SERVE_CORDON_API_H_
