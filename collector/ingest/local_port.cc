#include "collector/ingest/local_port.h"

#include <absl/strings/str_cat.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/security/auth_metadata_processor.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "collector/ingest/agent_stream.h"
#include "collector/ingest/port_bounds.h"
#include "collector/net/local_listener.h"
#include "daemon/service/mutex.h"

namespace fathom::collector {
namespace {

using std::chrono::steady_clock;

constexpr std::size_t kConnectionsOfUser = 1024;
constexpr int kStreams = 200;
constexpr std::chrono::seconds kStreamSpan{10};
constexpr std::chrono::seconds kEndWithin{2};

}  // namespace

// Counts the streams of a user where the library reads them, long before it gets to serving them: a
// client writes tens of thousands meanwhile.
class LocalPort::Gate final : public grpc::AuthMetadataProcessor {
 public:
  Gate(const Parts& parts, std::string who, Door& door)
      : parts_(parts), who_(std::move(who)), door_(door) {}

  bool IsBlocking() const override { return false; }
  grpc::Status Process(const InputMetadata&, grpc::AuthContext*, OutputMetadata*,
                       OutputMetadata*) override {
    parts_.began();
    if (MayStream()) return grpc::Status::OK;
    return {grpc::StatusCode::UNAVAILABLE, "the connection is over"};
  }

 private:
  bool MayStream() {
    {
      const service::MutexLock lock(mutex_);
      const auto now = steady_clock::now();
      // Nobody is let in meanwhile: what still comes was on connections that are cut.
      if (now < cut_until_) return false;
      if (now - since_ > kStreamSpan) {
        since_ = now;
        streams_ = 0;
      }
      if (++streams_ <= kStreams) return true;
      streams_ = 0;
      cut_until_ = now + Door::kShutFor;
    }
    door_.Cut(who_, absl::StrCat("too many streams of ", who_));
    return false;
  }

  const Parts& parts_;
  const std::string who_;
  Door& door_;
  service::Mutex mutex_;
  steady_clock::time_point since_ ABSL_GUARDED_BY(mutex_) = steady_clock::now();
  steady_clock::time_point cut_until_ ABSL_GUARDED_BY(mutex_);
  int streams_ ABSL_GUARDED_BY(mutex_) = 0;
};

// What one user's agents speak to.
class LocalPort::UserServer final : public v1::AgentService::CallbackService {
 public:
  UserServer(const Parts& parts, std::string who, Door& door) : parts_(parts), who_(who) {
    grpc::ServerBuilder builder;
    // The door has asked the kernel; these let the gate in, and say nothing on the wire.
    const auto credentials = grpc::experimental::LocalServerCredentials(UDS);
    credentials->SetAuthMetadataProcessor(std::make_shared<Gate>(parts, std::move(who), door));
    acceptor_ = builder.experimental().AddExternalConnectionAcceptor(
        grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD, credentials);
    builder.RegisterService(this);
    builder.RegisterCallbackGenericService(&others_);
    SetBounds(builder, {});
    server_ = builder.BuildAndStart();
  }

  bool runs() const { return server_ != nullptr; }
  void End(std::chrono::system_clock::time_point by) { server_->Shutdown(by); }

  void Take(int fd, int listener) { HandOver(*acceptor_, fd, listener); }

  grpc::ServerBidiReactor<v1::AgentMessage, v1::CollectorMessage>* Connect(
      grpc::CallbackServerContext*) override {
    if (parts_.streams.size() >= parts_.max_streams) {
      ++parts_.context.counters.streams_refused;
      return new Refusal(grpc::StatusCode::RESOURCE_EXHAUSTED, "too many agents");
    }
    auto* stream = new AgentStream(parts_.next_id++, parts_.context,
                                   Witness{.identity = who_, .names = std::nullopt}, parts_.version,
                                   parts_.streams);
    if (!parts_.agents.everybody()) stream->Authenticate();
    return stream;
  }

 private:
  const Parts& parts_;
  const std::string who_;
  grpc::CallbackGenericService others_;  // says of all else that there is no such method
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor_;
  std::unique_ptr<grpc::Server> server_;
};

absl::StatusOr<std::unique_ptr<LocalPort>> LocalPort::Open(const std::string& path, Parts parts) {
  auto socket = LocalListener::Open(path, parts.agents.others());
  if (!socket.ok()) return socket.status();
  std::unique_ptr<LocalPort> port(new LocalPort(std::move(parts)));
  port->path_ = path;
  const DoorLimits limits{
      .connections = port->parts_.max_connections,
      .of_one_address = std::min(kConnectionsOfUser, port->parts_.max_connections)};
  port->door_ = Door::OfSocket(
      *std::move(socket), limits,
      [agents = port->parts_.agents](uid_t user) { return agents.CheckUser(user); },
      port->parts_.refused, port->parts_.cut);
  port->door_->BeginOf([raw = port.get()](int fd, int listener, const std::string& who) {
    raw->Take(fd, listener, who);
  });
  return port;
}

LocalPort::LocalPort(Parts parts) : parts_(std::move(parts)) {}

LocalPort::~LocalPort() {
  door_->End();
  const auto by = std::chrono::system_clock::now() + kEndWithin;
  for (const auto& [who, server] : servers_) server->End(by);
}

void LocalPort::Take(int fd, int listener, const std::string& who) {
  const service::MutexLock lock(mutex_);
  auto at = servers_.find(who);
  if (at == servers_.end() && servers_.size() < parts_.max_users) {
    auto server = std::make_unique<UserServer>(parts_, who, *door_);
    if (server->runs()) at = servers_.emplace(who, std::move(server)).first;
  }
  if (at == servers_.end()) {
    shutdown(fd, SHUT_RDWR);  // closed alone it would stay there: the door holds it too
    close(fd);
    parts_.refused(absl::StrCat("no server could be made for ", who));
    return;
  }
  at->second->Take(fd, listener);
}

}  // namespace fathom::collector
