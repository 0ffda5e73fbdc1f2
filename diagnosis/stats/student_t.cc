#include "diagnosis/stats/student_t.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace fathom::diagnosis {
namespace {

// The probability of a value between -t and t.
double Within(double t, int degrees) {
  const double angle = std::atan(t / std::sqrt(degrees));
  const double cosine = std::cos(angle), sine = std::sin(angle);
  const bool odd = degrees % 2 == 1;
  if (degrees == 1) return 2 * angle / std::numbers::pi;
  double term = odd ? cosine : 1, sum = term;
  for (int power = odd ? 3 : 2; power <= degrees - 2; power += 2) {
    term *= (power - 1.0) / power * cosine * cosine;
    sum += term;
  }
  return odd ? 2 / std::numbers::pi * (angle + sine * sum) : sine * sum;
}

}  // namespace

double StudentTail(double t, int degrees) {
  const double within = Within(std::abs(t), std::max(degrees, 1));
  const double tail = std::clamp((1 - within) / 2, 0.0, 0.5);
  return t >= 0 ? tail : 1 - tail;
}

double StudentQuantile(double chance, int degrees) {
  double low = 0, high = 1;
  while (StudentTail(high, degrees) > chance && high < 1e12) high *= 2;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (StudentTail(middle, degrees) > chance ? low : high) = middle;
  }
  return high;
}

double ChanceOfCorrelation(double correlation, std::size_t pairs) {
  if (pairs < 3) return 1;
  const double left = 1 - correlation * correlation;
  if (left <= 0) return correlation > 0 ? 0 : 1;
  const int degrees = static_cast<int>(pairs) - 2;
  return StudentTail(correlation * std::sqrt(degrees / left), degrees);
}

}  // namespace fathom::diagnosis
