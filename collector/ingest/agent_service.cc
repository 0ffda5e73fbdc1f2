#include "collector/ingest/agent_service.h"

#include <absl/strings/str_cat.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/security/tls_credentials_options.h>
#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <thread>
#include <utility>
#include <vector>

#include "collector/ingest/agent_stream.h"
#include "collector/ingest/certificate_witness.h"
#include "collector/ingest/local_port.h"
#include "collector/ingest/port_bounds.h"
#include "collector/net/door.h"
#include "collector/net/listen_probe.h"
#include "daemon/service/agent_socket.h"
#include "daemon/service/mutex.h"

namespace fathom::collector {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds kHelloWithin{10};
constexpr std::chrono::seconds kWatchEvery{2};
constexpr std::chrono::seconds kDoorPatience{2};
constexpr std::size_t kMostRemembered = 4096;
constexpr std::uint64_t kDescriptorsOfOthers = 256;  // files, HTTP, the store

constexpr std::uint64_t kManyStreams = 2000;  // in a turn of the watch
constexpr std::uint64_t kFewStreams = 100;    // likewise: it is over
constexpr int kTrims = 2;                     // the second for streams that took their time to end
constexpr std::size_t kShareOfSocket = 8;     // of connections; out of those of others

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

// The door holds two descriptors of a connection.
std::size_t MostConnections() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return DoorLimits().connections;
  const std::uint64_t all = std::min<std::uint64_t>(files.rlim_cur, 1u << 20);
  return (std::max(all, kDescriptorsOfOthers + 64) - kDescriptorsOfOthers) / 2;
}

}  // namespace

class AgentService::Impl final : public v1::AgentService::CallbackService {
 public:
  Impl(IngestContext& context, const AgentServiceOptions& options)
      : context_(context), options_(options) {}

  ~Impl() override {
    {
      const service::MutexLock lock(watch_mutex_);
      stop_ = true;
    }
    watch_wakes_.NotifyAll();
    if (watch_.joinable()) watch_.join();
    if (door_) door_->End();
    if (server_) server_->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(2));
    local_.reset();
  }

  grpc::ServerBidiReactor<v1::AgentMessage, v1::CollectorMessage>* Connect(
      grpc::CallbackServerContext* call) override {
    Peer peer = PeerOfGrpc(call->peer(), port());
    Door::Entrance entrance = door_->EntranceOf(peer);
    peer.server_address = std::move(entrance.server_address);
    if (entrance.serial == 0) {
      return new Refusal(grpc::StatusCode::UNAVAILABLE, "the connection is over");
    }
    if (streams_.size() >= options_.max_streams) {
      return Refuse(grpc::StatusCode::RESOURCE_EXHAUSTED, "too many agents");
    }
    absl::StatusOr<Witness> witness = WitnessOf(*call, entrance.serial, peer);
    if (!witness.ok()) {
      return Refuse(grpc::StatusCode::PERMISSION_DENIED, std::string(witness.status().message()));
    }
    auto* stream =
        new AgentStream(next_id_++, context_, *std::move(witness), options_.version, streams_);
    const bool certified = options_.tls.on() && !options_.tls.peer_ca_file.empty();
    if (certified || options_.local_agents.Tells(peer)) {
      stream->Authenticate();
    }
    return stream;
  }

  absl::Status Start() {
    grpc::EnableDefaultHealthCheckService(true);
    if (options_.reflection) grpc::reflection::InitProtoReflectionServerBuilderPlugin();
    if (!options_.address.empty()) {
      if (auto status = OpenPort(); !status.ok()) return status;
    }
    if (auto status = OpenLocal(); !status.ok()) return status;
    watch_ = std::thread([this] { Watch(); });
    return absl::OkStatus();
  }

  void SetServing(bool serving) {
    serving_ = serving;
    if (server_ == nullptr) return;
    if (auto* health = server_->GetHealthCheckService()) health->SetServingStatus(serving);
  }

  int port() const { return door_ ? door_->port() : 0; }
  std::string socket() const { return local_ ? local_->path() : ""; }
  std::size_t streams() const { return streams_.size(); }
  bool answers() const { return answers_; }

 private:
  absl::Status OpenPort() {
    if (auto status = ProbeListen(options_.address, "agents (gRPC)", "--grpc"); !status.ok()) {
      return status;
    }
    if (auto status = OpenDoor(); !status.ok()) return status;
    grpc::ServerBuilder builder;
    Configure(builder);
    server_ = builder.BuildAndStart();
    if (!server_) {
      return absl::UnavailableError(absl::StrCat("cannot serve agents (gRPC) on ", options_.address,
                                                 "; choose another with --grpc"));
    }
    door_->Begin([this](int fd, int listener) { HandOver(*acceptor_, fd, listener); });
    return absl::OkStatus();
  }

  // One that nobody asked for may be missing: agents come over loopback then.
  absl::Status OpenLocal() {
    std::string path = options_.socket;
    if (options_.socket_beside_port) {
      const std::string folder = service::AgentSocketFolder();
      if (!folder.empty()) path = absl::StrCat(folder, "/", service::AgentSocketName(port()));
    }
    if (path.empty()) return absl::OkStatus();
    auto local = LocalPort::Open(
        path, {context_, streams_, next_id_, options_.local_agents, options_.version,
               options_.max_streams, MostConnections() / kShareOfSocket,
               [this](const std::string& why) { Tell(context_.counters.connections_refused, why); },
               [this](const std::string& why) { Tell(context_.counters.connections_cut, why); },
               [this] { ++begun_; }});
    if (local.ok()) local_ = *std::move(local);
    if (local.ok() || !options_.socket_beside_port) return local.status();
    if (context_.on_refused) {
      context_.on_refused(
          absl::StrCat(local.status().message(), "; agents of this machine come over loopback"));
    }
    return absl::OkStatus();
  }

  absl::Status OpenDoor() {
    const DoorLimits limits{.connections = MostConnections(),
                            .of_one_address = options_.max_connections_of_one};
    auto door = Door::Open(
        options_.address, limits,
        [this](const std::string& why) { Tell(context_.counters.connections_refused, why); },
        [this](const std::string& why) { Tell(context_.counters.connections_cut, why); });
    if (!door.ok()) return door.status();
    door_ = *std::move(door);
    return absl::OkStatus();
  }

  // The first of each kind is told, so that nobody can fill the log.
  void Tell(IngestCounters::Counter& counter, const std::string& why) {
    if (counter++ != 0 || !context_.on_refused) return;
    context_.on_refused(absl::StrCat("a connection of agents is refused: ", why));
  }

  // Ends the streams that do not say whose they are, and finds out whether new ones are taken in.
  void Watch() {
    service::MutexLock lock(watch_mutex_);
    while (!watch_wakes_.WaitFor(
        watch_mutex_, kWatchEvery,
        [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(watch_mutex_) { return stop_; })) {
      lock.Unlock();
      context_.counters.hellos_missing += streams_.EndUngreeted(steady_clock::now() - kHelloWithin);
      GiveBack();
      const bool answers =
          (!door_ || door_->Answers(kDoorPatience)) && (!local_ || local_->Answers(kDoorPatience));
      if (answers_.exchange(answers) != answers && server_ != nullptr) {
        if (auto* health = server_->GetHealthCheckService()) {
          health->SetServingStatus(answers && serving_);
        }
      }
      lock.Lock();
    }
  }

  // What thousands of streams that were reset held is free and yet stays with the process, in
  // pieces all over its arenas.
  void GiveBack() {
    const std::uint64_t begun = begun_.exchange(0);
    if (begun >= kManyStreams) {
      trims_due_ = kTrims;
    } else if (trims_due_ > 0 && begun < kFewStreams) {
      --trims_due_;
      malloc_trim(0);
    }
  }

  Refusal* Refuse(grpc::StatusCode code, const std::string& why) {
    // The first of each kind is told, so that nobody can fill the log.
    if (context_.counters.streams_refused++ == 0 && context_.on_refused) {
      context_.on_refused(absl::StrCat("an agent's stream is refused: ", why));
    }
    return new Refusal(code, why);
  }

  absl::StatusOr<Witness> WitnessOf(const grpc::CallbackServerContext& call,
                                    std::uint64_t connection, const Peer& peer) {
    if (options_.tls.on() && !options_.tls.peer_ca_file.empty()) {
      return WitnessOfCertificate(*call.auth_context(), options_.tls.cert_file,
                                  options_.agent_wildcards);
    }
    auto whose = WhoseIs(connection, peer);
    if (!whose.ok()) return whose.status();
    return Witness{.identity = *std::move(whose), .names = std::nullopt};
  }

  // Asked of the kernel once a connection: where its tables must be searched that takes
  // milliseconds, which streams that are reset at once would add up to.
  absl::StatusOr<std::string> WhoseIs(std::uint64_t connection, const Peer& peer) {
    {
      const service::MutexLock lock(whose_mutex_);
      if (const auto at = whose_.find(connection); at != whose_.end()) return at->second;
    }
    absl::StatusOr<std::string> whose = options_.local_agents.Check(peer);
    const service::MutexLock lock(whose_mutex_);
    if (whose_.size() >= kMostRemembered) whose_.erase(whose_.begin());
    return whose_.insert_or_assign(connection, std::move(whose)).first->second;
  }

  void Configure(grpc::ServerBuilder& builder) {
    acceptor_ = builder.experimental().AddExternalConnectionAcceptor(
        grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
        Credentials(options_.tls));
    builder.RegisterService(this);
    builder.RegisterCallbackGenericService(&others_);
    SetBounds(builder, [this](const std::string& peer) {
      ++begun_;
      door_->MayStream(PeerOfGrpc(peer, port()));
    });
  }

  IngestContext& context_;
  const AgentServiceOptions options_;
  std::atomic<std::uint64_t> next_id_{1};
  AgentStreams streams_{options_.max_agent_messages};
  std::unique_ptr<Door> door_;
  grpc::CallbackGenericService others_;  // says of all else that there is no such method
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<LocalPort> local_;
  std::atomic<std::uint64_t> begun_{0};  // streams, since the last look
  std::atomic<bool> serving_{false}, answers_{true};
  service::Mutex whose_mutex_;
  // A connection, by its serial.
  std::map<std::uint64_t, absl::StatusOr<std::string>> whose_ ABSL_GUARDED_BY(whose_mutex_);
  service::Mutex watch_mutex_;
  service::ConditionVariable watch_wakes_;
  int trims_due_ = 0;  // of the thread that watches
  bool stop_ ABSL_GUARDED_BY(watch_mutex_) = false;
  std::thread watch_;
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
std::string AgentService::socket() const { return impl_->socket(); }
std::size_t AgentService::streams() const { return impl_->streams(); }
void AgentService::SetServing(bool serving) { impl_->SetServing(serving); }
bool AgentService::answers() const { return impl_->answers(); }

}  // namespace fathom::collector
