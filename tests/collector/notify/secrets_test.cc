// Secrets of receivers: from files that others may not read, and never in what is said.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "collector/net/curl_transport.h"
#include "collector/net/secret_file.h"
#include "collector/notify/delivery.h"

namespace fathom::collector {
namespace {

constexpr char kSecret[] = "TOPSECRETTOKEN";
constexpr char kUrl[] =
    "http://ann:HUSHPASSWORD@127.0.0.1:9/services/T00/TOPSECRETTOKEN?key=MOREHUSH1";

bool Clean(const std::string& text) {
  return text.find("TOPSECRET") == text.npos && text.find("HUSH") == text.npos;
}

struct SecretsTest : testing::Test {
  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("fathom-secrets-" + std::to_string(getpid()));
  void SetUp() override { std::filesystem::create_directories(folder); }
  void TearDown() override { std::filesystem::remove_all(folder); }
  std::string File(const std::string& text, mode_t mode = 0600) {
    const std::string name = (folder / "secret").string();
    std::filesystem::remove(name);
    std::ofstream(name) << text;
    chmod(name.c_str(), mode);
    return name;
  }
};

// Says what it was asked for, as some servers do.
class Echo final : public HttpTransport {
 public:
  absl::StatusOr<HttpAnswer> Send(const HttpCall& call) override {
    return HttpAnswer{status, "Cannot POST " + call.url + " " + call.body, 0};
  }
  int status = 404;
};

TEST_F(SecretsTest, AnAddressIsReadFromItsFile) {
  const std::string file = File("\n  http://h/services/x  \n");
  const auto receivers = ReadReceivers("slack=@" + file, "");
  ASSERT_TRUE(receivers.ok()) << receivers.status();
  EXPECT_EQ((*receivers)[0].url, "http://h/services/x");
  EXPECT_EQ(MaskedReceivers("slack=@" + file), "slack=@" + file);
}

TEST_F(SecretsTest, AFileThatEverybodyMayReadIsRefused) {
  for (const mode_t mode : {0644, 0604, 0602}) {
    const std::string file = File(kUrl, mode);
    const auto receivers = ReadReceivers("slack=@" + file, "");
    ASSERT_FALSE(receivers.ok());
    const std::string said(receivers.status().message());
    EXPECT_NE(said.find(file + ": everybody"), std::string::npos) << said;
    EXPECT_TRUE(Clean(said)) << said;
    EXPECT_FALSE(ReadReceivers("pagerduty=http://h", file).ok());
  }
  EXPECT_TRUE(ReadReceivers("slack=@" + File(kUrl, 0640), "").ok());
  for (const char* text : {"", "\n\n"}) EXPECT_FALSE(ReadSecretFile(File(text)).ok());
  EXPECT_FALSE(ReadSecretFile("/nowhere/at/all").ok());
  EXPECT_FALSE(ReadReceivers("pagerduty=http://h", "/nowhere/at/all").ok());
}

TEST_F(SecretsTest, NoErrorShowsOne) {
  const std::string wrong[] = {
      std::string("slak=") + kUrl, std::string("slack=") + "hooks/services/" + kSecret,
      std::string("slack=ftp://h/") + kSecret, "slack=@" + File(std::string("ftp://h/") + kSecret)};
  for (const std::string& text : wrong) {
    const auto receivers = ReadReceivers(text, "");
    ASSERT_FALSE(receivers.ok()) << text;
    EXPECT_TRUE(Clean(std::string(receivers.status().message()))) << receivers.status();
    EXPECT_TRUE(Clean(MaskedReceivers(text))) << MaskedReceivers(text);
  }
  CurlTransport curl;
  Echo echo;
  Notice notice;
  notice.key = "v1";
  for (HttpTransport* transport :
       {static_cast<HttpTransport*>(&curl), static_cast<HttpTransport*>(&echo)}) {
    for (const char* shape : {"slack", "json", "alertmanager", "pagerduty"}) {
      const auto receivers = ParseReceivers(std::string(shape) + "=" + kUrl, "HUSHROUTINGKEY");
      ASSERT_TRUE(receivers.ok());
      const auto status = Deliver((*receivers)[0], notice, WallNs(1), *transport);
      ASSERT_FALSE(status.ok());
      EXPECT_TRUE(Clean(std::string(status.message()))) << status;
    }
  }
}

TEST_F(SecretsTest, NeitherDoesATransportThatCannotReadTheAddress) {
  CurlTransport curl;
  for (const char* url : {"http://ann:HUSH@[/TOPSECRET", "http://h:99999/TOPSECRET",
                          "gopher://h/TOPSECRET", "127.0.0.1:9/TOPSECRET", "HUSH"}) {
    const auto answer = curl.Send({"GET", url, {}, "", 2});
    ASSERT_FALSE(answer.ok());
    EXPECT_TRUE(Clean(std::string(answer.status().message()))) << answer.status();
  }
}

}  // namespace
}  // namespace fathom::collector
