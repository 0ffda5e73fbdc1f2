// What every server of agents bounds, and how one turns a stream away.
//
// Used by AgentService, whose port is reached over the network, and LocalPort. Included by their
// sources only (gRPC headers). Values and reasons: docs/design/0016-the-port-of-agents.md.
// Thread-safety: StreamCount is called on gRPC's threads. Errors: none.
#ifndef FATHOM_COLLECTOR_INGEST_PORT_BOUNDS_H_
#define FATHOM_COLLECTOR_INGEST_PORT_BOUNDS_H_

#include <grpcpp/grpcpp.h>
#include <grpcpp/support/server_interceptor.h>

#include <functional>
#include <string>

#include "fathom/v1/agent.grpc.pb.h"

namespace fathom::collector {

class Refusal final : public grpc::ServerBidiReactor<v1::AgentMessage, v1::CollectorMessage> {
 public:
  Refusal(grpc::StatusCode code, const std::string& why) { Finish({code, why}); }
  void OnDone() override { delete this; }
};

// Told of every stream that begins, of whatever service.
class StreamCount final : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  explicit StreamCount(std::function<void(const std::string& peer)> count)
      : count_(std::move(count)) {}
  grpc::experimental::Interceptor* CreateServerInterceptor(
      grpc::experimental::ServerRpcInfo* info) override {
    count_(info->server_context()->peer());
    return nullptr;
  }

 private:
  const std::function<void(const std::string& peer)> count_;
};

// Gives gRPC a connection that a door of ours let in.
void HandOver(grpc::experimental::ExternalConnectionAcceptor& acceptor, int fd, int listener);

// Sizes of messages, streams at once, handshake, pings, memory; `count`, if there is one, hears of
// each stream as it begins to be served.
void SetBounds(grpc::ServerBuilder& builder, std::function<void(const std::string& peer)> count);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_INGEST_PORT_BOUNDS_H_
