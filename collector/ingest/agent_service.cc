#include "collector/ingest/agent_service.h"

#include <absl/strings/str_cat.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/security/tls_credentials_options.h>

#include <chrono>
#include <utility>

#include "collector/admission/limits.h"
#include "collector/ingest/agent_stream.h"
#include "collector/net/listen_probe.h"

namespace fathom::collector {
namespace {

constexpr int kKeepaliveMs = 20'000;  // a node that vanished is noticed within half a minute
constexpr int kKeepaliveTimeoutMs = 10'000;
constexpr std::size_t kBufferBytes = 512u << 20;

constexpr unsigned kTlsRefresh_s = 10;

std::shared_ptr<grpc::ServerCredentials> Credentials(const service::TlsFiles& tls) {
  if (!tls.on()) return grpc::InsecureServerCredentials();
  grpc::experimental::TlsServerCredentialsOptions options(
      std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(
          tls.key_file, tls.cert_file, tls.peer_ca_file, kTlsRefresh_s));
  options.watch_identity_key_cert_pairs();
  options.set_cert_request_type(GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE);
  if (!tls.peer_ca_file.empty()) {
    options.watch_root_certs();
    options.set_cert_request_type(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  }
  return grpc::experimental::TlsServerCredentials(options);
}

class Refusal final : public grpc::ServerBidiReactor<v1::AgentMessage, v1::CollectorMessage> {
 public:
  Refusal(grpc::StatusCode code, const std::string& why) { Finish({code, why}); }
  void OnDone() override { delete this; }
};

}  // namespace

class AgentService::Impl final : public v1::AgentService::CallbackService {
 public:
  Impl(IngestContext& context, const AgentServiceOptions& options)
      : context_(context), options_(options) {}

  ~Impl() override {
    if (server_) server_->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(2));
  }

  grpc::ServerBidiReactor<v1::AgentMessage, v1::CollectorMessage>* Connect(
      grpc::CallbackServerContext* call) override {
    if (streams_ >= options_.max_streams) {
      return Refuse(grpc::StatusCode::RESOURCE_EXHAUSTED, "too many agents");
    }
    if (options_.tls.peer_ca_file.empty()) {
      const absl::Status believed = options_.local_agents.Check(PeerOfGrpc(call->peer(), port_));
      if (!believed.ok()) {
        return Refuse(grpc::StatusCode::PERMISSION_DENIED, std::string(believed.message()));
      }
    }
    return new AgentStream(next_id_++, context_, options_.version, streams_);
  }

  absl::Status Start() {
    if (auto status = ProbeListen(options_.address, "agents (gRPC)", "--grpc"); !status.ok()) {
      return status;
    }
    grpc::EnableDefaultHealthCheckService(true);
    if (options_.reflection) grpc::reflection::InitProtoReflectionServerBuilderPlugin();
    grpc::ServerBuilder builder;
    Configure(builder);
    server_ = builder.BuildAndStart();
    if (server_ && port_ != 0) return absl::OkStatus();
    return absl::UnavailableError(absl::StrCat("cannot listen on ", options_.address,
                                               " for agents (gRPC); choose another with --grpc"));
  }

  void SetServing(bool serving) {
    if (auto* health = server_->GetHealthCheckService()) health->SetServingStatus(serving);
  }

  int port() const { return port_; }
  std::size_t streams() const { return streams_; }

 private:
  Refusal* Refuse(grpc::StatusCode code, const std::string& why) {
    // The first of each kind is told, so that nobody can fill the log.
    if (context_.counters.streams_refused++ == 0 && context_.on_refused) {
      context_.on_refused(absl::StrCat("an agent's stream is refused: ", why));
    }
    return new Refusal(code, why);
  }

  void Configure(grpc::ServerBuilder& builder) {
    builder.AddListeningPort(options_.address, Credentials(options_.tls), &port_);
    builder.RegisterService(this);
    builder.SetMaxReceiveMessageSize(static_cast<int>(kMaxMessageBytes));
    // Without this a second collector would silently share the port.
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, 16);
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 5'000);
    grpc::ResourceQuota quota("agents");
    quota.Resize(kBufferBytes);
    builder.SetResourceQuota(quota);
  }

  IngestContext& context_;
  const AgentServiceOptions options_;
  std::atomic<std::uint64_t> next_id_{1};
  std::atomic<std::size_t> streams_{0};
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

AgentService::AgentService(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
AgentService::~AgentService() = default;

absl::StatusOr<std::unique_ptr<AgentService>> AgentService::Start(
    const AgentServiceOptions& options, IngestContext& context) {
  auto impl = std::make_unique<Impl>(context, options);
  if (auto status = impl->Start(); !status.ok()) return status;
  return std::unique_ptr<AgentService>(new AgentService(std::move(impl)));
}

int AgentService::port() const { return impl_->port(); }
std::size_t AgentService::streams() const { return impl_->streams(); }
void AgentService::SetServing(bool serving) { impl_->SetServing(serving); }

}  // namespace fathom::collector
