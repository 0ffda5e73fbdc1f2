// Line plots as SVG: a few series over one axis, with intervals.
//
// Used by table_plot. Model: axes are linear or logarithmic; ticks lie where the points are (x) or
// at round numbers (y). Colours are told apart by shape as well. The text of a plot is its numbers
// only: no script, no font of its own.
//
// Units: those of the labels. Thread-safety: pure functions. Errors: none; a plot without points is
// an empty text.
#ifndef FATHOM_COLLECTOR_SIMULATE_EXPERIMENT_PLOT_H_
#define FATHOM_COLLECTOR_SIMULATE_EXPERIMENT_PLOT_H_

#include <string>
#include <vector>

namespace fathom::simulate {

struct PlotPoint {
  double x = 0, y = 0;
  double low = 0, high = 0;  // of y; equal: no interval
};

struct PlotSeries {
  std::string name;
  std::vector<PlotPoint> points;  // ascending x
};

struct Plot {
  std::string title, x_label, y_label;
  bool log_x = false, log_y = false;
  bool share = false;  // y is a percentage: from 0 to 100
  std::vector<PlotSeries> series;
};

std::string ToSvg(const Plot& plot);

}  // namespace fathom::simulate

#endif  // FATHOM_COLLECTOR_SIMULATE_EXPERIMENT_PLOT_H_
