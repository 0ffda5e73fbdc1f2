#include "collector/simulate/experiment/experiment.h"

#include <set>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "collector/simulate/experiment/table_plot.h"
#include "collector/simulate/experiment/tables.h"

namespace fathom::simulate {
namespace {

struct ExperimentEntry {
  const char* name;
  const char* title;
  const char* about;
  void (*run)(const ExperimentOptions&);
};

constexpr ExperimentEntry kExperiments[] = {
    {"scale", "Accuracy by scale",
     "One rank at fault (GPU, memory, process, garbage collection or batches, drawn); what is slow "
     "takes 1.4 times as long, a pause lasts 0.4 iterations. Tensor, sequence, pipeline and data "
     "parallelism.",
     ByScale},
    {"dimensions", "Accuracy by dimensions",
     "As above, 512 ranks. 3: tensor, pipeline, data; 4: sequence too; 5: context too; 6: experts "
     "too, with routing of tokens that varies.",
     ByDimensions},
    {"kinds", "Accuracy by kind of fault",
     "512 ranks, 4-D; network faults take 6 times as long, all others 1.4 times. Right is only the "
     "device itself; wide is an entity that holds it and more.",
     ByKind},
    {"network", "Devices of the network, and unequal work",
     "128 ranks, 4-D (6-D where experts are unequal), 16 nodes, each eight leaf switches serve "
     "four; network "
     "faults take 6 times as long, work is 1.4 times as much. Right is the NIC of the rank, the "
     "NVLink of its node, the path between the two nodes, the leaf switch, or the network between "
     "all nodes. Times of each peer: a transport tells bytes and times from rank to rank (sockets, "
     "NCCL's proxy); without them nothing tells the path between two nodes of one stage from what "
     "all of the stage share.",
     ByDevice},
    {"size", "Accuracy by size of the fault",
     "A slow GPU among 512, 4-D. An iteration is irregular from 1.05 times the usual on.", BySize},
    {"two", "Two faults at once", "512 ranks, 4-D; one drawn fault of 1.4 and a slow GPU.",
     TwoAtOnce},
    {"shapes", "Jobs of all shapes",
     "4 to 1,024 ranks: tensor parallelism of 1 to 8, pipelines of 1 to 4, context of 1 or 2, data "
     "of 4 to 16, experts in a third; drawn. Network faults take 6 times as long, unequal work is "
     "twice as much, all else 1.5 times. To abstain on unequal work is no mistake: what counts is "
     "that nobody is convicted wrongly. Which path of several is slow only times of each peer "
     "would tell: it is told with all that share it.",
     ByShape},
    {"healthy", "False alarms", "52 iterations each; any conviction at any time counts.",
     FalseAlarms},
    {"classes", "The four classes of C4", "512 ranks, 4-D. Verdicts counted, not runs.", ByClass},
    {"cost", "Time and data by scale",
     "A GPU half as fast, 4-D. CPU time of the engine on one core, without the network; the "
     "collector fetches rows once and keeps them. The more ranks, the more often a pause of one of "
     "them lengthens an iteration, so that smaller faults drown. Told: runs with a verdict.",
     CostByScale},
    {"endtoend", "Localisation over gRPC",
     "As above, but every node has an agent that speaks gRPC to a fathom-collector of its own "
     "process, all on one machine. Iterations come every 3 s from the fault on. Localising: from "
     "the first summary of the iteration that decided until the verdict comes as an event over "
     "HTTP; so it holds ingest, the look, the rows, the store. Bytes are Protobuf's; a full log "
     "has an op in as many bytes as a row that was fetched, until the verdict. As in process: the "
     "engine without a network convicts the same ranks for the same cause. Goals: 1 s at 8,192 "
     "ranks, and 0.1 % of a full log. A machine with other work makes it slower by many times: a "
     "look that waits for a core holds up the next.",
     OverTheNetwork},
    {"migration", "Restart and migration",
     "Not a job that is played but a model of stages ([0020](design/0020-shadow-iteration.md)): "
     "how long a restart takes, and a migration in two phases. Its constants are TrainMover's "
     "(OSDI '26), measured on its authors' machines and models, or follow from two of them; none "
     "is fathom's. The restart at 8,192 is what they were taken from, so that it agrees; the "
     "planned migration is the sum that the paper tells of a model of 5.12 T parameters. Predicted "
     "are the restart at 1,024, of whose 300 s the paper does not tell how much of the start they "
     "hold, and the failure. Detection is left out.",
     MigrationByScale},
};

constexpr char kPage[] =
    "# Experiments\n\n"
    "Is the engine right about jobs whose truth is known? Each table is what the command above it "
    "prints; the whole page is\n\n"
    "    fathom simulate --experiment all --page docs/experiments.md \\\n"
    "        --svg docs/images/experiments\n\n"
    "Each section is written as it is done, so that what was interrupted goes on with the names of "
    "those that are left (`--experiment cost,endtoend`); other sections stay as they are.\n\n"
    "**The jobs are synthetic** ([how they are played](formats/scenario.md)). Figures of papers "
    "stand beside ours as anchors: Holmes (NSDI'25) measured on traces of real clusters, which are "
    "harder than anything played here in ways nobody has modelled. None of this has run on a "
    "GPU.\n\n"
    "Shares come with 95 % intervals (Wilson). *Top-1 right*: the first verdict of the last look "
    "names the device at fault, with a cause that fits. *Slowed by 5 % or more*: of the runs whose "
    "iterations the fault makes irregular by Holmes' count; the others are faults that cost less. "
    "*Abstained*: nobody was convicted. *Wide*: an entity that holds the device and more. *Wrong*: "
    "at any time of the run somebody else was convicted (grade established or supported).\n";

}  // namespace

std::vector<std::string> ExperimentNames() {
  std::vector<std::string> names;
  for (const ExperimentEntry& entry : kExperiments) names.emplace_back(entry.name);
  names.emplace_back("all");
  return names;
}

void PrintAndPlot(const std::string& name, const ExperimentOptions& options,
                  const std::function<void(const ExperimentOptions&)>& table) {
  std::string printed;
  ExperimentOptions heard = options;
  heard.print = [&](const std::string& text) {
    printed += text;
    options.print(text);
  };
  table(heard);
  for (const NamedPlot& plot : PlotsOf(name, printed)) {
    if (options.plot) options.plot(plot.name, plot.svg);
    if (options.markdown) options.print(LinkTo(plot));
  }
}

namespace {

// What the options ask for, in the order of the page; kNotFound: a name that is none.
absl::StatusOr<std::vector<const ExperimentEntry*>> Chosen(const std::string& names) {
  std::set<std::string> wanted = absl::StrSplit(names, ',');
  const bool all = wanted.erase("all") > 0;
  std::vector<const ExperimentEntry*> chosen;
  for (const ExperimentEntry& entry : kExperiments) {
    if (wanted.erase(entry.name) > 0 || all) chosen.push_back(&entry);
  }
  if (wanted.empty()) return chosen;
  return absl::NotFoundError(absl::StrCat("no experiment '", *wanted.begin(),
                                          "'; there are: ", absl::StrJoin(ExperimentNames(), " ")));
}

void Run(const ExperimentEntry& entry, const ExperimentOptions& options) {
  const bool drawn = entry.run != MigrationByScale;
  options.print(absl::StrCat(options.markdown ? "\n## " : "", entry.title, "\n\n", entry.about,
                             drawn ? absl::StrCat(" Seeds from ", options.seed, " on.") : "",
                             "\n\n"));
  if (options.markdown) {
    options.print(absl::StrCat("    fathom simulate --experiment ", entry.name, "\n\n"));
  }
  PrintAndPlot(entry.name, options, entry.run);
}

// From its heading to before the next one; empty: it is not there.
std::string SectionOf(const std::string& page, const std::string& title) {
  const std::size_t from = page.find(absl::StrCat("\n## ", title, "\n"));
  if (from == std::string::npos) return "";
  const std::size_t to = page.find("\n## ", from + 1);
  return page.substr(from, to == std::string::npos ? to : to - from);
}

// Where a section that is not there yet belongs: before the next one of the list.
std::size_t PlaceOf(const std::string& sections, const std::string& title) {
  bool behind = false;
  for (const ExperimentEntry& entry : kExperiments) {
    const std::size_t at = sections.find(absl::StrCat("\n## ", entry.title, "\n"));
    if (behind && at != std::string::npos) return at;
    behind = behind || title == entry.title;
  }
  return sections.size();
}

}  // namespace

absl::Status RunExperiments(const std::string& names, const ExperimentOptions& options) {
  const auto chosen = Chosen(names);
  if (!chosen.ok()) return chosen.status();
  if (options.markdown && names == "all") options.print(kPage);
  std::vector<std::string> left;
  for (const ExperimentEntry* entry : *chosen) left.emplace_back(entry->name);
  for (const ExperimentEntry* entry : *chosen) {
    std::string section;
    ExperimentOptions heard = options;
    heard.print = [&](const std::string& text) {
      section += text;
      options.print(text);
    };
    Run(*entry, heard);
    if (options.stopped && options.stopped()) {
      options.print("\nInterrupted: the last row holds the runs that were done. Left to do: " +
                    absl::StrJoin(left, ",") + "\n");
      return absl::OkStatus();
    }
    if (options.section) options.section(entry->title, section);
    left.erase(left.begin());
  }
  return absl::OkStatus();
}

std::string PageWith(const std::string& page, const std::string& title,
                     const std::string& section) {
  const std::size_t first = page.find("\n## ");
  std::string rest = first == std::string::npos ? "" : page.substr(first);
  const std::size_t there = SectionOf(rest, title).size();
  const std::size_t at =
      there > 0 ? rest.find(absl::StrCat("\n## ", title, "\n")) : PlaceOf(rest, title);
  return kPage + rest.replace(at, there, section);
}

bool IsPage(std::string_view text) {
  const std::string_view page = kPage;
  return text.starts_with(page.substr(0, page.find('\n') + 1));
}

}  // namespace fathom::simulate
