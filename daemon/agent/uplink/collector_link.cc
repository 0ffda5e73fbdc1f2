#include "daemon/agent/uplink/collector_link.h"

#include <grpcpp/security/tls_credentials_options.h>
#include <spdlog/spdlog.h>

#include <utility>

#include "daemon/agent/config/settings.h"
#include "daemon/agent/uplink/way_to_collector.h"

namespace fathom::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using std::chrono::system_clock;

constexpr unsigned kTlsRefresh_s = 10;

std::shared_ptr<grpc::ChannelCredentials> Credentials(const service::TlsFiles& tls) {
  if (tls.peer_ca_file.empty()) return grpc::InsecureChannelCredentials();
  using grpc::experimental::FileWatcherCertificateProvider;
  grpc::experimental::TlsChannelCredentialsOptions options;
  options.set_certificate_provider(
      tls.cert_file.empty()
          ? std::make_shared<FileWatcherCertificateProvider>(tls.peer_ca_file, kTlsRefresh_s)
          : std::make_shared<FileWatcherCertificateProvider>(tls.key_file, tls.cert_file,
                                                             tls.peer_ca_file, kTlsRefresh_s));
  options.watch_root_certs();
  if (!tls.cert_file.empty()) options.watch_identity_key_cert_pairs();
  return grpc::experimental::TlsCredentials(options);
}

// gRPC's own back-off must not be slower than ours, which decides.
std::shared_ptr<grpc::Channel> MakeChannel(const std::string& target,
                                           const service::TlsFiles& tls) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 20'000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10'000);
  arguments.SetMaxReceiveMessageSize(4 * 1024 * 1024);
  return grpc::CreateCustomChannel(target, Credentials(tls), arguments);
}

}  // namespace

CollectorLink::CollectorLink(LinkSettings settings, v1::Hello hello, Outbox& outbox)
    : settings_(std::move(settings)),
      targets_(CollectorsOf(settings_.target)),
      hello_(std::move(hello)),
      outbox_(outbox),
      at_(settings_.jitter_seed % targets_.size()) {}

CollectorLink::~CollectorLink() { Stop(milliseconds(0)); }

void CollectorLink::Start() {
  thread_ = std::thread([this] { Run(); });
}

void CollectorLink::Stop(milliseconds linger) {
  if (!thread_.joinable()) return;
  if (connected_) outbox_.WaitUntilEmpty(steady_clock::now() + linger);
  {
    const service::MutexLock lock(mutex_);
    stopping_ = true;
    if (open_context_ != nullptr) open_context_->TryCancel();
    stopped_.NotifyAll();
  }
  outbox_.EndStream();
  thread_.join();
}

void CollectorLink::Run() {
  Backoff backoff(settings_.first_backoff, settings_.max_backoff, settings_.jitter_seed);
  while (true) {
    const bool good = PrepareChannel() && WaitForChannel() && RunStream();
    if (good) backoff.Reset();
    const bool refused = refused_.exchange(false);
    const bool another = TurnToNext(good);
    const Nanos pause = another   ? settings_.first_backoff
                        : refused ? settings_.refused_wait
                                  : backoff.Next();
    if (!Sleep(pause)) return;
  }
}

bool CollectorLink::TurnToNext(bool good) {
  tried_ = good ? 1 : tried_ + 1;
  at_ = (at_ + 1) % targets_.size();
  if (tried_ < targets_.size()) return true;
  tried_ = 0;
  return false;
}

bool CollectorLink::PrepareChannel() {
  const auto way = WayToCollector(targets_[at_], !settings_.tls.peer_ca_file.empty());
  if (!way.ok()) {
    SayMissing(std::string(way.status().message()));
    return false;
  }
  if (*way == way_) return true;
  way_ = *way;
  channel_ = MakeChannel(way_, settings_.tls);
  stub_ = v1::AgentService::NewStub(channel_);
  return true;
}

bool CollectorLink::WaitForChannel() {
  if (channel_->WaitForConnected(system_clock::now() + milliseconds(250))) return true;
  // A handshake that failed says why on the stream that it did not carry.
  const bool failed = channel_->GetState(false) == GRPC_CHANNEL_TRANSIENT_FAILURE;
  if (failed && !settings_.tls.peer_ca_file.empty()) return true;
  SayMissing("nobody answers");
  return false;
}

void CollectorLink::SayMissing(const std::string& why) {
  if (said_missing_.exchange(true)) return;
  spdlog::warn("no collector at {} ({}); will keep trying, the job goes on", settings_.target, why);
}

bool CollectorLink::RunStream() {
  grpc::ClientContext context;
  const std::unique_ptr<Stream> stream = stub_->Connect(&context);
  {
    const service::MutexLock lock(mutex_);
    if (stopping_) context.TryCancel();
    open_context_ = &context;
  }
  greeted_ = false;
  ended_ = false;
  ++streams_;
  outbox_.BeginStream(hello_);
  std::thread reader([this, &stream] { ReadLoop(*stream); });
  while (true) {
    auto message = outbox_.Next(steady_clock::now() + std::chrono::hours(1));
    if (!message.has_value() || !stream->Write(*message)) break;
  }
  // Of a stream that the collector has ended it says why, unless it is cancelled first.
  if (!ended_) context.TryCancel();
  outbox_.EndStream();
  reader.join();
  const grpc::Status status = stream->Finish();
  connected_ = false;
  const service::MutexLock lock(mutex_);
  open_context_ = nullptr;
  if (!stopping_) SayMissing(status.error_message());
  return greeted_;
}

void CollectorLink::ReadLoop(Stream& stream) {
  v1::CollectorMessage message;
  while (stream.Read(&message)) TakeMessage(message);
  ended_ = true;
  // The writer may be waiting for something to send.
  outbox_.EndStream();
}

void CollectorLink::TakeMessage(const v1::CollectorMessage& message) {
  outbox_.Acknowledge(message.acknowledged());
  if (message.has_hello()) {
    if (!message.hello().refused().empty()) {
      spdlog::error("collector at {} refuses this agent: {}", way_, message.hello().refused());
      refused_ = true;
      outbox_.EndStream();
      return;
    }
    spdlog::info("connected to collector {} at {}", message.hello().version(), way_);
    {
      const service::MutexLock lock(mutex_);
      stream_ops_.emplace(message.hello().stream_ops().begin(), message.hello().stream_ops().end());
    }
    if (message.hello().takes_more()) outbox_.SendTogether();
    said_missing_ = false;
    greeted_ = true;
    connected_ = true;
  }
  const service::MutexLock lock(mutex_);
  if (message.has_rows()) Keep(message.rows(), requests_);
  if (message.has_window()) Keep(message.window(), windows_);
  if (message.has_trace()) Keep(message.trace(), switches_);
  if (message.has_stacks()) Keep(message.stacks(), stacks_);
  if (message.has_capture()) Keep(message.capture(), captures_);
  if (message.has_probe()) Keep(message.probe(), probes_);
}

template <typename Request>
void CollectorLink::Keep(const Request& request, std::vector<Request>& waiting) {
  if (waiting.size() < settings_.max_requests) {
    waiting.push_back(request);
  } else {
    ++requests_dropped_;
  }
}

std::vector<v1::RowsRequest> CollectorLink::TakeRequests() {
  const service::MutexLock lock(mutex_);
  return std::exchange(requests_, {});
}

std::vector<v1::WindowRequest> CollectorLink::TakeWindowRequests() {
  const service::MutexLock lock(mutex_);
  return std::exchange(windows_, {});
}

std::vector<v1::TraceOrder> CollectorLink::TakeTraceOrders() {
  const service::MutexLock lock(mutex_);
  return std::exchange(switches_, {});
}

std::vector<v1::StackRequest> CollectorLink::TakeStackRequests() {
  const service::MutexLock lock(mutex_);
  return std::exchange(stacks_, {});
}

std::vector<v1::CaptureRequest> CollectorLink::TakeCaptureRequests() {
  const service::MutexLock lock(mutex_);
  return std::exchange(captures_, {});
}

std::optional<std::vector<std::string>> CollectorLink::TakeStreamOps() {
  const service::MutexLock lock(mutex_);
  return std::exchange(stream_ops_, std::nullopt);
}

std::vector<v1::ProbeOrder> CollectorLink::TakeProbeOrders() {
  const service::MutexLock lock(mutex_);
  return std::exchange(probes_, {});
}

bool CollectorLink::Sleep(Nanos time) {
  service::MutexLock lock(mutex_);
  return !stopped_.WaitFor(mutex_, std::chrono::nanoseconds(time.count),
                           [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stopping_; });
}

}  // namespace fathom::agent
