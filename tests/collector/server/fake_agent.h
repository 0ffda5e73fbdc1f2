// An agent as the collector sees one: a gRPC client that says hello, sends what it is told to and
// answers requests for rows and for windows of detail.
//
// Used by the server tests. Only the .cc sees gRPC.
// Thread-safety: Send and Wait from the test's thread; a reader thread answers requests.
// Ownership: the answering functions are the agent's. Errors: Send gives false once the
// stream is over.
#ifndef FATHOM_TESTS_COLLECTOR_SERVER_FAKE_AGENT_H_
#define FATHOM_TESTS_COLLECTOR_SERVER_FAKE_AGENT_H_

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "fathom/v1/agent.pb.h"

namespace fathom::collector {

class FakeAgent {
 public:
  using Answer = std::function<std::optional<v1::RowsReply>(const v1::RowsRequest&)>;

  using WindowAnswer = std::function<v1::RankWindow(std::uint32_t rank)>;

  FakeAgent(int port, std::string node, Answer answer = nullptr, WindowAnswer window = nullptr);
  ~FakeAgent();

  // Numbers the message itself. False: the stream is over.
  bool Send(v1::AgentMessage message);
  void Hello(std::uint32_t protocol = 1);
  // Waits until everything sent was acknowledged. False: not within ten seconds.
  bool WaitAcknowledged();
  // Waits for the answer to Hello: what it says in `refused`. Nothing: none within ten seconds.
  std::optional<std::string> WaitGreeting();
  bool WaitOver();  // the collector ended the stream
  int requests() const;

  // An Answer: of each rank and iteration that is asked for, one op.
  static std::optional<v1::RowsReply> AnOpOfEach(const v1::RowsRequest& request);
  // What the health service answers: SERVING.
  static bool Serving(int port);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fathom::collector

#endif  // FATHOM_TESTS_COLLECTOR_SERVER_FAKE_AGENT_H_
