#include "diagnosis/stats/binomial.h"

#include <cmath>

namespace fathom::diagnosis {

double BinomialTail(std::size_t n, std::size_t least, double p) {
  const auto count = static_cast<double>(n);
  double sum = 0;
  for (std::size_t k = least; k <= n; ++k) {
    const auto successes = static_cast<double>(k);
    sum += std::exp(std::lgamma(count + 1) - std::lgamma(successes + 1) -
                    std::lgamma(count - successes + 1) + successes * std::log(p) +
                    (count - successes) * std::log1p(-p));
  }
  return sum;
}

}  // namespace fathom::diagnosis
