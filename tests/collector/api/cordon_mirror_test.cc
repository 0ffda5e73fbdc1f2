#include "collector/api/cordon_mirror.h"

#include <gmock/gmock.h>

#include <fstream>
#include <functional>
#include <map>
#include <vector>

#include "tests/collector/fake_clock.h"

namespace fathom::collector {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Answers by path; without an answer nobody is there.
class FakeCordon final : public HttpTransport {
 public:
  absl::StatusOr<HttpAnswer> Send(const HttpCall& call) override {
    ++calls;
    EXPECT_EQ(call.method, "GET");
    EXPECT_TRUE(call.body.empty());
    if (meanwhile) meanwhile();
    headers = call.headers;
    const auto at = answers.find(call.url);
    if (at == answers.end()) return absl::UnavailableError("Connection refused");
    return at->second;
  }
  void Answer(const std::string& actions, const std::string& plan = R"({"plan":[]})") {
    answers[kBase + "actions"] = {200, actions, 0};
    answers[kBase + "plan"] = {200, plan, 0};
  }

  inline static const std::string kBase = "http://127.0.0.1:7073/api/v1/";
  std::map<std::string, HttpAnswer> answers;
  std::vector<std::string> headers;  // of the last call
  std::function<void()> meanwhile;
  int calls = 0;
};

class CordonMirrorTest : public testing::Test {
 protected:
  FakeCordon cordon_;
  FakeClock clock_;
  CordonMirror mirror_{"127.0.0.1:7073", "", cordon_, clock_};
};

TEST_F(CordonMirrorTest, WithoutAnAddressNobodyIsAsked) {
  CordonMirror none("", "", cordon_, clock_);
  EXPECT_THAT(none.Json(), HasSubstr(R"("state":"off")"));
  EXPECT_EQ(cordon_.calls, 0);
}

TEST_F(CordonMirrorTest, ShowsATokenOnlyWhereOneIsGiven) {
  cordon_.Answer(R"({"actions":[]})");
  mirror_.Json();
  EXPECT_THAT(cordon_.headers, testing::IsEmpty());
  const std::string file = testing::TempDir() + "/cordon_viewer.token";
  std::ofstream(file) << "0123456789abcdef0123\n";
  CordonMirror viewer("127.0.0.1:7073", file, cordon_, clock_);
  viewer.Json();
  EXPECT_THAT(cordon_.headers, testing::ElementsAre("Authorization: Bearer 0123456789abcdef0123"));
  cordon_.answers[FakeCordon::kBase + "actions"] = {401, R"({"error":"who?"})", 0};
  clock_.Advance(CordonMirror::kFresh);
  EXPECT_THAT(viewer.Json(), HasSubstr("cordon_token_file"));
}

TEST_F(CordonMirrorTest, ShowsActionsNewestFirstAndThePlan) {
  cordon_.Answer(R"({"backend":"slurm","paused":"anna: rack 7","held":1,"actions":[)"
                 R"({"id":"a1","changed_unix_ns":5},{"id":"a2","changed_unix_ns":9}]})",
                 R"({"plan":[{"verdict":"v1","hindrance":"paused"}]})");
  const std::string json = mirror_.Json();
  EXPECT_THAT(json, AllOf(HasSubstr(R"("state":"on")"), HasSubstr(R"("paused":"anna: rack 7")"),
                          HasSubstr(R"("hindrance":"paused")"), HasSubstr(R"("held":1)")));
  EXPECT_LT(json.find("\"a2\""), json.find("\"a1\""));
}

TEST_F(CordonMirrorTest, WhatIsForgottenWhileItIsAskedIsAskedAgain) {
  cordon_.Answer(R"({"actions":[]})");
  cordon_.meanwhile = [&] { mirror_.Forget(); };
  mirror_.Json();
  cordon_.meanwhile = nullptr;
  const int before = cordon_.calls;
  mirror_.Json();
  EXPECT_GT(cordon_.calls, before);
}

TEST_F(CordonMirrorTest, AnAnswerOfBracketsIsNoDanger) {
  const std::string deep = std::string(2'000'000, '[') + std::string(2'000'000, ']');
  cordon_.Answer(R"({"actions":[{"id":"a1","x":)" + deep + "}]}");
  EXPECT_THAT(mirror_.Json(), AllOf(HasSubstr(R"("state":"on")"), HasSubstr(R"("id":"a1")")));
}

TEST_F(CordonMirrorTest, ManyReadersCostOneQuestionASecond) {
  cordon_.Answer(R"({"actions":[]})");
  for (int i = 0; i < 100; ++i) mirror_.Json();
  EXPECT_EQ(cordon_.calls, 2);
  clock_.Advance(CordonMirror::kFresh);
  mirror_.Json();
  EXPECT_EQ(cordon_.calls, 4);
  mirror_.Forget();
  mirror_.Json();
  EXPECT_EQ(cordon_.calls, 6) << "after a change it is asked at once";
}

TEST_F(CordonMirrorTest, WhatWasKnownStaysWhenNobodyAnswers) {
  cordon_.Answer(R"({"actions":[{"id":"a1","changed_unix_ns":5}]})");
  mirror_.Json();
  cordon_.answers.clear();
  clock_.Advance(CordonMirror::kFresh);
  EXPECT_THAT(mirror_.Json(),
              AllOf(HasSubstr(R"("state":"away","why":"Connection refused")"),
                    HasSubstr(R"("id":"a1")"), Not(HasSubstr(R"("known_unix_ns":0)"))));
}

TEST_F(CordonMirrorTest, WhatIsNotFathomCordonIsNotShown) {
  for (const char* body : {"", "<html>", "[]", "{}", R"({"actions":{}})", "null"}) {
    cordon_.Answer(body);
    clock_.Advance(CordonMirror::kFresh);
    EXPECT_THAT(mirror_.Json(),
                AllOf(HasSubstr("\"state\":\"away\""), HasSubstr("is not fathom-cordon")))
        << body;
  }
  cordon_.answers[FakeCordon::kBase + "actions"] = {503, R"({"error":"standby"})", 0};
  clock_.Advance(CordonMirror::kFresh);
  EXPECT_THAT(mirror_.Json(), HasSubstr(R"("why":"standby")"));
}

TEST_F(CordonMirrorTest, AnswersCannotSayWhatIsForTheCollectorToSay) {
  cordon_.Answer(
      R"({"actions":[],"state":"off","why":"x","where":"http://elsewhere","you":{"changes":"on"}})");
  EXPECT_THAT(mirror_.Json(),
              AllOf(HasSubstr(R"("state":"on")"), HasSubstr(R"("where":"http://127.0.0.1:7073")"),
                    Not(HasSubstr("elsewhere")), Not(HasSubstr("\"you\""))));
}

TEST_F(CordonMirrorTest, TheNewestOfManyAreKeptAndBytesThatAreNoTextDoNoHarm) {
  std::string actions;
  for (std::size_t i = 0; i < 2 * CordonMirror::kMostActions; ++i) {
    actions += (i == 0 ? "" : ",") + std::string(R"({"id":"a)") + std::to_string(i) +
               R"(","changed_unix_ns":)" + std::to_string(i) + "}";
  }
  cordon_.Answer("{\"actions\":[" + actions + "]}");
  const std::string json = mirror_.Json();
  EXPECT_THAT(json, AllOf(HasSubstr("\"a999\""), HasSubstr("\"a500\"")));
  EXPECT_THAT(json, Not(HasSubstr("\"a499\"")));
  cordon_.Answer("{\"actions\":[{\"id\":\"\xff\xfe\"}]}");
  clock_.Advance(CordonMirror::kFresh);
  EXPECT_THAT(mirror_.Json(), HasSubstr("\"state\":"));
}

}  // namespace
}  // namespace fathom::collector
