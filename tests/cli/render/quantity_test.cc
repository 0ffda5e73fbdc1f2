#include "collector/cli/render/quantity.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/cli/render/golden.h"

namespace fathom::cli {
namespace {

TEST(QuantityTest, Seconds) {
  EXPECT_EQ(Seconds(0), "-");
  EXPECT_EQ(Seconds(-1), "-");
  EXPECT_EQ(Seconds(std::nan("")), "-");
  EXPECT_EQ(Seconds(12e-6), "12 us");
  EXPECT_EQ(Seconds(0.0412), "41.2 ms");
  EXPECT_EQ(Seconds(0.00154), "1.54 ms");
  EXPECT_EQ(Seconds(1.5), "1.50 s");
  EXPECT_EQ(Seconds(61), "61.0 s");
  EXPECT_EQ(Seconds(200), "3 min 20 s");
  EXPECT_EQ(Seconds(7300), "2 h 1 min");
}

TEST(QuantityTest, RatiosNumbersAndAges) {
  EXPECT_EQ(GpuTime(0.00436), "15.7 GPU-seconds");
  EXPECT_EQ(GpuTime(0.001), "3.60 GPU-seconds");
  EXPECT_EQ(GpuTime(3.21), "3.21 GPU-hours");
  EXPECT_EQ(Times(0), "-");
  EXPECT_EQ(Times(2.414), "2.41x");
  EXPECT_EQ(Times(120), "120x");
  EXPECT_EQ(Number(0.00441), "0.00441");
  EXPECT_EQ(Number(123456.7), "123457");
  EXPECT_EQ(Ago(0, 5), "-");
  EXPECT_EQ(Ago(10, 5), "0 s ago");
  EXPECT_EQ(Ago(1, 3'000'000'001), "3 s ago");
  EXPECT_EQ(Ago(1, 600'000'000'001), "10 min ago");
  EXPECT_EQ(Ago(1, 36'000'000'000'001), "10 h ago");
}

TEST(QuantityTest, LocalTime) {
  UseUtc();
  EXPECT_EQ(LocalTime(1'795'262'500'000'000'000), "2026-11-21 12:01:40");
  EXPECT_EQ(LocalTime(0), "-");
}

}  // namespace
}  // namespace fathom::cli
