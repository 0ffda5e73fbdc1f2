#include <algorithm>
#include <cmath>

#include "kernels/cuda/device/digest.h"
#include "kernels/cuda/product/checked_product.h"
#include "kernels/measure/digest.h"
#include "kernels/measure/samples.h"
#include "kernels/measure/workers.h"

namespace fathom::kernels {
namespace {

constexpr double kSliceSeconds = 0.01;
constexpr int kFlippedBit = 12;

class Bench {
 public:
  Bench(const GpuBounds& bounds, const ProductTask& task, const Multiply& multiply)
      : bounds_(bounds),
        task_(task),
        multiply_(multiply),
        a_(task.a.size()),
        b_(task.b.size()),
        c_(task.side * task.side),
        timer_(stream_.Get()) {
    a_.Put(task.a.data());
    b_.Put(task.b.data());
    Check(cudaMemset(c_.Data(), 0xff, c_.Bytes()), "clearing the product");
    Check(cudaDeviceSynchronize(), "clearing the product");
  }

  // Seconds of one product.
  double Run(int products) {
    timer_.Begin();
    for (int i = 0; i < products; ++i) multiply_(a_.Data(), b_.Data(), c_.Data(), stream_.Get());
    return timer_.Seconds() / products;
  }

  std::uint64_t Digest() {
    if (bounds_.flip) FlipBit(c_.Data(), c_.Count() / 3, kFlippedBit, stream_.Get());
    return GpuDigestOf(c_.Data(), c_.Count(), stream_.Get());
  }

  void CheckWhole() const {
    std::vector<float> product(c_.Count());
    c_.Get(product.data());
    const std::string wrong = WhatIsWrong(task_.sums, product);
    if (!wrong.empty()) throw WrongResult(wrong);
  }

 private:
  const GpuBounds& bounds_;
  const ProductTask& task_;
  const Multiply& multiply_;
  DeviceBuffer<std::uint8_t> a_;
  DeviceBuffer<std::uint8_t> b_;
  DeviceBuffer<float> c_;
  Stream stream_;
  EventTimer timer_;
};

}  // namespace

ProductTask::ProductTask(Format of, std::size_t wide) : format(of), side(wide) {
  const WholePair pair = WholePairOf(format, side);
  a = Encoded(pair.a, format);
  b = Encoded(pair.b, format);
  sums = SumsOf(pair);
}

GpuReading MakeAndCheck(const GpuBounds& bounds, const ProductTask& task, const std::string& name,
                        const Multiply& multiply) {
  if (task.a.size() + task.b.size() + 4 * task.side * task.side > bounds.bytes) {
    throw CannotRun("the memory that it may take is too small");
  }
  Bench bench(bounds, task, multiply);
  bench.Run(1);
  const std::uint64_t expected = bench.Digest();
  bench.CheckWhole();
  const int products = std::clamp(static_cast<int>(kSliceSeconds / bench.Run(1)), 1, 1000);
  bench.Run(products);
  std::vector<double> rates;
  const double end = WallSeconds() + bounds.seconds;
  do {
    rates.push_back(task.Flop() / bench.Run(products));
    if (bench.Digest() == expected) continue;
    bench.CheckWhole();
    throw WrongResult("the bits of product " + std::to_string(rates.size()) +
                      " are not the first's");
  } while (WallSeconds() < end && !bounds.Stopped());
  GpuReading reading{.digest = HexOf(expected)};
  reading.figures.push_back(MedianFigure(name, "", rates, "flop/s"));
  reading.figures.push_back(
      {.name = "products_checked", .value = static_cast<double>(rates.size() + 1), .unit = "1"});
  return reading;
}

}  // namespace fathom::kernels
