#include "daemon/agent/uplink/collector_link.h"

#include <gtest/gtest.h>

#include <functional>

#include "tests/fakes/fake_collector.h"

namespace fathom::agent {
namespace {

using fakes::FakeCollector;
using Messages = FakeCollector::Messages;

v1::AgentMessage Summary(std::int64_t iteration) {
  v1::AgentMessage message;
  message.mutable_summary()->set_first_iteration(iteration);
  return message;
}

bool HasSummary(const Messages& messages, std::int64_t iteration) {
  return std::any_of(messages.begin(), messages.end(), [iteration](const auto& m) {
    return m.has_summary() && m.summary().first_iteration() == iteration;
  });
}

bool Eventually(const std::function<bool()>& holds) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (std::chrono::steady_clock::now() < deadline) {
    if (holds()) return true;
    std::this_thread::yield();
  }
  return false;
}

class CollectorLinkTest : public testing::Test {
 protected:
  void Connect() {
    LinkSettings settings;
    settings.target = collector_.target();
    settings.first_backoff = Nanos::FromSeconds(0.01);
    settings.max_backoff = Nanos::FromSeconds(0.05);
    v1::Hello hello;
    hello.set_node("n1");
    link_ = std::make_unique<CollectorLink>(settings, hello, outbox_);
    link_->Start();
  }

  FakeCollector collector_;
  Outbox outbox_{1 << 20};
  std::unique_ptr<CollectorLink> link_;
};

TEST_F(CollectorLinkTest, SaysHelloAndSendsInOrder) {
  collector_.Start();
  Connect();
  outbox_.PutDurable(Summary(1));
  outbox_.PutDurable(Summary(2));
  ASSERT_TRUE(collector_.WaitFor([](const Messages& m) { return HasSummary(m, 2); }));
  const Messages got = collector_.messages();
  EXPECT_EQ(got[0].hello().node(), "n1");
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i].number(), i + 1);
  EXPECT_TRUE(Eventually([&] { return outbox_.counters().waiting == 0; }));
}

TEST_F(CollectorLinkTest, WithoutACollectorItKeepsTryingAndStopsAtOnce) {
  collector_.Start();
  collector_.Kill();
  Connect();
  outbox_.PutDurable(Summary(1));
  EXPECT_FALSE(link_->connected());
  const auto begin = std::chrono::steady_clock::now();
  link_->Stop(std::chrono::seconds(30));  // lingering is for a collector that is there
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  EXPECT_EQ(outbox_.counters().waiting, 1u);
}

TEST_F(CollectorLinkTest, ACollectorThatComesLateGetsEverything) {
  collector_.Start();
  collector_.Kill();  // the port is known now, and nobody listens
  Connect();
  outbox_.PutDurable(Summary(1));
  collector_.Start();
  EXPECT_TRUE(collector_.WaitFor([](const Messages& m) { return HasSummary(m, 1); }));
}

TEST_F(CollectorLinkTest, ACollectorThatComesBackEmptyIsToldAgain) {
  collector_.Start();
  v1::AgentMessage rank;
  rank.mutable_rank()->set_rank(5);
  outbox_.PutStanding("1rank/a", rank);
  Connect();
  outbox_.PutDurable(Summary(1));
  ASSERT_TRUE(collector_.WaitFor([](const Messages& m) { return HasSummary(m, 1); }));
  ASSERT_TRUE(Eventually([&] { return outbox_.counters().waiting == 0; }));
  collector_.HoldAcknowledgements(true);
  outbox_.PutDurable(Summary(2));
  ASSERT_TRUE(collector_.WaitFor([](const Messages& m) { return HasSummary(m, 2); }));
  collector_.Kill();
  collector_.Forget();
  collector_.HoldAcknowledgements(false);
  collector_.Start();
  ASSERT_TRUE(collector_.WaitFor([](const Messages& m) { return HasSummary(m, 2); }));
  const Messages got = collector_.messages();
  EXPECT_TRUE(got[0].has_hello());
  EXPECT_EQ(got[1].rank().rank(), 5u);
  EXPECT_FALSE(HasSummary(got, 1));  // was acknowledged
}

TEST_F(CollectorLinkTest, ARefusalIsRespected) {
  collector_.RefuseWith("too old");
  collector_.Start();
  Connect();
  outbox_.PutDurable(Summary(1));
  ASSERT_TRUE(collector_.WaitFor([](const Messages& m) { return !m.empty(); }));
  ASSERT_TRUE(Eventually([&] { return link_->streams() == 1; }));
  link_->Stop(std::chrono::milliseconds(0));
  EXPECT_EQ(collector_.streams(), 1u);
  EXPECT_FALSE(link_->connected());
}

TEST_F(CollectorLinkTest, HandsOverRequestsAndAnswers) {
  collector_.Start();
  Connect();
  ASSERT_TRUE(Eventually([&] { return link_->connected(); }));
  v1::RowsRequest request;
  request.set_request_id(77);
  collector_.Ask(request);
  std::vector<v1::RowsRequest> got;
  ASSERT_TRUE(Eventually([&] {
    got = link_->TakeRequests();
    return !got.empty();
  }));
  EXPECT_EQ(got[0].request_id(), 77u);
  v1::AgentMessage reply;
  reply.mutable_rows()->set_request_id(77);
  outbox_.PutMomentary(reply);
  EXPECT_TRUE(collector_.WaitFor([](const Messages& m) { return m.back().has_rows(); }));
}

TEST_F(CollectorLinkTest, StopSendsWhatIsLeft) {
  collector_.Start();
  Connect();
  ASSERT_TRUE(Eventually([&] { return link_->connected(); }));
  for (int i = 0; i < 200; ++i) outbox_.PutDurable(Summary(i));
  link_->Stop(std::chrono::seconds(10));
  EXPECT_TRUE(HasSummary(collector_.messages(), 199));
  EXPECT_EQ(outbox_.counters().waiting, 0u);
}

}  // namespace
}  // namespace fathom::agent
