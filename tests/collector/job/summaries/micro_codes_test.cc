#include "collector/job/summaries/micro_codes.h"

#include <gtest/gtest.h>

#include <limits>

namespace fathom::collector {
namespace {

TEST(Micro16, IsExactBelow2048) {
  for (std::uint32_t v = 0; v < 2048; ++v) EXPECT_EQ(FromMicro16(ToMicro16(v)), v);
}

TEST(Micro16, StaysWithinOneIn4096Everywhere) {
  for (std::uint64_t v = 2048; v <= std::numeric_limits<std::uint32_t>::max(); v += 1 + v / 997) {
    const double back = static_cast<double>(FromMicro16(ToMicro16(static_cast<std::uint32_t>(v))));
    EXPECT_NEAR(back, static_cast<double>(v), static_cast<double>(v) / 4096 + 0.5) << v;
  }
  const auto top = std::numeric_limits<std::uint32_t>::max();
  EXPECT_NEAR(static_cast<double>(FromMicro16(ToMicro16(top))), top, top / 4096.0);
}

TEST(Micro16, KeepsOrder) {
  Micro16 last = 0;
  for (std::uint64_t v = 1; v <= 0xffffffffu; v = v * 21 / 20 + 1) {
    const Micro16 code = ToMicro16(static_cast<std::uint32_t>(v));
    EXPECT_GE(code, last);
    last = code;
  }
}

TEST(Log8, IsWithinFivePerCentAndNeverSaysMissing) {
  EXPECT_EQ(FromLog8(ToLog8(0)), 0u);
  for (std::uint64_t v = 20; v <= 0xffffffffu; v = v * 11 / 10) {
    EXPECT_NE(ToLog8(v), kLog8Missing);
    EXPECT_NEAR(static_cast<double>(FromLog8(ToLog8(v))), static_cast<double>(v),
                0.05 * static_cast<double>(v));
  }
  EXPECT_NE(ToLog8(~std::uint64_t{0}), kLog8Missing);
}

}  // namespace
}  // namespace fathom::collector
