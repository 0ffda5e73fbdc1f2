#include "collector/ingest/port_bounds.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <memory>
#include <utility>
#include <vector>

#include "collector/admission/limits.h"

namespace fathom::collector {
namespace {

// A node that vanished is noticed within ten seconds: nothing is heard of it for the first of
// these, and its kernel does not acknowledge what it is asked then within the second. An agent that
// is there may take its time, on a machine that is full as well: a collector that cuts off those
// that it reads too slowly itself would only have them all come again.
constexpr int kKeepaliveMs = 5'000;
constexpr unsigned kUnacknowledgedMs = 4'000;
constexpr int kKeepaliveTimeoutMs = 60'000;
constexpr int kHandshakeMs = 10'000;
constexpr int kStreamsAtOnce = 4;  // of a connection; an agent has one
constexpr std::size_t kBufferBytes = 512u << 20;

}  // namespace

void SetBounds(grpc::ServerBuilder& builder, std::function<void(const std::string& peer)> count) {
  if (count) {
    std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>> counts;
    counts.push_back(std::make_unique<StreamCount>(std::move(count)));
    builder.experimental().SetInterceptorCreators(std::move(counts));
  }
  builder.SetMaxReceiveMessageSize(static_cast<int>(kMaxMessageBytes));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kStreamsAtOnce);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 5'000);
  grpc::ResourceQuota quota("agents");
  quota.Resize(kBufferBytes);
  builder.SetResourceQuota(quota);
}

void HandOver(grpc::experimental::ExternalConnectionAcceptor& acceptor, int fd, int listener) {
  // A socket of this machine has no such option, and needs none.
  setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &kUnacknowledgedMs, sizeof(kUnacknowledgedMs));
  grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
  connection.fd = fd;
  connection.listener_fd = listener;
  acceptor.HandleNewConnection(&connection);
}

}  // namespace fathom::collector
