// Plots of the experiments, made of the tables as they are printed: a plot cannot say anything else
// than its table.
//
// Used by experiment, while tables are printed, and by `fathom simulate --plot`, on a page of them.
// Thread-safety: pure functions. Errors: none; a table that has no plot gives none.
#ifndef FATHOM_COLLECTOR_SIMULATE_EXPERIMENT_TABLE_PLOT_H_
#define FATHOM_COLLECTOR_SIMULATE_EXPERIMENT_TABLE_PLOT_H_

#include <string>
#include <vector>

namespace fathom::simulate {

struct NamedPlot {
  std::string name;  // of the file, without its ending
  std::string title;
  std::string svg;
};

// Of the table of an experiment: `lines` may hold other text as well.
std::vector<NamedPlot> PlotsOf(const std::string& experiment, const std::string& lines);

// Of a page of experiments, told apart by the command above each table.
std::vector<NamedPlot> PlotsOfPage(const std::string& page);

// What links to the plot from a page.
std::string LinkTo(const NamedPlot& plot);

}  // namespace fathom::simulate

#endif  // FATHOM_COLLECTOR_SIMULATE_EXPERIMENT_TABLE_PLOT_H_
