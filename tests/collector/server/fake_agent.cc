#include "tests/collector/server/fake_agent.h"

#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/codegen/client_unary_call.h>

#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "fathom/v1/agent.grpc.pb.h"
#include "tests/collector/messages.h"

namespace fathom::collector {
namespace {

constexpr std::chrono::seconds kPatience{10};

std::shared_ptr<grpc::Channel> ChannelTo(int port) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetMaxReceiveMessageSize(4 << 20);
  return grpc::CreateCustomChannel("127.0.0.1:" + std::to_string(port),
                                   grpc::InsecureChannelCredentials(), arguments);
}

}  // namespace

class FakeAgent::Impl {
 public:
  Impl(int port, std::string node, Answer answer, WindowAnswer window)
      : node_(std::move(node)),
        answer_(std::move(answer)),
        window_(std::move(window)),
        stub_(v1::AgentService::NewStub(ChannelTo(port))),
        stream_(stub_->Connect(&context_)),
        reader_([this] { Read(); }) {}

  ~Impl() {
    context_.TryCancel();
    reader_.join();
    stream_->Finish();
  }

  bool Send(v1::AgentMessage message) {
    const std::lock_guard lock(write_mutex_);
    message.set_number(++sent_);
    for (auto& each : *message.mutable_more()) each.set_number(++sent_);
    return stream_->Write(message);
  }

  template <typename Condition>
  bool Wait(Condition condition) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, [&] { return condition() || over_; }) && condition();
  }

  const std::string node_;
  std::mutex mutex_;  // guards the next five
  std::condition_variable changed_;
  std::uint64_t acknowledged_ = 0;
  std::optional<std::string> greeting_;
  int requests_ = 0;
  bool over_ = false;
  std::uint64_t sent_ = 0;

 private:
  void Read() {
    v1::CollectorMessage message;
    while (stream_->Read(&message)) {
      {
        const std::lock_guard lock(mutex_);
        acknowledged_ = message.acknowledged();
        if (message.has_hello()) greeting_ = message.hello().refused();
        requests_ += message.has_rows();
      }
      changed_.notify_all();
      if (message.has_window() && window_) AnswerWindow(message.window());
      if (message.has_trace()) AnswerTrace(message.trace());
      if (message.has_stacks()) AnswerStacks(message.stacks());
      if (!message.has_rows() || !answer_) continue;
      if (auto reply = answer_(message.rows())) {
        reply->set_request_id(message.rows().request_id());
        reply->set_job(message.rows().job());
        Send(Message(0, *reply));
      }
    }
    const std::lock_guard lock(mutex_);
    over_ = true;
    changed_.notify_all();
  }

  void AnswerWindow(const v1::WindowRequest& request) {
    v1::AgentMessage message;
    message.mutable_window()->set_request_id(request.request_id());
    message.mutable_window()->set_job(request.job());
    for (const std::uint32_t rank : request.ranks()) {
      *message.mutable_window()->add_ranks() = window_(rank);
    }
    Send(std::move(message));
  }

  // Whatever is ordered is done, and every stack is the same.
  void AnswerTrace(const v1::TraceOrder& order) {
    v1::AgentMessage message;
    message.mutable_trace()->set_request_id(order.request_id());
    message.mutable_trace()->set_job(order.job());
    for (const std::uint32_t rank : order.ranks()) {
      v1::RankTrace& told = *message.mutable_trace()->add_ranks();
      told.set_rank(rank);
      told.set_state("done");
      told.set_at_sequence(order.at_sequence());
    }
    Send(std::move(message));
  }

  void AnswerStacks(const v1::StackRequest& request) {
    v1::AgentMessage message;
    message.mutable_stacks()->set_request_id(request.request_id());
    message.mutable_stacks()->set_job(request.job());
    for (const std::uint32_t rank : request.ranks()) {
      v1::RankStack& told = *message.mutable_stacks()->add_ranks();
      told.set_rank(rank);
      told.mutable_stack()->add_frames("step (train.py:7)");
    }
    Send(std::move(message));
  }

  const Answer answer_;
  const WindowAnswer window_;
  grpc::ClientContext context_;
  std::unique_ptr<v1::AgentService::Stub> stub_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::AgentMessage, v1::CollectorMessage>> stream_;
  std::mutex write_mutex_;  // one write at a time
  std::thread reader_;
};

FakeAgent::FakeAgent(int port, std::string node, Answer answer, WindowAnswer window)
    : impl_(std::make_unique<Impl>(port, std::move(node), std::move(answer), std::move(window))) {}
FakeAgent::~FakeAgent() = default;

bool FakeAgent::Send(v1::AgentMessage message) { return impl_->Send(std::move(message)); }

void FakeAgent::Hello(std::uint32_t protocol) { Send(HelloFrom(impl_->node_, protocol)); }

bool FakeAgent::WaitAcknowledged() {
  return impl_->Wait([this] { return impl_->acknowledged_ >= impl_->sent_; });
}

std::optional<std::string> FakeAgent::WaitGreeting() {
  impl_->Wait([this] { return impl_->greeting_.has_value(); });
  const std::lock_guard lock(impl_->mutex_);
  return impl_->greeting_;
}

bool FakeAgent::WaitOver() {
  return impl_->Wait([this] { return impl_->over_; });
}

int FakeAgent::requests() const {
  const std::lock_guard lock(impl_->mutex_);
  return impl_->requests_;
}

std::optional<v1::RowsReply> FakeAgent::AnOpOfEach(const v1::RowsRequest& request) {
  v1::RowsReply reply;
  for (const std::uint32_t rank : request.ranks()) {
    auto& rows = *reply.add_ranks();
    rows.set_rank(rank);
    for (const std::int64_t i : request.iterations()) rows.add_ops()->set_iteration(i);
  }
  return reply;
}

bool FakeAgent::Serving(int port) {
  const auto channel = ChannelTo(port);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kPatience);
  // grpc.health.v1.Health/Check without its stub: empty request; status SERVING is field 1 = 1.
  grpc::internal::RpcMethod method("/grpc.health.v1.Health/Check",
                                   grpc::internal::RpcMethod::NORMAL_RPC);
  v1::HelloReply empty;
  v1::AgentCounters answer;  // its field 1 is a varint, too
  const auto status =
      grpc::internal::BlockingUnaryCall(channel.get(), method, &context, empty, &answer);
  return status.ok() && answer.records() == 1;
}

}  // namespace fathom::collector
