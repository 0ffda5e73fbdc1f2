#include "diagnosis/model/device_peak.h"

#include <gtest/gtest.h>

namespace fathom::diagnosis {
namespace {

FlopByClass Of(FlopClass which, double flop) {
  FlopByClass all{};
  all[static_cast<std::size_t>(which)] = flop;
  return all;
}

TEST(DevicePeak, IsThatOfTheDataSheet) {
  const DevicePeak peak = PeakOf("NVIDIA H100 80GB HBM3");
  EXPECT_EQ(peak.source, "data sheet");
  EXPECT_NEAR(*peak.Seconds(Of(FlopClass::kFp16, 989.4e12)), 1, 1e-9);
  EXPECT_NEAR(*PeakOf("NVIDIA A100-SXM4-80GB").Seconds(Of(FlopClass::kTf32, 156e12)), 1, 1e-9);
}

TEST(DevicePeak, TheTimesOfClassesAdd) {
  FlopByClass both = Of(FlopClass::kFp16, 989.4e12);
  both[static_cast<std::size_t>(FlopClass::kFp32)] = 67e12;
  EXPECT_NEAR(*PeakOf("NVIDIA H100 80GB HBM3").Seconds(both), 2, 1e-9);
}

TEST(DevicePeak, NoOtherModelsIsTaken) {
  for (const char* name : {"", "cpu", "NVIDIA H100", "NVIDIA H800", "NVIDIA H100 80GB HBM3e",
                           "nvidia h100 80gb hbm3", "AMD Instinct MI300X"}) {
    EXPECT_FALSE(PeakOf(name).known()) << name;
    EXPECT_FALSE(PeakOf(name).Seconds(Of(FlopClass::kFp16, 1))) << name;
  }
}

TEST(DevicePeak, AClassThatTheDeviceDoesNotHaveHasNone) {
  EXPECT_FALSE(PeakOf("NVIDIA A100-SXM4-80GB").Seconds(Of(FlopClass::kFp4, 1)));
  EXPECT_FALSE(PeakOf("Tesla V100-SXM2-16GB").Seconds(Of(FlopClass::kTf32, 1)));
}

TEST(DevicePeak, NothingTakesNoTime) { EXPECT_EQ(PeakOf("NVIDIA H200").Seconds(FlopByClass{}), 0); }

}  // namespace
}  // namespace fathom::diagnosis
