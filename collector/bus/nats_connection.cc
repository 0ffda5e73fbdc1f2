#include "collector/bus/nats_connection.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include "collector/bus/bus.h"

namespace fathom::collector {
namespace {

constexpr int kReconnectBytes = 1024;  // what waits for a connection waits in NatsAppender
constexpr int kReconnectWait_ms = 250;
constexpr int kPing_ms = 2000;
constexpr int kTimeout_ms = 2000;

}  // namespace

std::string_view BytesOf(natsMsg* message) {
  return {natsMsg_GetData(message), static_cast<std::size_t>(natsMsg_GetDataLength(message))};
}

absl::StatusOr<std::string> NewInbox() {
  natsInbox* raw = nullptr;
  if (const natsStatus s = natsInbox_Create(&raw); s != NATS_OK) return NatsFailure("bus", s);
  std::string inbox = raw;
  natsInbox_Destroy(raw);
  return inbox;
}

absl::Status NatsFailure(const std::string& what, natsStatus status, int code) {
  const char* last = nats_GetLastError(nullptr);
  const std::string why = last != nullptr && *last != '\0' ? last : natsStatus_GetText(status);
  if (code == JSNotEnabledErr || code == JSNotEnabledForAccountErr ||
      status == NATS_NO_RESPONDERS) {
    return absl::FailedPreconditionError(
        absl::StrCat(what, ": JetStream is not on there (", why, "); start nats-server with -js"));
  }
  return absl::UnavailableError(absl::StrCat(what, ": ", why));
}

absl::StatusOr<std::unique_ptr<NatsConnection>> NatsConnection::Open(NatsSettings settings) {
  std::unique_ptr<NatsConnection> opened(new NatsConnection(std::move(settings)));
  nats_SetMessageDeliveryPoolSize(kThreads);
  if (auto status = opened->Connect(); !status.ok()) return status;
  if (auto status = opened->FindStream(); !status.ok()) return status;
  return opened;
}

NatsConnection::~NatsConnection() {
  js_.reset();
  if (connection_ != nullptr) {
    natsConnection_Close(connection_);
    // That it is closed is the last thing that the library tells, from a thread of its own.
    service::MutexLock lock(mutex_);
    closed_.Wait(mutex_, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return over_; });
  }
  natsConnection_Destroy(connection_);
}

void NatsConnection::Log(bool error, const std::string& line) const {
  if (settings_.log) settings_.log(error, "bus: " + line);
}

absl::Status NatsConnection::SetOptions(natsOptions* options) {
  const std::vector<std::string> urls =
      absl::StrSplit(settings_.urls, absl::ByAnyChar(", "), absl::SkipEmpty());
  std::vector<const char*> servers;
  for (const std::string& url : urls) servers.push_back(url.c_str());
  natsStatus s = natsOptions_SetServers(options, servers.data(), static_cast<int>(servers.size()));
  const auto and_then = [&s](natsStatus next) { s = s == NATS_OK ? next : s; };
  and_then(natsOptions_SetName(options, settings_.name.c_str()));
  and_then(natsOptions_SetTimeout(options, kTimeout_ms));
  and_then(natsOptions_SetMaxReconnect(options, -1));
  and_then(natsOptions_SetReconnectWait(options, kReconnectWait_ms));
  and_then(natsOptions_SetReconnectBufSize(options, kReconnectBytes));
  and_then(natsOptions_SetPingInterval(options, kPing_ms));
  and_then(natsOptions_SetMaxPingsOut(options, 2));
  and_then(natsOptions_UseGlobalMessageDelivery(options, true));
  and_then(natsOptions_SetDisconnectedCB(options, &OnLost, this));
  and_then(natsOptions_SetReconnectedCB(options, &OnBack, this));
  and_then(natsOptions_SetClosedCB(options, &OnClosed, this));
  if (!settings_.credentials_file.empty()) {
    and_then(natsOptions_SetUserCredentialsFromFiles(options, settings_.credentials_file.c_str(),
                                                     nullptr));
  }
  if (!settings_.ca_file.empty()) {
    and_then(natsOptions_SetSecure(options, true));
    and_then(natsOptions_LoadCATrustedCertificates(options, settings_.ca_file.c_str()));
  }
  return s == NATS_OK ? absl::OkStatus() : NatsFailure("cluster_bus", s);
}

absl::Status NatsConnection::Connect() {
  natsOptions* raw = nullptr;
  if (const natsStatus s = natsOptions_Create(&raw); s != NATS_OK) return NatsFailure("bus", s);
  const std::unique_ptr<natsOptions, NatsDestroy<natsOptions, natsOptions_Destroy>> options(raw);
  if (auto status = SetOptions(raw); !status.ok()) return status;
  if (const natsStatus s = natsConnection_Connect(&connection_, raw); s != NATS_OK) {
    return NatsFailure(absl::StrCat("cluster_bus: ", settings_.urls), s);
  }
  connected_ = true;
  const std::int64_t most = natsConnection_GetMaxPayload(connection_);
  if (most < kLeastPayload) {
    return absl::FailedPreconditionError(
        absl::StrCat("cluster_bus: ", settings_.urls, ": takes messages of ", most,
                     " bytes, agents' may have 4 MiB; set max_payload: 8MB in nats-server's file"));
  }
  jsOptions js_options;
  jsOptions_Init(&js_options);
  js_options.Wait = kTimeout_ms;
  jsCtx* js = nullptr;
  if (const natsStatus s = natsConnection_JetStream(&js, connection_, &js_options); s != NATS_OK) {
    return NatsFailure("bus", s);
  }
  js_.reset(js);
  return absl::OkStatus();
}

absl::Status NatsConnection::FindStream() {
  jsStreamInfo* info = nullptr;
  jsErrCode code = {};
  const natsStatus s = js_GetStreamInfo(&info, js(), kStream, nullptr, &code);
  jsStreamInfo_Destroy(info);
  if (s == NATS_OK) return absl::OkStatus();
  if (code == JSStreamNotFoundErr) return MakeStream();
  return NatsFailure(absl::StrCat("cluster_bus: ", settings_.urls), s, code);
}

absl::Status NatsConnection::MakeStream() {
  const char* subjects[] = {"fathom.job.>"};
  jsStreamConfig config;
  jsStreamConfig_Init(&config);
  config.Name = kStream;
  config.Subjects = subjects;
  config.SubjectsLen = 1;
  config.MaxMsgsPerSubject = Bus::kRecordsOfPlace;
  config.MaxBytes = settings_.log_bytes;
  config.Discard = js_DiscardOld;
  config.Storage = js_FileStorage;
  config.Replicas = settings_.replicas;
  jsErrCode code = {};
  const natsStatus s = js_AddStream(nullptr, js(), &config, nullptr, &code);
  // Another collector that starts beside this one may have been first.
  if (s == NATS_OK || code == JSStreamNameExistErr) return absl::OkStatus();
  return NatsFailure(absl::StrCat("cluster_bus: ", settings_.urls, ": its stream cannot be made"),
                     s, code);
}

void NatsConnection::OnLost(natsConnection*, void* self) {
  auto& mine = *static_cast<NatsConnection*>(self);
  if (mine.connected_.exchange(false)) {
    mine.Log(true, absl::StrCat("no connection to ", mine.settings_.urls,
                                "; nothing is acknowledged to agents until it is back"));
  }
}

void NatsConnection::OnBack(natsConnection*, void* self) {
  auto& mine = *static_cast<NatsConnection*>(self);
  mine.connected_ = true;
  ++mine.reconnects_;
  mine.Log(false, "connected again");
  const service::MutexLock lock(mine.mutex_);
  for (const auto& [whose, back] : mine.back_) back();
}

void NatsConnection::OnClosed(natsConnection*, void* self) {
  auto& mine = *static_cast<NatsConnection*>(self);
  const service::MutexLock lock(mine.mutex_);
  mine.over_ = true;
  mine.closed_.NotifyAll();
}

void NatsConnection::AddBack(const void* whose, std::function<void()> back) {
  const service::MutexLock lock(mutex_);
  back_.emplace_back(whose, std::move(back));
}

void NatsConnection::RemoveBack(const void* whose) {
  const service::MutexLock lock(mutex_);
  std::erase_if(back_, [whose](const auto& each) { return each.first == whose; });
}

}  // namespace fathom::collector
