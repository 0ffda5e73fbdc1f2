#include "kernels/cpu/multiply.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/cpu/gemm.h"
#include "kernels/measure/digest.h"
#include "kernels/measure/samples.h"
#include "kernels/measure/workers.h"

namespace fathom::kernels {
namespace {

constexpr std::uint64_t kSeedOfA = 1;
constexpr std::uint64_t kSeedOfB = 2;
constexpr std::uint64_t kWords = 1 << 16;

struct Core {
  std::vector<double> rates;
  std::uint64_t first = 0;  // digest of its first product
  std::size_t wrong = 0;    // products that differ from its own first
  std::size_t products = 0;
};

template <typename T>
std::uint64_t DigestOfProduct(const std::vector<T>& product) {
  return DigestOf(product.data(), product.size() * sizeof(T));
}

template <typename T>
Core MultiplyHere(const Bounds& bounds, std::size_t place, const Disturb& disturb) {
  Core core;
  Gemm<T> gemm(RoughMatrix<T>(kSeedOfA), RoughMatrix<T>(kSeedOfB));
  std::vector<T>* product = nullptr;
  const double end = WallSeconds() + bounds.seconds;
  do {
    const double before = ThreadCpuSeconds();
    product = &gemm.Run();
    const double took = ThreadCpuSeconds() - before;
    if (took > 0) core.rates.push_back(kFlopOfGemm / took);
    if (disturb) disturb(place, core.products, product->data());
    const std::uint64_t digest = DigestOfProduct(*product);
    if (core.products++ == 0) core.first = digest;
    if (digest != core.first) ++core.wrong;
  } while (WallSeconds() < end && !bounds.Stopped());
  return core;
}

// Most cores are right: what differs from the digest that most have first is at fault.
std::uint64_t UsualDigest(const std::vector<Core>& cores) {
  std::uint64_t usual = 0;
  std::ptrdiff_t most = 0;
  for (const Core& core : cores) {
    const auto votes = std::count_if(cores.begin(), cores.end(),
                                     [&](const Core& other) { return other.first == core.first; });
    if (votes > most) usual = core.first;
    most = std::max(most, votes);
  }
  return usual;
}

void Accuse(ProbeResult& result, int cpu, std::size_t wrong, std::size_t products) {
  result.outcome = Outcome::kFaulty;
  if (!result.reason.empty()) result.reason += "; ";
  result.reason += "cpu" + std::to_string(cpu) + ": " + std::to_string(wrong) + " of " +
                   std::to_string(products) + " results have other bits";
}

template <typename T>
ProbeResult Multiply(const char* name, const Bounds& bounds, const Disturb& disturb) {
  ProbeResult result;
  std::vector<Core> cores(bounds.cpus.size());
  RunOnCpus(bounds.cpus, [&](std::size_t i) { cores[i] = MultiplyHere<T>(bounds, i, disturb); });
  Figure speed{.name = name, .unit = "flop/s"};
  std::vector<double> medians;
  const std::uint64_t usual = UsualDigest(cores);
  for (std::size_t i = 0; i < cores.size(); ++i) {
    const Core& core = cores[i];
    medians.push_back(MedianOf(core.rates));
    speed.value += medians.back();
    speed.spread += SpreadOf(core.rates);
    const std::size_t wrong = core.first == usual ? core.wrong : core.products - core.wrong;
    if (wrong > 0) Accuse(result, bounds.cpus[i], wrong, core.products);
  }
  const auto slowest = std::min_element(medians.begin(), medians.end());
  const double median = MedianOf(medians);
  result.figures.push_back(speed);
  result.figures.push_back(
      {.name = "slowest_core",
       .where =
           "cpu" + std::to_string(bounds.cpus[static_cast<std::size_t>(slowest - medians.begin())]),
       .value = median > 0 ? *slowest / median : 1,
       .unit = "ratio"});
  result.digest = std::string(VariantName()) + ":" + HexOf(usual);
  return result;
}

// Shifts, rotations, multiplications and comparisons of integers; the result is known.
std::uint64_t IntegerChain() {
  std::uint64_t state = 0x243f6a8885a308d3u;
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < kWords; ++i) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    sum = (sum << 5 | sum >> 59) + (state > sum ? state : ~state * (i | 1));
  }
  return sum;
}

// What one core is to give, computed by plain loops of another kind on whatever core comes.
struct Expected {
  std::vector<float> a = WholeMatrix<float>(kSeedOfA);
  std::vector<float> b = WholeMatrix<float>(kSeedOfB);
  std::vector<float> product = ReferenceGemm(a, b);
  std::uint64_t chain = 0xb7c7f85652be0bf5u;
};

Core ExactHere(const Bounds& bounds, std::size_t place, const Expected& expected,
               const Disturb& disturb) {
  Core core;
  Gemm<float> gemm(expected.a, expected.b);
  const double end = WallSeconds() + bounds.seconds;
  do {
    std::vector<float>& product = gemm.Run();
    if (disturb) disturb(place, core.products, product.data());
    const bool right = product == expected.product && IntegerChain() == expected.chain;
    ++core.products;
    if (!right) ++core.wrong;
  } while (WallSeconds() < end && !bounds.Stopped());
  return core;
}

}  // namespace

ProbeResult MultiplyFp32(const Bounds& bounds, const Disturb& disturb) {
  return Multiply<float>("gemm_fp32", bounds, disturb);
}

ProbeResult MultiplyFp64(const Bounds& bounds, const Disturb& disturb) {
  return Multiply<double>("gemm_fp64", bounds, disturb);
}

ProbeResult Exact(const Bounds& bounds, const Disturb& disturb) {
  ProbeResult result;
  const Expected expected;
  std::vector<Core> cores(bounds.cpus.size());
  RunOnCpus(bounds.cpus,
            [&](std::size_t i) { cores[i] = ExactHere(bounds, i, expected, disturb); });
  std::size_t products = 0;
  for (std::size_t i = 0; i < cores.size(); ++i) {
    products += cores[i].products;
    if (cores[i].wrong > 0) Accuse(result, bounds.cpus[i], cores[i].wrong, cores[i].products);
  }
  result.figures.push_back(
      {.name = "checked", .value = static_cast<double>(products), .unit = "1"});
  return result;
}

}  // namespace fathom::kernels
