#include "daemon/tracer/core/host/settings.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace fathom::tracer {
namespace {

std::map<std::string, std::string> environment;
const char* Lookup(const char* name) {
  const auto found = environment.find(name);
  return found == environment.end() ? nullptr : found->second.c_str();
}

Settings Read(std::map<std::string, std::string> given) {
  environment = std::move(given);
  return ReadSettings(Lookup);
}

TEST(SettingsTest, DefaultsAreOnAndCountNothing) {
  const Settings settings = Read({});
  EXPECT_FALSE(settings.disabled);
  EXPECT_STREQ(settings.shm_dir, "/dev/shm/fathom");
  EXPECT_EQ(settings.records, abi::kDefaultRecords);
  EXPECT_EQ(settings.sources, abi::kSourceGloo | abi::kSourcePython | abi::kSourceCuda |
                                  abi::kSourceCupti | abi::kSourceNccl | abi::kSourceNcclPlugin |
                                  abi::kSourceProducts | abi::kSourceNcclTransfers);
  EXPECT_STREQ(settings.job, "");
  EXPECT_EQ(settings.bad_settings, 0u);
}

struct DisableCase {
  const char* value;
  bool disabled;
};
class DisableTest : public testing::TestWithParam<DisableCase> {};
TEST_P(DisableTest, AnythingButZeroAndNothingDisables) {
  EXPECT_EQ(Read({{"FATHOM_DISABLE", GetParam().value}}).disabled, GetParam().disabled);
}
INSTANTIATE_TEST_SUITE_P(Values, DisableTest,
                         testing::Values(DisableCase{"", false}, DisableCase{"0", false},
                                         DisableCase{"1", true}, DisableCase{"true", true},
                                         DisableCase{"00", true}));

struct RingCase {
  const char* kib;
  std::uint32_t records;
  std::uint32_t bad;
};
class RingSizeTest : public testing::TestWithParam<RingCase> {};
TEST_P(RingSizeTest, IsRoundedDownToAPowerOfTwoOrRefused) {
  const Settings settings = Read({{"FATHOM_RING_KIB", GetParam().kib}});
  EXPECT_EQ(settings.records, GetParam().records);
  EXPECT_EQ(settings.bad_settings, GetParam().bad);
}
INSTANTIATE_TEST_SUITE_P(
    Values, RingSizeTest,
    testing::Values(RingCase{"64", 1024, 0}, RingCase{"1024", 16384, 0}, RingCase{"1500", 16384, 0},
                    RingCase{"65536", abi::kMaxRecords, 0}, RingCase{"", abi::kDefaultRecords, 0},
                    RingCase{"63", abi::kDefaultRecords, 1}, RingCase{"0", abi::kDefaultRecords, 1},
                    RingCase{"65537", abi::kDefaultRecords, 1},
                    RingCase{"-64", abi::kDefaultRecords, 1},
                    RingCase{"1e3", abi::kDefaultRecords, 1},
                    RingCase{" 64", abi::kDefaultRecords, 1},
                    RingCase{"99999999999999999999", abi::kDefaultRecords, 1}));

TEST(SettingsTest, TransfersOfNcclCanBeLeftOut) {
  const auto on = [](const char* value) {
    return (Read({{"FATHOM_NCCL_TRANSFERS", value}}).sources & abi::kSourceNcclTransfers) != 0;
  };
  EXPECT_TRUE(on(""));
  EXPECT_TRUE(on("1"));
  EXPECT_FALSE(on("0"));
  EXPECT_TRUE(on("no"));
  EXPECT_EQ(Read({{"FATHOM_NCCL_TRANSFERS", "no"}}).bad_settings, 1u);
  EXPECT_EQ(Read({{"FATHOM_NCCL_TRANSFERS", "0"}}).bad_settings, 0u);
}

struct TraceCase {
  const char* trace;
  std::uint32_t sources;
  std::uint32_t bad;
};
class TraceTest : public testing::TestWithParam<TraceCase> {};
TEST_P(TraceTest, NamesTheSourcesThatMayBeOn) {
  const Settings settings = Read({{"FATHOM_TRACE", GetParam().trace}});
  EXPECT_EQ(settings.sources, GetParam().sources);
  EXPECT_EQ(settings.bad_settings, GetParam().bad);
}
INSTANTIATE_TEST_SUITE_P(
    Values, TraceTest,
    testing::Values(TraceCase{"gloo", abi::kSourceGloo, 0},
                    TraceCase{"python,gloo", abi::kSourceGloo | abi::kSourcePython, 0},
                    TraceCase{"gloo,", abi::kSourceGloo, 0},
                    TraceCase{"gloo,gpu", abi::kSourceGloo, 1}, TraceCase{"Gloo", 0, 1},
                    TraceCase{"glo", 0, 1}, TraceCase{"a,b,c", 0, 3},
                    TraceCase{"nccl",
                              abi::kSourceNccl | abi::kSourceNcclPlugin | abi::kSourceNcclTransfers,
                              0}));

TEST(SettingsTest, AFolderMustBeAbsoluteAndNotTooLong) {
  EXPECT_EQ(Read({{"FATHOM_SHM_DIR", "here"}}).shm_dir, nullptr);
  EXPECT_EQ(Read({{"FATHOM_SHM_DIR", "/" + std::string(300, 'a')}}).shm_dir, nullptr);
  EXPECT_EQ(environment.size(), 1u);
  EXPECT_STREQ(Read({{"FATHOM_SHM_DIR", "/dev/shm/x"}}).shm_dir, "/dev/shm/x");
}

TEST(SettingsTest, AJobNameIsTakenWholeOrNotAtAll) {
  EXPECT_STREQ(Read({{"FATHOM_JOB", "llama-70b_v2.1"}}).job, "llama-70b_v2.1");
  for (const std::string& bad :
       {std::string("a b"), std::string("a/b"), std::string("ä"), std::string(64, 'x')}) {
    const Settings settings = Read({{"FATHOM_JOB", bad}});
    EXPECT_STREQ(settings.job, "") << bad;
    EXPECT_EQ(settings.bad_settings, 1u) << bad;
  }
  EXPECT_STREQ(Read({{"FATHOM_JOB", std::string(63, 'x')}}).job, std::string(63, 'x').c_str());
}

}  // namespace
}  // namespace fathom::tracer
