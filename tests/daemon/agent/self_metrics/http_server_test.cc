#include "daemon/agent/self_metrics/http_server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/agent/self_metrics/agent_metrics.h"

namespace fathom::agent {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// One HTTP exchange on loopback.
std::string Fetch(std::uint16_t port, const std::string& method, const std::string& path) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string reply;
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0) {
    const std::string request = method + " " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
    EXPECT_EQ(write(fd, request.data(), request.size()), static_cast<ssize_t>(request.size()));
    char chunk[4096];
    for (ssize_t got; (got = read(fd, chunk, sizeof(chunk))) > 0;) {
      reply.append(chunk, static_cast<std::size_t>(got));
    }
  }
  close(fd);
  return reply;
}

class HttpServerTest : public testing::Test {
 protected:
  HttpServerTest()
      : server_(*HttpServer::Start({"127.0.0.1", 0}, {.metrics = [] { return "a_metric 1\n"; },
                                                      .not_ready = [this] { return why_; }})) {}
  std::string why_;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpServerTest, ServesMetricsAndHealth) {
  EXPECT_THAT(Fetch(server_->port(), "GET", "/metrics"), HasSubstr("a_metric 1\n"));
  EXPECT_THAT(Fetch(server_->port(), "GET", "/healthz"), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpServerTest, ReadinessSaysWhyNot) {
  EXPECT_THAT(Fetch(server_->port(), "GET", "/readyz"), StartsWith("HTTP/1.1 200"));
  why_ = "no folder";
  const std::string reply = Fetch(server_->port(), "GET", "/readyz");
  EXPECT_THAT(reply, StartsWith("HTTP/1.1 503"));
  EXPECT_THAT(reply, HasSubstr("no folder"));
}

TEST_F(HttpServerTest, RefusesOtherMethodsAndPaths) {
  EXPECT_THAT(Fetch(server_->port(), "POST", "/metrics"), StartsWith("HTTP/1.1 405"));
  EXPECT_THAT(Fetch(server_->port(), "GET", "/../etc/passwd"), Not(HasSubstr("root:")));
  EXPECT_THAT(Fetch(server_->port(), "GET", "/nothing"), StartsWith("HTTP/1.1 404"));
  const std::string head = Fetch(server_->port(), "HEAD", "/metrics");
  EXPECT_THAT(head, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(head, Not(HasSubstr("a_metric")));
}

TEST_F(HttpServerTest, APortInUseIsNamed) {
  const auto second = HttpServer::Start({"127.0.0.1", server_->port()}, {});
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(std::string(second.status().message()), HasSubstr(std::to_string(server_->port())));
}

TEST(AgentMetricsTest, CountersRiseAndNeverFall) {
  AgentMetrics metrics("1.2", "n1");
  AgentTotals totals;
  totals.records = 10;
  totals.records_dropped["torn"] = 3;
  totals.rings_open = 2;
  totals.gpu_clock_slack_s = 0.5;
  metrics.Update(totals);
  totals.records = 7;
  totals.rings_open = 1;
  totals.gpu_clock_slack_s = 0.25;
  metrics.Update(totals);
  const std::string text = metrics.Text();
  EXPECT_THAT(text, HasSubstr("fathom_records_total 10"));
  EXPECT_THAT(text, HasSubstr("fathom_records_dropped_total{reason=\"torn\"} 3"));
  EXPECT_THAT(text, HasSubstr("fathom_rings{state=\"open\"} 1"));
  EXPECT_THAT(text, HasSubstr("fathom_gpu_clock_slack_seconds 0.25"));
  EXPECT_THAT(text, HasSubstr("version=\"1.2\""));
}

}  // namespace
}  // namespace fathom::agent
