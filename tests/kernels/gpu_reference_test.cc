// The host's references of what a GPU computes, and what is made of a GPU's clocks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "kernels/cuda/clock/gpu_clock.h"
#include "kernels/cuda/device/word_hash.h"
#include "kernels/cuda/product/blas_library.h"
#include "kernels/cuda/product/whole_product.h"

namespace fathom::kernels {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t kSide = 64;

std::vector<float> ProductOf(const WholePair& pair) {
  std::vector<float> product(pair.side * pair.side);
  for (std::size_t row = 0; row < pair.side; ++row) {
    for (std::size_t column = 0; column < pair.side; ++column) {
      product[row * pair.side + column] = static_cast<float>(ReferenceElement(pair, row, column));
    }
  }
  return product;
}

float Flipped(float number, int bit) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(number) ^ (1u << bit));
}

double Fp8Value(std::uint8_t bits) {
  const int exponent = bits >> 3 & 15;
  const double size =
      exponent == 0 ? (bits & 7) / 512.0 : std::ldexp(8 + (bits & 7), exponent - 10);
  return bits & 0x80 ? -size : size;
}

TEST(WholeProduct, ARightProductPasses) {
  for (const Format format : {Format::kFp32, Format::kBf16, Format::kFp8}) {
    const WholePair pair = WholePairOf(format, kSide);
    EXPECT_EQ(WhatIsWrong(SumsOf(pair), ProductOf(pair)), "") << NameOf(format);
  }
}

TEST(WholeProduct, EveryBitOfAnElementIsMissedNowhere) {
  const WholePair pair = WholePairOf(Format::kBf16, kSide);
  const ProductSums sums = SumsOf(pair);
  std::vector<float> product = ProductOf(pair);
  float& element = product[7 * kSide + 11];
  const float right = element;
  for (int bit = 0; bit < 32; ++bit) {
    element = Flipped(right, bit);
    EXPECT_THAT(WhatIsWrong(sums, product), HasSubstr("row 7, column 11")) << "bit " << bit;
  }
}

// Two errors that cancel in a row's sum still break the columns.
TEST(WholeProduct, ErrorsThatCancelInARowAreFound) {
  const WholePair pair = WholePairOf(Format::kFp32, kSide);
  std::vector<float> product = ProductOf(pair);
  product[3] += 5;
  product[4] -= 5;
  EXPECT_THAT(WhatIsWrong(SumsOf(pair), product), HasSubstr("0 rows and 2 columns"));
}

TEST(WholeProduct, ElementsThatAreExchangedAreFound) {
  const WholePair pair = WholePairOf(Format::kFp32, kSide);
  std::vector<float> product = ProductOf(pair);
  std::swap(product[0], product[kSide + 1]);
  EXPECT_NE(WhatIsWrong(SumsOf(pair), product), "");
}

TEST(WholeProduct, ANumberThatIsNoneIsFound) {
  const WholePair pair = WholePairOf(Format::kFp8, kSide);
  std::vector<float> product = ProductOf(pair);
  product[5] = std::nanf("");
  EXPECT_NE(WhatIsWrong(SumsOf(pair), product), "");
}

TEST(WholeProduct, FormatsHoldTheirNumbersExactly) {
  const std::vector<std::int8_t> small = {-4, -3, -2, -1, 0, 1, 2, 3, 4};
  const std::vector<std::uint8_t> fp8 = Encoded(small, Format::kFp8);
  for (std::size_t i = 0; i < small.size(); ++i) EXPECT_EQ(Fp8Value(fp8[i]), small[i]);
  const std::vector<std::int8_t> whole = {-127, 127, 1, 0};
  const std::vector<std::uint8_t> bf16 = Encoded(whole, Format::kBf16);
  ASSERT_EQ(bf16.size(), 8u);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const std::uint32_t upper = static_cast<std::uint32_t>(bf16[2 * i] | bf16[2 * i + 1] << 8)
                                << 16;
    EXPECT_EQ(std::bit_cast<float>(upper), whole[i]);
  }
}

// So that partial sums stay exact in FP8's accumulators and in FP32.
TEST(WholeProduct, NumbersAreSmallAndOfBothSigns) {
  const WholePair pair = WholePairOf(Format::kFp8, kSide);
  const auto [least, most] = std::minmax_element(pair.a.begin(), pair.a.end());
  EXPECT_EQ(*least, -4);
  EXPECT_EQ(*most, 4);
  EXPECT_NE(pair.a, pair.b);
}

TEST(WordHash, OneFlippedBitAnywhereChangesTheDigest) {
  std::vector<std::uint32_t> words(1000, 17);
  const std::uint64_t before = HostDigestOf(words);
  for (const std::size_t place : {0u, 500u, 999u}) {
    for (int bit = 0; bit < 32; ++bit) {
      words[place] ^= 1u << bit;
      EXPECT_NE(HostDigestOf(words), before);
      words[place] ^= 1u << bit;
    }
  }
  EXPECT_EQ(HostDigestOf(words), before);
}

TEST(WordHash, WordsThatChangePlacesChangeTheDigest) {
  EXPECT_NE(HostDigestOf(std::vector<std::uint32_t>{1, 2}),
            HostDigestOf(std::vector<std::uint32_t>{2, 1}));
}

// Two processors, looks every 20 ms, that fall from `early` to `late` MHz in the middle.
std::vector<ClockLook> Looks(std::size_t count, std::uint64_t early, std::uint64_t late) {
  std::vector<ClockLook> looks;
  for (int processor = 0; processor < 2; ++processor) {
    std::uint64_t cycles = 1000;
    for (std::size_t i = 0; i < count; ++i) {
      looks.push_back({cycles, 5'000'000 + i * 20'000'000});
      cycles += 20'000 * (i < count / 2 ? early : late);
    }
  }
  return looks;
}

const Figure* Find(const std::vector<Figure>& figures, const std::string& name) {
  for (const Figure& figure : figures) {
    if (figure.name == name) return &figure;
  }
  return nullptr;
}

TEST(GpuClock, ASteadyClockHolds) {
  const auto moments = ClockOverTime(Looks(40, 1500, 1500), 40, 5'000'000);
  ASSERT_EQ(moments.size(), 39u);
  EXPECT_NEAR(moments[10].hertz, 1.5e9, 1e3);
  EXPECT_NEAR(moments[10].at_s, 0.22, 1e-9);
  const std::vector<Figure> figures = ClockFigures(moments);
  EXPECT_NEAR(Find(figures, "gpu_clock_held")->value, 1, 1e-6);
}

TEST(GpuClock, AClockThatFallsDoesNotHold) {
  const std::vector<Figure> figures =
      ClockFigures(ClockOverTime(Looks(40, 1800, 1200), 40, 5'000'000));
  EXPECT_NEAR(Find(figures, "gpu_clock_held")->value, 1200.0 / 1800, 1e-6);
  EXPECT_NEAR(Find(figures, "gpu_clock")->value, 1.2e9, 1e3);
  EXPECT_THAT(Find(figures, "gpu_clock_at")->where, HasSubstr("at 0."));
}

TEST(GpuClock, LooksThatWereNotMadeAreLeftOut) {
  std::vector<ClockLook> looks = Looks(40, 1500, 1500);
  for (std::size_t i = 20; i < 40; ++i) looks[i] = looks[40 + i] = {0, 0};
  EXPECT_EQ(ClockOverTime(looks, 40, 5'000'000).size(), 19u);
  EXPECT_TRUE(ClockFigures({}).empty());
}

TEST(BlasLibrary, SaysWhyItIsNotThere) {
  setenv("FATHOM_CUBLASLT", "/nowhere/libcublasLt.so", 1);
  std::string why;
  EXPECT_EQ(BlasLibrary::Get(why), nullptr);
  EXPECT_THAT(why, HasSubstr("/nowhere/libcublasLt.so"));
}

}  // namespace
}  // namespace fathom::kernels
