// Whose commands are passed on to fathom-cordon, with what, and what is said when they are not.
#include "collector/api/cordon_relay.h"

#include <gmock/gmock.h>

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "collector/api/cordon_address.h"

namespace fathom::collector {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class FakeCordon final : public HttpTransport {
 public:
  absl::StatusOr<HttpAnswer> Send(const HttpCall& call) override {
    std::unique_lock lock(mutex_);
    calls.push_back(call);
    came_.notify_all();
    came_.wait(lock, [this] { return !held; });
    return answer;
  }
  void WaitForCalls(std::size_t count) {
    std::unique_lock lock(mutex_);
    came_.wait(lock, [&] { return calls.size() >= count; });
  }
  void LetGo() {
    const std::lock_guard lock(mutex_);
    held = false;
    came_.notify_all();
  }

  absl::StatusOr<HttpAnswer> answer = HttpAnswer{200, R"({"done":true})", 0};
  std::vector<HttpCall> calls;
  bool held = false;

 private:
  std::mutex mutex_;
  std::condition_variable came_;
};

const Person kNobody;
const Person kViewer{"bob", Role::kViewer};
const Person kOperator{"ann", Role::kOperator};

Request Post(const std::string& path, const Person& person, const std::string& token,
             const std::string& body = "{}") {
  Request request = *ParseTarget("/api/v1/actions/" + path, "");
  request.method = "POST";
  request.content_type = "application/json";
  request.body = body;
  request.person = person;
  request.token = token;
  return request;
}

Request Approve(const Person& person, const std::string& token) {
  return Post("a1/approve", person, token);
}

struct CordonRelayTest : testing::Test {
  FakeCordon cordon;
  CordonRelay relay{"127.0.0.1:7073", true, cordon};
};

TEST_F(CordonRelayTest, OnlyAnOperatorsOwnTokenGoesOut) {
  CordonRelay off("127.0.0.1:7073", false, cordon), none("", true, cordon);
  struct Row {
    CordonRelay& relay;
    Person person;
    std::string token, changes;
    int status;
  };
  for (const Row& row : {Row{relay, kNobody, "", "sign_in", 403},
                         {relay, kViewer, "bobs", "viewer", 403},
                         {relay, kViewer, "", "viewer", 403},
                         {relay, kOperator, "", "no_token", 403},
                         {relay, kOperator, "anns", "on", 200},
                         {off, kOperator, "anns", "off", 403},
                         {none, kOperator, "anns", "off", 403}}) {
    cordon.calls.clear();
    const Request request = Approve(row.person, row.token);
    EXPECT_EQ(row.relay.You(request),
              R"({"name":")" + row.person.name + R"(","changes":")" + row.changes + "\"}");
    EXPECT_EQ(row.relay.Pass(request).status, row.status) << row.changes;
    EXPECT_EQ(cordon.calls.size(), row.status == 200 ? 1u : 0u) << row.changes;
  }
}

TEST_F(CordonRelayTest, EachCommandHasItsPathAndTheReasonAndNothingElseGoesAlong) {
  const std::string body = R"({"reason":"rack 7 \"hot\"","mode":"auto"})";
  for (const auto& [path, there] : std::vector<std::pair<std::string, std::string>>{
           {"a0123456789ab/approve", "actions/a0123456789ab/approve"},
           {"a%2F..%2Fx/undo", "actions/a%2F..%2Fx/undo"},
           {"pause", "pause"},
           {"resume", "resume"},
           {"reset", "reset"}}) {
    cordon.calls.clear();
    EXPECT_EQ(relay.Pass(Post(path, kOperator, "anns-0123456789", body)).status, 200) << path;
    ASSERT_EQ(cordon.calls.size(), 1u);
    EXPECT_EQ(cordon.calls[0].method, "POST");
    EXPECT_EQ(cordon.calls[0].url, "http://127.0.0.1:7073/api/v1/" + there);
    EXPECT_THAT(cordon.calls[0].headers, ElementsAre("Authorization: Bearer anns-0123456789",
                                                     "Content-Type: application/json"));
    EXPECT_EQ(cordon.calls[0].body, R"({"reason":"rack 7 \"hot\""})");
  }
}

TEST_F(CordonRelayTest, WhatIsNoCommandOrNoJsonIsNotSent) {
  for (const char* path : {"a1", "a1/hold", "a1/approve/now", "a1/pause", "audit"}) {
    EXPECT_EQ(relay.Pass(Post(path, kOperator, "anns")).status, 404) << path;
  }
  Request form = Approve(kOperator, "anns");
  form.content_type = "text/plain";
  EXPECT_EQ(relay.Pass(form).status, 415);
  EXPECT_THAT(cordon.calls, IsEmpty());
  for (const char* body : {"", "[]", "reason", R"({"reason":7})", "{\"reason\":\"\xff\"}"}) {
    EXPECT_EQ(relay.Pass(Post("pause", kOperator, "anns", body)).status, 200);
    EXPECT_EQ(cordon.calls.back().body, R"({"reason":""})") << body;
  }
}

TEST_F(CordonRelayTest, WhatFathomCordonSaysIsPassedOnInItsWords) {
  struct Row {
    HttpAnswer answer;
    int status;
    std::string words;
  };
  for (const Row& row :
       {Row{{409, R"({"error":"action a1 is approved (by ben); no"})", 0}, 409, "(by ben)"},
        {{403, R"({"error":"ann is a viewer"})", 0}, 403, "fathom-cordon: ann is a viewer"},
        {{401, R"({"error":"sign in"})", 0}, 403, "does not take your token"},
        {{400, R"({"error":"a pause needs a reason"})", 0}, 400, "needs a reason"},
        {{404, R"({"error":"there is no action a1"})", 0}, 404, "no action a1"},
        {{429, R"({"error":"the audit log cannot be written"})", 0}, 429, "audit log"},
        {{503, R"({"error":"standby"})", 0}, 503, "standby"},
        {{302, "", 0}, 503, "HTTP 302"},
        {{500, "<html>", 0}, 503, "HTTP 500"}}) {
    cordon.answer = row.answer;
    const Response response = relay.Pass(Approve(kOperator, "anns"));
    EXPECT_EQ(response.status, row.status) << row.answer.status;
    EXPECT_THAT(response.body, HasSubstr(row.words));
  }
}

TEST_F(CordonRelayTest, WithoutAnAnswerItIsNotSaidThatNothingHappened) {
  cordon.answer = absl::UnavailableError("http://127.0.0.1:7073: Timeout was reached");
  const Response response = relay.Pass(Approve(kOperator, "anns"));
  EXPECT_EQ(response.status, 503);
  EXPECT_THAT(response.body, AllOf(HasSubstr("not known whether"), HasSubstr("before trying")));
}

TEST_F(CordonRelayTest, ASlowFathomCordonDoesNotTakeAllThreads) {
  cordon.held = true;
  std::vector<std::thread> waiting;
  for (int i = 0; i < CordonRelay::kMostUnderWay; ++i) {
    waiting.emplace_back([this] { relay.Pass(Approve(kOperator, "anns")); });
  }
  cordon.WaitForCalls(CordonRelay::kMostUnderWay);
  const Response response = relay.Pass(Approve(kOperator, "anns"));
  EXPECT_EQ(response.status, 503);
  EXPECT_THAT(response.body, HasSubstr("nothing was sent"));
  cordon.LetGo();
  for (std::thread& thread : waiting) thread.join();
  EXPECT_EQ(relay.Pass(Approve(kOperator, "anns")).status, 200) << "and afterwards there is room";
}

TEST(CordonAddressTest, TokensGoOverTlsOrStayOnTheMachine) {
  for (const char* fit : {"127.0.0.1:7073", "[::1]:7073", "localhost:7073", "http://127.0.0.1:7073",
                          "http://localhost/cordon", "https://head:7073", "https://10.0.0.7"}) {
    EXPECT_TRUE(CordonIsPrivate(fit)) << fit;
  }
  for (const char* open :
       {"", "head:7073", "10.0.0.7:7073", "http://head:7073", "ftp://127.0.0.1:1",
        "http://127.0.0.1:80@head:7073", "http://head/127.0.0.1"}) {
    EXPECT_FALSE(CordonIsPrivate(open)) << open;
  }
}

}  // namespace
}  // namespace fathom::collector
