#include "tests/fakes/fake_collector.h"

namespace fathom::fakes {

void FakeCollector::Start() {
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:" + std::to_string(port_), grpc::InsecureServerCredentials(),
                           &port);
  builder.RegisterService(this);
  server_ = builder.BuildAndStart();
  port_ = port;
}

void FakeCollector::Kill() {
  if (server_ == nullptr) return;
  server_->Shutdown(std::chrono::system_clock::now());
  server_.reset();
}

std::string FakeCollector::target() const { return "127.0.0.1:" + std::to_string(port_); }

void FakeCollector::RefuseWith(const std::string& why) {
  const std::lock_guard lock(mutex_);
  refusal_ = why;
}

void FakeCollector::WantOpsOf(const std::string& jobs) {
  const std::lock_guard lock(mutex_);
  ops_wanted_ = jobs;
}

void FakeCollector::HoldAcknowledgements(bool hold) {
  const std::lock_guard lock(mutex_);
  hold_ = hold;
}

void FakeCollector::Ask(const v1::RowsRequest& request) {
  const std::lock_guard lock(mutex_);
  v1::CollectorMessage message;
  *message.mutable_rows() = request;
  for (Stream* stream : open_) stream->Write(message);
}

bool FakeCollector::WaitFor(const std::function<bool(const Messages&)>& enough) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::seconds(10), [&] { return enough(messages_); });
}

FakeCollector::Messages FakeCollector::messages() {
  const std::lock_guard lock(mutex_);
  return messages_;
}

void FakeCollector::Forget() {
  const std::lock_guard lock(mutex_);
  messages_.clear();
}

std::size_t FakeCollector::streams() {
  const std::lock_guard lock(mutex_);
  return streams_;
}

grpc::Status FakeCollector::Connect(grpc::ServerContext*, Stream* stream) {
  {
    const std::lock_guard lock(mutex_);
    ++streams_;
    open_.insert(stream);
    changed_.notify_all();
  }
  v1::AgentMessage message;
  while (stream->Read(&message)) Reply(stream, message);
  const std::lock_guard lock(mutex_);
  open_.erase(stream);
  return grpc::Status::OK;
}

void FakeCollector::Reply(Stream* stream, const v1::AgentMessage& message) {
  const std::lock_guard lock(mutex_);
  messages_.push_back(message);
  v1::CollectorMessage reply;
  if (!hold_) reply.set_acknowledged(message.number());
  if (message.has_hello()) {
    reply.mutable_hello()->set_version("fake");
    reply.mutable_hello()->set_protocol(1);
    reply.mutable_hello()->set_refused(refusal_);
    if (!ops_wanted_.empty()) reply.mutable_hello()->add_stream_ops(ops_wanted_);
  }
  if (!hold_ || message.has_hello()) stream->Write(reply);
  changed_.notify_all();
}

}  // namespace fathom::fakes
