#include "collector/simulate/experiment/plot.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

namespace fathom::simulate {
namespace {

constexpr double kWidth = 640, kHeight = 360;
constexpr double kLeft = 72, kRight = 24, kTop = 44, kBottom = 56;
constexpr const char* kColours[] = {"#0a5ea8", "#c04a00", "#3a7d2c"};
constexpr double kDot = 4;

class Axis {
 public:
  Axis(double least, double most, bool logarithmic, double from, double to)
      : logarithmic_(logarithmic), least_(Of(least)), most_(Of(most)), from_(from), to_(to) {
    if (most_ <= least_) most_ = least_ + 1;
  }
  double At(double value) const {
    return from_ + (Of(value) - least_) / (most_ - least_) * (to_ - from_);
  }

 private:
  double Of(double value) const { return logarithmic_ ? std::log10(value) : value; }
  bool logarithmic_;
  double least_, most_, from_, to_;
};

std::string Escaped(const std::string& text) {
  return absl::StrReplaceAll(text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}});
}

std::string Text(double x, double y, const char* anchor, const std::string& text) {
  return absl::StrFormat("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor,
                         Escaped(text));
}

std::string Line(double x1, double y1, double x2, double y2, const char* look) {
  return absl::StrFormat("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", x1, y1, x2,
                         y2, look);
}

struct Range {
  double least = 0, most = 0;
};

Range RangeOfY(const Plot& plot) {
  if (plot.share) return {0, 100};
  Range range{INFINITY, -INFINITY};
  for (const PlotSeries& series : plot.series) {
    for (const PlotPoint& point : series.points) {
      range.least = std::min({range.least, point.y, point.low});
      range.most = std::max({range.most, point.y, point.high});
    }
  }
  if (!plot.log_y) return {0, range.most * 1.1};
  return {std::pow(10, std::floor(std::log10(range.least))),
          std::pow(10, std::ceil(std::log10(range.most)))};
}

std::vector<double> TicksOfY(const Plot& plot, const Range& range) {
  std::vector<double> ticks;
  if (plot.log_y) {
    for (double tick = range.least; tick <= range.most * 1.001; tick *= 10) ticks.push_back(tick);
    return ticks;
  }
  const double step = std::pow(10, std::floor(std::log10(range.most)));
  const double usual = range.most / step < 2 ? step / 5 : range.most / step < 5 ? step / 2 : step;
  const double apart = plot.share ? 20 : usual;
  for (double tick = 0; tick <= range.most * 1.001; tick += apart) ticks.push_back(tick);
  return ticks;
}

std::set<double> PlacesOfX(const Plot& plot) {
  std::set<double> places;
  for (const PlotSeries& series : plot.series) {
    for (const PlotPoint& point : series.points) places.insert(point.x);
  }
  return places;
}

std::string Dot(std::size_t which, double x, double y) {
  const char* colour = kColours[which % std::size(kColours)];
  if (which % 2 == 0) {
    return absl::StrFormat("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\"/>\n", x, y, kDot,
                           colour);
  }
  return absl::StrFormat(
      "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n", x - kDot,
      y - kDot, 2 * kDot, 2 * kDot, colour);
}

std::string Drawn(const PlotSeries& series, std::size_t which, const Axis& x, const Axis& y) {
  const std::string stroke =
      absl::StrCat("stroke=\"", kColours[which % std::size(kColours)], "\" stroke-width=\"2\"");
  std::string path, rest;
  for (const PlotPoint& point : series.points) {
    const double at = x.At(point.x);
    absl::StrAppendFormat(&path, "%s%.1f %.1f", path.empty() ? "M" : " L", at, y.At(point.y));
    if (point.high > point.low) {
      rest += Line(at, y.At(point.low), at, y.At(point.high), stroke.c_str());
      for (double end : {point.low, point.high}) {
        rest += Line(at - kDot, y.At(end), at + kDot, y.At(end), stroke.c_str());
      }
    }
    rest += Dot(which, at, y.At(point.y));
  }
  return absl::StrCat("<path d=\"", path, "\" fill=\"none\" ", stroke, "/>\n", rest);
}

std::string Grid(const Plot& plot, const Range& range, const Axis& x, const Axis& y) {
  std::string out;
  for (double tick : TicksOfY(plot, range)) {
    out += Line(kLeft, y.At(tick), kWidth - kRight, y.At(tick), "stroke=\"#ddd\"");
    out += Text(kLeft - 8, y.At(tick) + 4, "end", absl::StrFormat("%g", tick));
  }
  for (double place : PlacesOfX(plot)) {
    out += Text(x.At(place), kHeight - kBottom + 20, "middle", absl::StrFormat("%.7g", place));
  }
  return out;
}

}  // namespace

std::string ToSvg(const Plot& plot) {
  const std::set<double> places = PlacesOfX(plot);
  if (places.empty()) return "";
  const Range range = RangeOfY(plot);
  constexpr double kInset = 20;
  const Axis x(*places.begin(), *places.rbegin(), plot.log_x, kLeft + kInset,
               kWidth - kRight - kInset);
  const Axis y(range.least, range.most, plot.log_y, kHeight - kBottom, kTop);
  std::string out = absl::StrFormat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" width=\"%g\" height=\"%g\" "
      "font-family=\"sans-serif\" font-size=\"12\" role=\"img\">\n<title>%s</title>\n"
      "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
      kWidth, kHeight, kWidth, kHeight, Escaped(plot.title));
  out += Grid(plot, range, x, y);
  out += Text((kLeft + kWidth - kRight) / 2, kHeight - 12, "middle", plot.x_label);
  out += Text(8, 16, "start", plot.y_label);
  double legend = kLeft + kInset;
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    out += Dot(i, legend, 30);
    out += Text(legend + 10, 34, "start", plot.series[i].name);
    legend += 40 + 7 * static_cast<double>(plot.series[i].name.size());
    if (!plot.series[i].points.empty()) out += Drawn(plot.series[i], i, x, y);
  }
  return out + "</svg>\n";
}

}  // namespace fathom::simulate
