#include "collector/cordon/audit/audit_log.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

namespace fathom::cordon {
namespace {

class AuditLogTest : public ::testing::Test {
 protected:
  AuditLogTest() : file_(::testing::TempDir() + "fathom-audit-" + std::to_string(getpid())) {
    std::filesystem::remove(file_);
  }
  ~AuditLogTest() override { std::filesystem::remove(file_); }

  absl::StatusOr<std::unique_ptr<AuditLog>> Open() {
    read_.clear();
    return AuditLog::Open(file_, [this](const Record& record) { read_.push_back(record); });
  }
  static Record Of(const std::string& action) {
    Record record;
    record.kind = RecordKind::kIntended;
    record.time = WallNs(42);
    record.action = action;
    record.text = "a \"quoted\"\nline";
    return record;
  }
  std::string Text() const {
    std::ostringstream text;
    text << std::ifstream(file_).rdbuf();
    return text.str();
  }
  void WriteText(const std::string& text) const { std::ofstream(file_) << text; }

  std::string file_;
  std::vector<Record> read_;
};

TEST_F(AuditLogTest, GivesBackWhatWasWritten) {
  ASSERT_TRUE((*Open())->Append(Of("a1")).ok());
  ASSERT_TRUE((*Open())->Append(Of("a2")).ok());
  const auto log = Open();
  ASSERT_TRUE(log.ok());
  ASSERT_EQ(read_.size(), 2u);
  EXPECT_EQ(read_[1].action, "a2");
  EXPECT_EQ(read_[1].text, "a \"quoted\"\nline");
  EXPECT_EQ(read_[1].time, WallNs(42));
}

TEST_F(AuditLogTest, OneActsWhenTwoRun) {
  auto first = Open();
  ASSERT_TRUE(first.ok());
  EXPECT_TRUE(absl::IsUnavailable(Open().status()));
  first->reset();
  EXPECT_TRUE(Open().ok());
}

TEST_F(AuditLogTest, CutsOffTheHalfLineThatACrashLeft) {
  ASSERT_TRUE((*Open())->Append(Of("a1")).ok());
  WriteText(Text() + "{\"seq\":2,\"prev\":");
  {
    const auto log = Open();
    ASSERT_TRUE(log.ok());
    EXPECT_EQ((*log)->cut_off(), 16);
    ASSERT_TRUE((*log)->Append(Of("a2")).ok());
  }
  ASSERT_TRUE(Open().ok());
  EXPECT_EQ(read_.size(), 2u);
}

TEST_F(AuditLogTest, NamesTheLineThatWasChanged) {
  for (const char* id : {"a1", "a2", "a3"}) ASSERT_TRUE((*Open())->Append(Of(id)).ok());
  std::string text = Text();
  text.replace(text.find("a2"), 2, "a9");
  WriteText(text);
  const auto status = Open().status();
  EXPECT_TRUE(absl::IsDataLoss(status));
  EXPECT_NE(std::string(status.message()).find("line 2"), std::string::npos) << status.message();
}

TEST_F(AuditLogTest, NoticesALineThatWasTakenOut) {
  for (const char* id : {"a1", "a2", "a3"}) ASSERT_TRUE((*Open())->Append(Of(id)).ok());
  const std::string text = Text();
  const auto first = text.find('\n') + 1, second = text.find('\n', first) + 1;
  WriteText(text.substr(0, first) + text.substr(second));
  EXPECT_TRUE(absl::IsDataLoss(Open().status()));
}

TEST_F(AuditLogTest, AFullDiskIsAnErrorAndLeavesTheChainWhole) {
  auto log = Open();
  ASSERT_TRUE((*log)->Append(Of("a1")).ok());
  // A file-size limit in the middle of the next line stands for a disk that fills up.
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit tight{static_cast<rlim_t>(Text().size() + 20), before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tight), 0);
  EXPECT_FALSE((*log)->Append(Of("a2")).ok());
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_TRUE((*log)->Append(Of("a3")).ok());
  log->reset();
  ASSERT_TRUE(Open().ok());
  ASSERT_EQ(read_.size(), 2u);
  EXPECT_EQ(read_[1].action, "a3");
}

}  // namespace
}  // namespace fathom::cordon
