#include "collector/config/topology_file.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "collector/config/host_list.h"

namespace fathom::collector {
namespace {

using diagnosis::Topology;

// A switch as a file names it.
struct Line {
  int number = 0;
  std::string name;
  std::string nodes, switches;
  std::set<std::uint32_t> gpus;
};

absl::Status At(const std::string& file, int line, const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat(file, ":", line, ": ", why));
}

class Builder {
 public:
  explicit Builder(std::string file) : file_(std::move(file)) { topology_.source = file_; }

  absl::Status Add(const Line& line) {
    if (line.name.empty()) return At(file_, line.number, "a switch without a name");
    if (line.nodes.empty() == line.switches.empty()) {
      return At(file_, line.number,
                absl::StrCat("switch ", line.name, " wants either nodes or switches"));
    }
    if (!defined_.emplace(line.name, line.number).second) {
      return At(file_, line.number,
                absl::StrCat("switch ", line.name, " is defined in line ", defined_[line.name],
                             " already"));
    }
    if (defined_.size() > kMostTopologySwitches) {
      return At(file_, line.number, absl::StrCat("more than ", kMostTopologySwitches, " switches"));
    }
    return line.nodes.empty() ? AddSwitches(line) : AddNodes(line);
  }

  absl::StatusOr<Topology> Take() {
    for (const auto& [below, line] : named_) {
      if (defined_.contains(below)) continue;
      return At(file_, line, absl::StrCat("switch ", below, " is not defined in this file"));
    }
    if (topology_.leaves.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(file_, ": no switch has nodes"));
    }
    if (auto status = CheckCircles(); !status.ok()) return status;
    return std::move(topology_);
  }

 private:
  absl::Status AddNodes(const Line& line) {
    const auto names = ExpandHostList(line.nodes, kMostTopologyNodes);
    if (!names.ok()) return At(file_, line.number, std::string(names.status().message()));
    for (const std::string& node : *names) {
      std::vector<Topology::Leaf>& leaves = topology_.leaves[node];
      for (const Topology::Leaf& other : leaves) {
        const bool apart =
            !line.gpus.empty() && !other.gpus.empty() && Apart(line.gpus, other.gpus);
        if (apart) continue;
        return At(file_, line.number,
                  absl::StrCat("node ", node, " hangs on switch ", other.name,
                               " already; of several each wants gpus of its own"));
      }
      leaves.push_back({line.name, line.gpus});
    }
    if (topology_.leaves.size() <= kMostTopologyNodes) return absl::OkStatus();
    return At(file_, line.number, absl::StrCat("more than ", kMostTopologyNodes, " nodes"));
  }

  absl::Status AddSwitches(const Line& line) {
    if (!line.gpus.empty()) return At(file_, line.number, "gpus are of nodes, not of switches");
    const auto names = ExpandHostList(line.switches, kMostTopologySwitches);
    if (!names.ok()) return At(file_, line.number, std::string(names.status().message()));
    for (const std::string& below : *names) {
      const auto [at, fresh] = topology_.above.emplace(below, line.name);
      if (!fresh) {
        return At(
            file_, line.number,
            absl::StrCat("switch ", below, " hangs on ", at->second, " already; a tree is wanted"));
      }
      named_.emplace(below, line.number);
    }
    return absl::OkStatus();
  }

  absl::Status CheckCircles() const {
    for (const auto& [name, line] : defined_) {
      std::set<std::string> seen{name};
      for (auto at = topology_.above.find(name); at != topology_.above.end();
           at = topology_.above.find(at->second)) {
        if (seen.insert(at->second).second) continue;
        return At(file_, line, absl::StrCat("switch ", name, " hangs on itself"));
      }
    }
    return absl::OkStatus();
  }

  static bool Apart(const std::set<std::uint32_t>& a, const std::set<std::uint32_t>& b) {
    for (const std::uint32_t each : a) {
      if (b.contains(each)) return false;
    }
    return true;
  }

  const std::string file_;
  Topology topology_;
  std::map<std::string, int> defined_;  // line of each switch
  std::map<std::string, int> named_;    // line in which something hangs on it
};

// topology.conf.
class SlurmText {
 public:
  SlurmText(std::string_view text, std::string file) : text_(text), file_(std::move(file)) {}

  absl::StatusOr<Topology> Read() {
    Builder builder(file_);
    int number = 0;
    for (std::string line; Next(line, number);) {
      if (line.empty()) continue;
      const auto read = Parse(line, number);
      if (!read.ok()) return read.status();
      if (auto status = builder.Add(*read); !status.ok()) return status;
    }
    return builder.Take();
  }

 private:
  // A line with those that continue it, without its comment; `number`: of its first.
  bool Next(std::string& line, int& number) {
    line.clear();
    number = line_ + 1;
    bool more = true;
    while (more) {
      if (at_ >= text_.size()) return !line.empty();
      const std::size_t end = std::min(text_.find('\n', at_), text_.size());
      std::string part(text_.substr(at_, end - at_));
      at_ = end + 1;
      ++line_;
      part.erase(std::min(part.find('#'), part.size()));
      absl::StripAsciiWhitespace(&part);
      more = !part.empty() && part.back() == '\\';
      if (more) part.back() = ' ';
      line += part;
    }
    return true;
  }

  absl::StatusOr<Line> Parse(const std::string& text, int number) const {
    Line line;
    line.number = number;
    for (const auto word : absl::StrSplit(text, absl::ByAnyChar(" \t"), absl::SkipEmpty())) {
      const std::pair<std::string, std::string> pair =
          absl::StrSplit(word, absl::MaxSplits('=', 1));
      const std::string key = absl::AsciiStrToLower(pair.first);
      if (pair.second.empty()) {
        return At(file_, number, absl::StrCat("'", pair.first, "' wants a value: Name=VALUE"));
      }
      if (key == "switchname") {
        line.name = pair.second;
      } else if (key == "nodes") {
        line.nodes = pair.second;
      } else if (key == "switches") {
        line.switches = pair.second;
      } else if (key == "blockname" || key == "blocksizes") {
        return At(file_, number, "blocks tell no switches; topology/tree is wanted");
      } else if (key != "linkspeed") {
        return At(file_, number,
                  absl::StrCat("'", pair.first,
                               "' is not known; there are SwitchName, Nodes, Switches, LinkSpeed"));
      }
    }
    return line;
  }

  const std::string_view text_;
  const std::string file_;
  std::size_t at_ = 0;
  int line_ = 0;
};

int LineOf(const YAML::Node& node) { return node.Mark().line + 1; }

absl::StatusOr<Line> ParseSwitch(const YAML::Node& node, const std::string& file) {
  Line line;
  line.number = LineOf(node);
  if (!node.IsMap()) return At(file, line.number, "a switch is a map: {name: …, nodes: …}");
  for (const auto& pair : node) {
    const std::string key = pair.first.as<std::string>();
    const bool text = pair.second.IsScalar();
    if (key == "gpus" && pair.second.IsSequence()) {
      for (const auto& gpu : pair.second) line.gpus.insert(gpu.as<std::uint32_t>());
    } else if (key == "name" && text) {
      line.name = pair.second.as<std::string>();
    } else if (key == "nodes" && text) {
      line.nodes = pair.second.as<std::string>();
    } else if (key == "switches" && text) {
      line.switches = pair.second.as<std::string>();
    } else {
      return At(file, LineOf(pair.first),
                absl::StrCat("'", key,
                             "' is not known, or not of that kind: name, nodes and "
                             "switches are text, gpus a list of numbers"));
    }
  }
  return line;
}

absl::StatusOr<Topology> ParseYaml(std::string_view text, const std::string& file) {
  try {
    const YAML::Node root = YAML::Load(std::string(text));
    if (!root.IsMap() || !root["switches"] || !root["switches"].IsSequence()) {
      return absl::InvalidArgumentError(absl::StrCat(
          file, ": neither topology.conf of Slurm (SwitchName=…) nor YAML with a list switches:"));
    }
    for (const auto& pair : root) {
      if (pair.first.as<std::string>() == "switches") continue;
      return At(
          file, LineOf(pair.first),
          absl::StrCat("'", pair.first.as<std::string>(), "' is not known; there is switches"));
    }
    Builder builder(file);
    for (const auto& node : root["switches"]) {
      const auto line = ParseSwitch(node, file);
      if (!line.ok()) return line.status();
      if (auto status = builder.Add(*line); !status.ok()) return status;
    }
    return builder.Take();
  } catch (const YAML::Exception& error) {
    return At(file, error.mark.line + 1, error.msg);
  }
}

// By the first line that says anything.
bool IsSlurm(std::string_view text) {
  for (const auto line : absl::StrSplit(absl::string_view(text.data(), text.size()), '\n')) {
    const absl::string_view said = absl::StripAsciiWhitespace(line);
    if (said.empty() || said.front() == '#') continue;
    return said.find('=') < said.find(':');
  }
  return false;
}

}  // namespace

absl::StatusOr<Topology> ParseTopology(std::string_view text, const std::string& name) {
  return IsSlurm(text) ? SlurmText(text, name).Read() : ParseYaml(text, name);
}

absl::StatusOr<std::shared_ptr<const Topology>> ReadTopology(const std::string& file) {
  if (file.empty()) return std::shared_ptr<const Topology>();
  std::ifstream in(file, std::ios::binary);
  if (!in) return absl::NotFoundError(absl::StrCat("topology: '", file, "' cannot be read"));
  std::string text(kMostTopologyBytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (in.bad()) return absl::NotFoundError(absl::StrCat("topology: '", file, "' cannot be read"));
  if (text.size() > kMostTopologyBytes) {
    return absl::InvalidArgumentError(absl::StrCat(file, ": larger than 64 MiB"));
  }
  auto topology = ParseTopology(text, file);
  if (!topology.ok()) return topology.status();
  return std::make_shared<const Topology>(*std::move(topology));
}

}  // namespace fathom::collector
