// Which rule of the kernel forbids to read a stack, as data.
#include "daemon/agent/source/stack/ptrace_permission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/fakes/ring_writer.h"

namespace fathom::agent {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

struct Case {
  const char* name;
  const char* scope;  // null: no Yama
  int agent_user;
  const char* agent_capabilities;
  int agent_seccomp;
  int job_user;
  const char* says;
};

class PtracePermissionTest : public ::testing::TestWithParam<Case> {
 protected:
  void Write(const std::string& file, const std::string& text) {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }

  void WriteStatus(const std::string& who, int user, const std::string& caps, int seccomp) {
    const std::string id = std::to_string(user);
    Write(who + "/status", "Name:\tx\nUid:\t" + id + "\t" + id + "\t" + id + "\t" + id +
                               "\nCapEff:\t" + caps + "\nSeccomp:\t" + std::to_string(seccomp) +
                               "\n");
  }

  fakes::RingFolder folder_;
  const fs::path root_ = folder_.path();
};

TEST_P(PtracePermissionTest, NamesTheRuleThatForbidsIt) {
  const Case& c = GetParam();
  if (c.scope != nullptr)
    Write("sys/kernel/yama/ptrace_scope", std::string(c.scope).append(1, '\n'));
  WriteStatus("self", c.agent_user, c.agent_capabilities, c.agent_seccomp);
  WriteStatus("42", c.job_user, "0000000000000000", 0);
  const std::string said = ExplainRefusal({root_, root_}, 42);
  EXPECT_THAT(said, HasSubstr("not permitted: "));
  EXPECT_THAT(said, HasSubstr(c.says));
}

constexpr char kNone[] = "0000000000000000", kTrace[] = "0000000000080000",
               kAll[] = "000001ffffffffff";

INSTANTIATE_TEST_SUITE_P(
    All, PtracePermissionTest,
    ::testing::Values(
        Case{"yama_1", "1", 1000, kNone, 0, 1000,
             "ptrace_scope is 1 (descendants only): set it to 0"},
        Case{"yama_2", "2", 1000, kNone, 0, 1000, "ptrace_scope is 2 (CAP_SYS_PTRACE only)"},
        Case{"yama_3", "3", 0, kAll, 0, 1000, "until the next boot"},
        Case{"another_user", "0", 65534, kNone, 0, 1000,
             "belongs to user 1000, the agent runs as 65534: run the agent as the job's user, or"},
        Case{"another_user_and_yama", "1", 65534, kNone, 0, 1000,
             "job's user with kernel.yama.ptrace_scope 0, or give it CAP_SYS_PTRACE"},
        Case{"filter_of_a_container", "1", 0, kTrace, 2, 1000, "seccomp"},
        Case{"filter_without_yama", nullptr, 1000, kNone, 2, 1000, "seccomp"},
        Case{"capability_of_another_namespace", "1", 0, kTrace, 0, 1000, "user namespace"},
        Case{"not_dumpable", "0", 1000, kNone, 0, 1000, "not dumpable"}),
    [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace fathom::agent
