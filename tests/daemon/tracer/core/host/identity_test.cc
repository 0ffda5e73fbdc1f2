#include "daemon/tracer/core/host/identity.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace fathom::tracer {
namespace {

using Environment = std::map<std::string, std::string>;
Environment environment;
const char* Lookup(const char* name) {
  const auto found = environment.find(name);
  return found == environment.end() ? nullptr : found->second.c_str();
}

struct Case {
  const char* name;
  Environment given;
  abi::IdentitySource source;
  std::uint32_t rank;
  std::uint32_t world_size;
  std::uint32_t local_rank;
  std::uint32_t restart_count;
  const char* job;
};
class IdentityTest : public testing::TestWithParam<Case> {};

TEST_P(IdentityTest, ComesFromTheFirstLauncherThatTells) {
  environment = GetParam().given;
  const Identity identity = ReadIdentity(Lookup);
  EXPECT_EQ(identity.source, GetParam().source);
  EXPECT_EQ(identity.rank, GetParam().rank);
  EXPECT_EQ(identity.world_size, GetParam().world_size);
  EXPECT_EQ(identity.local_rank, GetParam().local_rank);
  EXPECT_EQ(identity.restart_count, GetParam().restart_count);
  EXPECT_STREQ(identity.job, GetParam().job);
}

constexpr std::uint32_t kNone = abi::kNoPeer;
const Case kCases[] = {
    {"Nothing", {}, abi::IdentitySource::kNone, kNone, 0, kNone, 0, "job"},
    {"Torchrun",
     {{"RANK", "5"},
      {"WORLD_SIZE", "8"},
      {"LOCAL_RANK", "1"},
      {"TORCHELASTIC_RUN_ID", "abc"},
      {"TORCHELASTIC_RESTART_COUNT", "2"}},
     abi::IdentitySource::kTorchrun,
     5,
     8,
     1,
     2,
     "torchrun-abc"},
    {"TorchrunWithoutRunId",
     {{"RANK", "0"},
      {"WORLD_SIZE", "2"},
      {"TORCHELASTIC_RUN_ID", "none"},
      {"MASTER_ADDR", "10.0.0.1"},
      {"MASTER_PORT", "29500"}},
     abi::IdentitySource::kTorchrun,
     0,
     2,
     kNone,
     0,
     "torchrun-10.0.0.1-29500"},
    {"TorchrunInsideSlurm",
     {{"RANK", "3"}, {"WORLD_SIZE", "4"}, {"SLURM_PROCID", "0"}, {"SLURM_JOB_ID", "77"}},
     abi::IdentitySource::kTorchrun,
     3,
     4,
     kNone,
     0,
     "torchrun"},
    {"Slurm",
     {{"SLURM_PROCID", "11"},
      {"SLURM_NTASKS", "16"},
      {"SLURM_LOCALID", "3"},
      {"SLURM_JOB_ID", "77"}},
     abi::IdentitySource::kSlurm,
     11,
     16,
     3,
     0,
     "slurm-77"},
    {"OpenMpi",
     {{"OMPI_COMM_WORLD_RANK", "1"},
      {"OMPI_COMM_WORLD_SIZE", "2"},
      {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}},
     abi::IdentitySource::kMpi,
     1,
     2,
     1,
     0,
     "mpi"},
    {"Pmix",
     {{"PMIX_RANK", "4"}, {"PMIX_NAMESPACE", "prte.1"}},
     abi::IdentitySource::kMpi,
     4,
     0,
     kNone,
     0,
     "mpi-prte.1"},
    {"Pmi",
     {{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}},
     abi::IdentitySource::kMpi,
     1,
     2,
     kNone,
     0,
     "mpi"},
    {"RankThatIsNoNumber",
     {{"RANK", "first"}, {"WORLD_SIZE", "2"}},
     abi::IdentitySource::kNone,
     kNone,
     0,
     kNone,
     0,
     "job"},
    {"RankOutsideItsWorld",
     {{"RANK", "9"}, {"WORLD_SIZE", "4"}},
     abi::IdentitySource::kTorchrun,
     9,
     0,
     kNone,
     0,
     "torchrun"},
    {"OddBytesInTheRunId",
     {{"RANK", "0"}, {"TORCHELASTIC_RUN_ID", "a/b c"}},
     abi::IdentitySource::kTorchrun,
     0,
     0,
     kNone,
     0,
     "torchrun-a_b_c"},
};
INSTANTIATE_TEST_SUITE_P(Launchers, IdentityTest, testing::ValuesIn(kCases),
                         [](const auto& test) { return test.param.name; });

TEST(IdentityTest, ALongRunIdIsCut) {
  environment = {{"RANK", "0"}, {"TORCHELASTIC_RUN_ID", std::string(200, 'r')}};
  const Identity identity = ReadIdentity(Lookup);
  EXPECT_EQ(std::string(identity.run_id).size(), abi::kNameBytes - 1);
  EXPECT_EQ(std::string(identity.job).size(), abi::kNameBytes - 1);
}

}  // namespace
}  // namespace fathom::tracer
