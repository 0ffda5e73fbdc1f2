#include "collector/cli/process/child_process.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

namespace fathom::cli {
namespace {

class ChildProcessTest : public testing::Test {
 protected:
  int Run(const std::vector<std::string>& argv) {
    const Spawned spawned = SpawnCommand(argv, CurrentEnvironment(), gate_);
    EXPECT_EQ(spawned.error, 0);
    int status = 0;
    EXPECT_EQ(waitpid(spawned.pid, &status, 0), spawned.pid);
    return status;
  }

  SignalGate gate_;
};

TEST_F(ChildProcessTest, ExitCodesAndSignalsAsAShellShowsThem) {
  EXPECT_EQ(ExitCodeOfStatus(Run({"sh", "-c", "exit 7"})), 7);
  const int killed = Run({"sh", "-c", "kill -9 $$"});
  EXPECT_EQ(ExitCodeOfStatus(killed), 137);
  EXPECT_EQ(DescribeStatus(killed), "killed by signal 9 (Killed)");
}

TEST_F(ChildProcessTest, TheCommandGetsTheSignalMaskWeWereGiven) {
  // Nothing blocked but what was blocked before the gate: the shell can be ended by SIGTERM.
  EXPECT_EQ(ExitCodeOfStatus(Run({"sh", "-c", "kill -TERM $$; exit 1"})), 128 + SIGTERM);
}

TEST_F(ChildProcessTest, AFailedExecIsKnownByItsErrno) {
  const Spawned absent = SpawnCommand({"/no/such/program"}, {}, gate_);
  EXPECT_EQ(absent.error, ENOENT);
  EXPECT_EQ(ExitCodeOfExecError("/no/such/program", absent.error), 127);
  const Spawned folder = SpawnCommand({"/tmp"}, {}, gate_);
  EXPECT_EQ(ExitCodeOfExecError("/tmp", folder.error), 126);
}

TEST_F(ChildProcessTest, AScriptWithoutItsInterpreterIsFoundButNotRun) {
  const std::string script = testing::TempDir() + "/no_interpreter";
  std::ofstream(script) << "#!/no/such/interpreter\n";
  chmod(script.c_str(), 0755);
  const Spawned spawned = SpawnCommand({script}, {}, gate_);
  EXPECT_EQ(spawned.error, ENOENT);
  EXPECT_EQ(ExitCodeOfExecError(script, spawned.error), 126);
  std::filesystem::remove(script);
}

TEST(LookUpCommandTest, SearchesAsExecDoes) {
  EXPECT_EQ(LookUpCommand("sh"), 0);
  EXPECT_EQ(LookUpCommand("/bin/sh"), 0);
  EXPECT_EQ(LookUpCommand("no-such-command-here"), ENOENT);
  EXPECT_EQ(LookUpCommand(""), ENOENT);
  EXPECT_EQ(LookUpCommand("/etc"), EACCES);
}

}  // namespace
}  // namespace fathom::cli
