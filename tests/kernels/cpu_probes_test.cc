// The probes of the CPU, for real, on whatever machine runs the tests: their results are right, and
// a flipped bit is found. No test asserts a speed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

#include "kernels/cpu/gemm.h"
#include "kernels/cpu/multiply.h"
#include "kernels/cpu/spin.h"
#include "kernels/measure/machine.h"
#include "kernels/memory/bandwidth.h"
#include "kernels/memory/pattern.h"

namespace fathom::kernels {
namespace {

using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;

Bounds ShortBounds() {
  const Machine machine = ThisMachine();
  Bounds bounds;
  bounds.seconds = 0.05;
  bounds.bytes = std::size_t{32} << 20 << (machine.cpus.size() > 1 ? 1 : 0);
  bounds.cpus = {machine.cpus.front(), machine.cpus.back()};
  bounds.numa = {bounds.cpus};
  return bounds;
}

double ValueOf(const ProbeResult& result, const std::string& name) {
  for (const Figure& figure : result.figures) {
    if (figure.name == name) return figure.value;
  }
  ADD_FAILURE() << "no figure " << name;
  return -1;
}

void FlipBit(void* memory, std::size_t byte, int bit) {
  static_cast<unsigned char*>(memory)[byte] ^= static_cast<unsigned char>(1 << bit);
}

TEST(Gemm, EqualsThreePlainLoopsInFp32) {
  const auto a = WholeMatrix<float>(3);
  const auto b = WholeMatrix<float>(4);
  EXPECT_EQ(Gemm<float>(a, b).Run(), ReferenceGemm(a, b));
}

TEST(Gemm, EqualsThreePlainLoopsInFp64) {
  const auto a = WholeMatrix<double>(3);
  const auto b = WholeMatrix<double>(4);
  EXPECT_EQ(Gemm<double>(a, b).Run(), ReferenceGemm(a, b));
}

TEST(Gemm, RoughMatricesAreCloseToTheReference) {
  const auto a = RoughMatrix<float>(5);
  const auto b = RoughMatrix<float>(6);
  const std::vector<float> expected = ReferenceGemm(a, b);
  Gemm<float> gemm(a, b);
  const std::vector<float>& product = gemm.Run();
  for (std::size_t i = 0; i < product.size(); ++i) ASSERT_NEAR(product[i], expected[i], 1e-4);
}

TEST(Multiply, GivesTheSameDigestEachTime) {
  const ProbeResult first = MultiplyFp32(ShortBounds());
  const ProbeResult second = MultiplyFp32(ShortBounds());
  EXPECT_EQ(first.outcome, Outcome::kDone) << first.reason;
  EXPECT_EQ(first.digest, second.digest);
  EXPECT_NE(first.digest, MultiplyFp64(ShortBounds()).digest);
  EXPECT_GT(ValueOf(first, "gemm_fp32"), 0);
}

TEST(Multiply, FindsOneFlippedBitOfOneProduct) {
  const Disturb flip = [](std::size_t core, std::size_t slice, void* product) {
    if (core == 1 && slice == 1) FlipBit(product, 4 * 4711, 0);
  };
  Bounds bounds = ShortBounds();
  bounds.seconds = 1;  // so that each core has a second product on a loaded machine as well
  const ProbeResult result = MultiplyFp32(bounds, flip);
  EXPECT_EQ(result.outcome, Outcome::kFaulty);
  EXPECT_THAT(result.reason, HasSubstr("cpu" + std::to_string(bounds.cpus[1]) + ": 1 of"));
}

TEST(Exact, FindsWhatIsWrongInTheSameWayEachTime) {
  const Disturb flip = [](std::size_t core, std::size_t, void* product) {
    if (core == 0) FlipBit(product, 4 * 17 + 1, 3);
  };
  const Bounds bounds = ShortBounds();
  const ProbeResult result = Exact(bounds, flip);
  EXPECT_EQ(result.outcome, Outcome::kFaulty);
  EXPECT_THAT(result.reason, HasSubstr("cpu" + std::to_string(bounds.cpus[0]) + ": "));
  EXPECT_EQ(Exact(bounds).outcome, Outcome::kDone);
}

TEST(MemoryPattern, FindsAFlippedBitAndItsPlace) {
  const DisturbMemory flip = [](std::size_t core, std::span<std::uint64_t> words) {
    if (core == 1) words[100] ^= std::uint64_t{1} << 40;
  };
  const ProbeResult result = MemoryPattern(ShortBounds(), flip);
  EXPECT_EQ(result.outcome, Outcome::kFaulty);
  EXPECT_THAT(result.reason, HasSubstr("first at byte 800, bits 0000010000000000"));
  EXPECT_EQ(MemoryPattern(ShortBounds()).outcome, Outcome::kDone);
}

TEST(Spin, TellsClocksAndWhoTookTheTime) {
  const ProbeResult result = Spin(ShortBounds());
  EXPECT_EQ(result.outcome, Outcome::kDone);
  EXPECT_GT(ValueOf(result, "chain_rate"), 0);
  EXPECT_GT(ValueOf(result, "slowest_core"), 0);
  for (const char* share : {"throttled", "stolen", "waited"}) {
    EXPECT_GE(ValueOf(result, share), 0) << share;
    EXPECT_LE(ValueOf(result, share), 1) << share;
  }
}

TEST(Memory, BandwidthAndLatencyAreTold) {
  const ProbeResult bandwidth = MemoryBandwidth(ShortBounds());
  EXPECT_EQ(bandwidth.outcome, Outcome::kDone) << bandwidth.reason;
  EXPECT_GT(ValueOf(bandwidth, "memory_read"), 0);
  EXPECT_GT(ValueOf(bandwidth, "memory_copy"), 0);
  const ProbeResult latency = MemoryLatency(ShortBounds());
  EXPECT_GT(ValueOf(latency, "memory_latency"), 0);
}

TEST(Memory, LatencyAcrossNumaNodesHasItsOwnFigure) {
  Bounds bounds = ShortBounds();
  bounds.numa = {{bounds.cpus[0]}, {bounds.cpus[1]}};
  const ProbeResult latency = MemoryLatency(bounds);
  EXPECT_THAT(latency.figures, Contains(Field(&Figure::where, "node0-node1")));
}

TEST(Memory, TooLittleIsSkippedWithAReason) {
  Bounds bounds = ShortBounds();
  bounds.bytes = 1 << 20;
  const ProbeResult result = MemoryBandwidth(bounds);
  EXPECT_EQ(result.outcome, Outcome::kSkipped);
  EXPECT_THAT(result.reason, HasSubstr("too small"));
}

TEST(Probes, EndEarlyWhenStopped) {
  const std::atomic<bool> stop{true};
  Bounds bounds = ShortBounds();
  bounds.seconds = 3600;
  bounds.stop = &stop;
  EXPECT_EQ(Spin(bounds).outcome, Outcome::kDone);
  EXPECT_EQ(Exact(bounds).outcome, Outcome::kDone);
  EXPECT_EQ(MultiplyFp64(bounds).outcome, Outcome::kDone);
  EXPECT_EQ(MemoryPattern(bounds).outcome, Outcome::kDone);
}

}  // namespace
}  // namespace fathom::kernels
