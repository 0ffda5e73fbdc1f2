#include "collector/fleet/fleet.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <optional>

#include "absl/strings/str_cat.h"
#include "collector/fleet/agent_call.h"
#include "daemon/service/mutex.h"

namespace fathom::simulate {
namespace {

constexpr std::size_t kStreamsPerConnection = 4;  // as many as a collector allows
constexpr int kMostMessageBytes = 4 << 20;
constexpr std::uint32_t kProtocol = 1;

std::shared_ptr<grpc::Channel> ConnectionTo(const std::string& collector) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetMaxReceiveMessageSize(kMostMessageBytes);
  return grpc::CreateCustomChannel(collector, grpc::InsecureChannelCredentials(), arguments);
}

v1::AgentMessage HelloOf(const std::string& node) {
  v1::AgentMessage message;
  v1::Hello& hello = *message.mutable_hello();
  hello.set_node(node);
  hello.set_version("simulated");
  hello.set_boot_id("simulated");
  hello.set_protocol(kProtocol);
  return message;
}

}  // namespace

struct Fleet::Parts {
  explicit Parts(std::vector<std::string> names) : nodes(std::move(names)) {}

  void Wake() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(wake, &one, sizeof(one));
  }

  void Heard(std::uint32_t node, const v1::CollectorMessage& message, std::uint64_t confirmed) {
    const service::MutexLock lock(mutex);
    unconfirmed -= static_cast<std::int64_t>(confirmed);
    if (message.has_hello()) {
      ++greeted;
      if (const std::string& why = message.hello().refused(); !why.empty() && trouble.ok()) {
        trouble = absl::FailedPreconditionError(absl::StrCat("the collector refuses: ", why));
      }
    }
    if (message.has_rows()) requests.push_back({node, message.rows()});
    if (message.has_rows() || message.has_hello() || unconfirmed <= 0) Wake();
  }

  void Over(const grpc::Status& status) {
    const service::MutexLock lock(mutex);
    ++over;
    if (!closing && trouble.ok()) {
      trouble = absl::UnavailableError(absl::StrCat("a stream ended: ", status.error_message()));
    }
    Wake();
    all_over.NotifyAll();
  }

  const std::vector<std::string> nodes;
  const int wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  Traffic traffic;  // of the thread that uses the fleet
  std::vector<std::unique_ptr<v1::AgentService::Stub>> connections;
  std::vector<std::unique_ptr<AgentCall>> calls;

  mutable service::Mutex mutex;
  service::ConditionVariable all_over;
  std::vector<Request> requests ABSL_GUARDED_BY(mutex);
  std::int64_t unconfirmed ABSL_GUARDED_BY(mutex) = 0;
  std::size_t greeted ABSL_GUARDED_BY(mutex) = 0;
  std::size_t over ABSL_GUARDED_BY(mutex) = 0;
  bool closing ABSL_GUARDED_BY(mutex) = false;
  absl::Status trouble ABSL_GUARDED_BY(mutex);
};

Fleet::Fleet(const std::string& collector, const std::vector<std::string>& nodes)
    : parts_(std::make_unique<Parts>(nodes)) {
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    if (i % kStreamsPerConnection == 0) {
      parts_->connections.push_back(v1::AgentService::NewStub(ConnectionTo(collector)));
    }
    Parts* parts = parts_.get();
    parts_->calls.push_back(std::make_unique<AgentCall>(
        *parts_->connections.back(),
        AgentCall::Listener{
            [parts, i](const v1::CollectorMessage& message, std::uint64_t confirmed) {
              parts->Heard(i, message, confirmed);
            },
            [parts](const grpc::Status& status) { parts->Over(status); }}));
  }
}

Fleet::~Fleet() {
  {
    const service::MutexLock lock(parts_->mutex);
    parts_->closing = true;
  }
  for (const auto& call : parts_->calls) call->Close();
  service::MutexLock lock(parts_->mutex);
  parts_->all_over.Wait(parts_->mutex, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(parts_->mutex) {
    return parts_->over == parts_->calls.size();
  });
  close(parts_->wake);
}

absl::Status Fleet::Connect(std::chrono::steady_clock::time_point deadline) {
  for (std::uint32_t i = 0; i < parts_->nodes.size(); ++i) Send(i, HelloOf(parts_->nodes[i]));
  for (;;) {
    {
      const service::MutexLock lock(parts_->mutex);
      if (!parts_->trouble.ok()) return parts_->trouble;
      if (parts_->greeted == parts_->calls.size()) return absl::OkStatus();
    }
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return absl::DeadlineExceededError("the collector does not answer");
    pollfd wanted{parts_->wake, POLLIN, 0};
    poll(&wanted, 1, static_cast<int>(left.count()));
    ClearWake();
  }
}

void Fleet::Send(std::uint32_t node, v1::AgentMessage message) {
  const std::uint64_t bytes = message.ByteSizeLong();
  if (message.has_rows()) {
    parts_->traffic.rows += bytes;
    for (const auto& rank : message.rows().ranks()) {
      parts_->traffic.ops += static_cast<std::uint64_t>(rank.ops_size());
    }
  } else {
    (message.has_summary() ? parts_->traffic.summaries : parts_->traffic.others) += bytes;
  }
  {
    const service::MutexLock lock(parts_->mutex);
    ++parts_->unconfirmed;
  }
  parts_->calls[node]->Send(std::move(message));
}

bool Fleet::Quiet() const {
  const service::MutexLock lock(parts_->mutex);
  return parts_->unconfirmed <= 0;
}

std::vector<Fleet::Request> Fleet::TakeRequests() {
  std::vector<Request> taken;
  {
    const service::MutexLock lock(parts_->mutex);
    taken.swap(parts_->requests);
  }
  for (const Request& request : taken) {
    ++parts_->traffic.requests;
    parts_->traffic.row_requests += request.rows.ByteSizeLong();
  }
  return taken;
}

absl::Status Fleet::trouble() const {
  const service::MutexLock lock(parts_->mutex);
  return parts_->trouble;
}

int Fleet::wake_fd() const { return parts_->wake; }

void Fleet::ClearWake() const {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = read(parts_->wake, &count, sizeof(count));
}

const Traffic& Fleet::traffic() const { return parts_->traffic; }

}  // namespace fathom::simulate
