// A collector for tests: takes agents' streams on port 0, remembers every message, can refuse, hold
// back acknowledgements, ask for rows, die and come back on the same port.
//
// Used by tests/daemon/agent. Thread-safety: thread-safe. Ownership: owns the server; the
// destructor shuts it down at once.
#ifndef FATHOM_TESTS_FAKES_FAKE_COLLECTOR_H_
#define FATHOM_TESTS_FAKES_FAKE_COLLECTOR_H_

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fathom/v1/agent.grpc.pb.h"

namespace fathom::fakes {

class FakeCollector : private v1::AgentService::Service {
 public:
  FakeCollector() = default;
  ~FakeCollector() override { Kill(); }

  // Listens; port 0 picks one. The second Start takes the port of the first.
  void Start();
  void Kill();
  std::string target() const;

  void RefuseWith(const std::string& why);
  void HoldAcknowledgements(bool hold);
  // Of streams that begin from now on.
  void WantOpsOf(const std::string& jobs);

  // Sends the request on every open stream.
  void Ask(const v1::RowsRequest& request);

  // Waits until `enough` holds for the messages so far; false after ten seconds.
  using Messages = std::vector<v1::AgentMessage>;
  bool WaitFor(const std::function<bool(const Messages&)>& enough);
  Messages messages();
  void Forget();
  std::size_t streams();

 private:
  using Stream = grpc::ServerReaderWriter<v1::CollectorMessage, v1::AgentMessage>;
  grpc::Status Connect(grpc::ServerContext* context, Stream* stream) override;
  void Reply(Stream* stream, const v1::AgentMessage& message);

  std::unique_ptr<grpc::Server> server_;
  int port_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  Messages messages_;
  std::set<Stream*> open_;
  std::size_t streams_ = 0;
  std::string refusal_;
  std::string ops_wanted_;
  bool hold_ = false;
};

}  // namespace fathom::fakes

#endif  // FATHOM_TESTS_FAKES_FAKE_COLLECTOR_H_
