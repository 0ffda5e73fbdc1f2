#include "collector/cli/http/http_client.h"

#include <gtest/gtest.h>

#include "collector/cli/http/call_transport.h"
#include "collector/cli/http/collector_api.h"
#include "tests/cli/http/scripted_server.h"

namespace fathom::cli {
namespace {

using End = ScriptedServer::End;

HttpClient ClientOf(const HostPort& server) {
  HttpClient::Options options;
  options.timeout = std::chrono::milliseconds(300);
  options.limits.body_bytes = 1 << 20;
  return HttpClient(server, options);
}

std::string Ok(const std::string& body) {
  return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

TEST(HttpClientTest, GetsABody) {
  ScriptedServer server({"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n", "\r\n{", "}"}, End::kClose);
  const auto reply = ClientOf(server.address()).Get("/api/v1/jobs?x=1");
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->status, 200);
  EXPECT_EQ(reply->body, "{}");
  EXPECT_EQ(server.request().substr(0, 27), "GET /api/v1/jobs?x=1 HTTP/1");
  EXPECT_NE(server.request().find("Host: " + server.address().ToString()), std::string::npos);
}

TEST(CallTransportTest, SendsACallAsItIsAndReadsWhenToComeBack) {
  ScriptedServer server({"HTTP/1.1 429 -\r\nRetry-After: 7\r\nContent-Length: 2\r\n\r\nno"},
                        End::kClose);
  CallTransport transport("");
  const auto answer = transport.Send({"PATCH",
                                      "http://" + server.address().ToString() + "/api/v1/x?y=1",
                                      {"Content-Type: a/b"},
                                      "body",
                                      1});
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->status, 429);
  EXPECT_EQ(answer->body, "no");
  EXPECT_EQ(answer->retry_after_s, 7);
  EXPECT_EQ(server.request().substr(0, 26), "PATCH /api/v1/x?y=1 HTTP/1");
  EXPECT_NE(server.request().find("\r\nContent-Type: a/b\r\n"), std::string::npos);
  EXPECT_TRUE(server.request().ends_with("\r\n\r\nbody"));
  EXPECT_TRUE(absl::IsInvalidArgument(transport.Send({"GET", "nowhere", {}, "", 1}).status()));
}

TEST(HttpClientTest, DoesNotWaitForTheCloseOfASizedBody) {
  ScriptedServer server({Ok("{}")}, End::kSilence);
  EXPECT_TRUE(ClientOf(server.address()).Get("/").ok());
}

TEST(HttpClientTest, NobodyListens) {
  EXPECT_TRUE(absl::IsUnavailable(ClientOf(DeadPort()).Get("/").status()));
}

TEST(HttpClientTest, NoSuchHost) {
  const HttpClient client = ClientOf({"no-such-host.invalid", 7070});
  EXPECT_TRUE(absl::IsInvalidArgument(client.Get("/").status()));
}

TEST(HttpClientTest, ClosedWithoutAnAnswer) {
  ScriptedServer server({}, End::kClose);
  EXPECT_TRUE(absl::IsDataLoss(ClientOf(server.address()).Get("/").status()));
}

TEST(HttpClientTest, SilentServerMeetsTheDeadline) {
  ScriptedServer server({}, End::kSilence);
  EXPECT_TRUE(absl::IsDeadlineExceeded(ClientOf(server.address()).Get("/").status()));
}

TEST(HttpClientTest, DrippingServerMeetsTheDeadline) {
  ScriptedServer server({"HTTP/1.1 200 OK\r\n\r\n"}, End::kDrip);
  EXPECT_TRUE(absl::IsDeadlineExceeded(ClientOf(server.address()).Get("/").status()));
}

TEST(HttpClientTest, GarbageIsRefusedAtOnce) {
  ScriptedServer server({"\x16\x03\x01\x02garbage"}, End::kSilence);
  EXPECT_TRUE(absl::IsInvalidArgument(ClientOf(server.address()).Get("/").status()));
}

TEST(HttpClientTest, HugeAnswerIsCutOff) {
  ScriptedServer server({"HTTP/1.1 200 OK\r\n\r\n", std::string(4 << 20, 'x')}, End::kClose);
  EXPECT_TRUE(absl::IsResourceExhausted(ClientOf(server.address()).Get("/").status()));
}

TEST(HttpClientTest, PercentEncodesPathsAndQueries) {
  EXPECT_EQ(PercentEncode("a-b_c.d~9"), "a-b_c.d~9");
  EXPECT_EQ(PercentEncode("a/b c?\r\n\xc3\xa4"), "a%2Fb%20c%3F%0D%0A%C3%A4");
}

std::string ErrorOf(const std::vector<std::string>& answer) {
  ScriptedServer server(answer, End::kClose);
  const auto jobs = CollectorApi(ClientOf(server.address())).Jobs();
  EXPECT_FALSE(jobs.ok());
  return std::string(jobs.status().message());
}

TEST(CollectorApiTest, SaysWhatToDoWhenNobodyAnswers) {
  const auto jobs = CollectorApi(ClientOf(DeadPort())).Jobs();
  ASSERT_TRUE(absl::IsUnavailable(jobs.status()));
  EXPECT_NE(std::string(jobs.status().message()).find("--collector-http"), std::string::npos);
}

TEST(CollectorApiTest, TellsForeignServersFromCollectors) {
  const std::string foreign = "is not a fathom-collector";
  EXPECT_NE(ErrorOf({"SSH-2.0\r\n"}).find(foreign), std::string::npos);
  EXPECT_NE(ErrorOf({Ok("<html>")}).find("not JSON"), std::string::npos);
  EXPECT_NE(ErrorOf({Ok("[1,2]")}).find("not a JSON object"), std::string::npos);
  EXPECT_NE(ErrorOf({Ok("{}")}).find("no field 'jobs'"), std::string::npos);
  EXPECT_NE(ErrorOf({"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n"}).find(foreign),
            std::string::npos);
}

TEST(CollectorApiTest, PassesTheCollectorsOwnErrorsOn) {
  const std::string body = R"({"error":"no job 'x'; GET /api/v1/jobs lists them"})";
  ScriptedServer server({"HTTP/1.1 404 Not Found\r\nContent-Length: " +
                         std::to_string(body.size()) + "\r\n\r\n" + body},
                        End::kClose);
  const auto job = CollectorApi(ClientOf(server.address())).Job("x");
  EXPECT_TRUE(absl::IsNotFound(job.status()));
  EXPECT_EQ(std::string(job.status().message()), "no job 'x'; GET /api/v1/jobs lists them");
}

}  // namespace
}  // namespace fathom::cli
