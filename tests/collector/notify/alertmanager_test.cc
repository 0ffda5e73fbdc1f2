// A real Alertmanager, where one is installed: an alert per episode, updated in place, resolved.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "collector/net/curl_transport.h"
#include "collector/notify/notifier.h"

namespace fathom::collector {
namespace {

using Json = nlohmann::json;
constexpr char kProgram[] = "/usr/bin/prometheus-alertmanager";

class AlertmanagerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (access(kProgram, X_OK) != 0) GTEST_SKIP() << "not installed: prometheus-alertmanager";
    folder_ = ::testing::TempDir() + "fathom-alertmanager-" + std::to_string(getpid());
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ + "/config.yml")
        << "route: {receiver: nobody}\nreceivers: [{name: nobody}]\n";
    const std::string address = "127.0.0.1:" + std::to_string(20'000 + getpid() % 20'000);
    url_ = "http://" + address;
    child_ = fork();
    if (child_ == 0) Exec(address);
    for (int i = 0; i < 300 && !Ready(); ++i) Sleep();
    ASSERT_TRUE(Ready());
  }
  void TearDown() override {
    if (child_ <= 0) return;
    kill(child_, SIGTERM);
    waitpid(child_, nullptr, 0);
    std::filesystem::remove_all(folder_);
  }
  void Exec(const std::string& address) const {
    const int null = open("/dev/null", O_WRONLY);
    dup2(null, 1);
    dup2(null, 2);
    execl(kProgram, kProgram, ("--config.file=" + folder_ + "/config.yml").c_str(),
          ("--storage.path=" + folder_).c_str(), ("--web.listen-address=" + address).c_str(),
          "--cluster.listen-address=", nullptr);
    _exit(127);
  }
  static void Sleep() { std::this_thread::sleep_for(std::chrono::milliseconds(50)); }
  bool Ready() {
    const auto answer = transport_.Send({"GET", url_ + "/-/ready", {}, "", 2});
    return answer.ok() && answer->status == 200;
  }
  // The active alerts once there are `count`, else as they are after a while.
  Json Alerts(std::size_t count, const std::string& summary = "") {
    Json alerts;
    for (int i = 0; i < 200; ++i, Sleep()) {
      const auto answer = transport_.Send({"GET", url_ + "/api/v2/alerts?active=true", {}, "", 2});
      if (!answer.ok()) continue;
      alerts = Json::parse(answer->body, nullptr, false);
      const bool there = alerts.is_array() && alerts.size() == count;
      if (there && (summary.empty() || alerts[0]["annotations"]["summary"] == summary)) break;
    }
    return alerts;
  }

  std::string folder_, url_;
  pid_t child_ = 0;
  CurlTransport transport_;
};

TEST_F(AlertmanagerTest, OneAlertAnEpisodeUpdatedAndResolved) {
  SystemClock clock;
  CurlTransport outside;
  Notifier notifier(*ParseReceivers("alertmanager=" + url_, ""), outside, clock);
  Notice notice;
  notice.key = "v0123456789ab";
  notice.title = "FathomVerdict";
  notice.summary = "rank 3 holds the job back";
  notice.labels = {{"job", "train"}};
  notice.link = "http://head:7070/#/verdict/v0123456789ab";
  notice.began = clock.Wall();
  notifier.Tell(notice);
  const auto began = std::chrono::steady_clock::now();
  Json alerts = Alerts(1);
  ASSERT_EQ(alerts.size(), 1u);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(10));
  EXPECT_EQ(alerts[0]["labels"]["episode"], "v0123456789ab");
  EXPECT_EQ(alerts[0]["generatorURL"], notice.link);
  notice.summary = "rank 3 still holds the job back";
  notifier.Tell(notice);
  alerts = Alerts(1, notice.summary);
  ASSERT_EQ(alerts.size(), 1u);
  EXPECT_EQ(alerts[0]["annotations"]["summary"], notice.summary);
  notice.over = clock.Wall();
  notifier.Tell(notice);
  EXPECT_EQ(Alerts(0).size(), 0u);
}

}  // namespace
}  // namespace fathom::collector
