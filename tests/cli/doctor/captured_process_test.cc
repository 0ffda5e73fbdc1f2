#include "collector/cli/doctor/captured_process.h"

#include <gtest/gtest.h>

namespace fathom::cli {
namespace {

using std::chrono::milliseconds;

TEST(CapturedProcessTest, KeepsBothStreamsAndTheExitCode) {
  const auto run = Capture({"sh", "-c", "echo out; echo err >&2; exit 3"}, CurrentEnvironment(),
                           milliseconds(5000));
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->out, "out\n");
  EXPECT_EQ(run->err, "err\n");
  EXPECT_EQ(run->exit_code, 3);
}

TEST(CapturedProcessTest, GivesAnEmptyInput) {
  const auto run = Capture({"cat"}, CurrentEnvironment(), milliseconds(5000));
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->out, "");
}

TEST(CapturedProcessTest, CutsLongOutputAndKillsAtTheDeadline) {
  const auto endless = Capture({"sh", "-c", "yes"}, CurrentEnvironment(), milliseconds(300));
  EXPECT_TRUE(absl::IsDeadlineExceeded(endless.status()));
  const auto much =
      Capture({"sh", "-c", "yes | head -c 1000000"}, CurrentEnvironment(), milliseconds(5000));
  ASSERT_TRUE(much.ok());
  EXPECT_EQ(much->out.size(), 64u * 1024);
}

TEST(CapturedProcessTest, AProgramThatIsNotThere) {
  EXPECT_TRUE(absl::IsNotFound(Capture({"/no/such"}, {}, milliseconds(100)).status()));
}

}  // namespace
}  // namespace fathom::cli
