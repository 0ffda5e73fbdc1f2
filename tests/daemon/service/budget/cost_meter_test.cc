#include "daemon/service/budget/cost_meter.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace fathom::service {
namespace {

enum class Part : std::uint8_t { kAround, kInside };
using Meter = CostMeter<Part, 2>;

const PartCost& Of(const Meter::Costs& costs, Part part) {
  return costs[static_cast<std::size_t>(part)];
}

TEST(CostMeterTest, APartIsChargedWithoutWhatLiesInIt) {
  std::int64_t now = 100;
  Meter meter([&now] { return now; });
  {
    const Meter::In around(&meter, Part::kAround);
    now += 10;
    {
      const Meter::In inside(&meter, Part::kInside);
      now += 70;
      meter.Handled(Part::kInside, 7);
    }
    now += 5;
  }
  now += 3;
  const Meter::Costs costs = meter.Take();
  EXPECT_EQ(Of(costs, Part::kAround).cpu_ns, 15);
  EXPECT_EQ(Of(costs, Part::kAround).runs, 1u);
  EXPECT_EQ(Of(costs, Part::kInside).cpu_ns, 70);
  EXPECT_EQ(Of(costs, Part::kInside).events, 7u);
}

TEST(CostMeterTest, TakingTwiceCountsNothingTwice) {
  std::int64_t now = 0;
  Meter meter([&now] { return now; });
  const Meter::In around(&meter, Part::kAround);
  now += 4;
  EXPECT_EQ(Of(meter.Take(), Part::kAround).cpu_ns, 4) << "also of a part that goes on";
  now += 6;
  const Meter::Costs again = meter.Take();
  EXPECT_EQ(Of(again, Part::kAround).cpu_ns, 6);
  EXPECT_EQ(Of(again, Part::kAround).runs, 0u);
}

TEST(CostMeterTest, ThreadsAreInPartsOfTheirOwn) {
  thread_local std::int64_t now = 0;
  Meter meter([] { return now; });
  const Meter::In around(&meter, Part::kAround);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&meter] {
      for (int run = 0; run < 1000; ++run) {
        const Meter::In inside(&meter, Part::kInside);
        now += 3;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  now += 5;
  const Meter::Costs costs = meter.Take();
  EXPECT_EQ(Of(costs, Part::kInside).cpu_ns, 12'000);
  EXPECT_EQ(Of(costs, Part::kInside).runs, 4000u);
  EXPECT_EQ(Of(costs, Part::kAround).cpu_ns, 5) << "what others do is not within this part";
}

TEST(CostMeterTest, WithoutAMeterNothingHappens) {
  const Meter::In nowhere(nullptr, Part::kInside);
}

}  // namespace
}  // namespace fathom::service
