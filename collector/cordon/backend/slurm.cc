#include "collector/cordon/backend/slurm.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>
#include <string_view>

namespace fathom::cordon {
namespace {

constexpr char kTag[] = "fathom:";
constexpr char kFormat[] = "%N|%T|%R|%f|%E";

std::string ReasonOf(const Hold& hold) {
  return absl::StrCat(kTag, hold.action, " ", hold.cause, " ", hold.episode);
}

// Up and answering. '*' after the state: slurmd does not answer.
bool Healthy(std::string state) {
  if (state.empty() || state.back() == '*') return false;
  while (!state.empty() && !std::isalpha(static_cast<unsigned char>(state.back()))) {
    state.pop_back();
  }
  constexpr std::array<std::string_view, 8> kUp = {"idle",    "mixed",    "allocated", "completing",
                                                   "drained", "draining", "planned",   "reserved"};
  return std::find(kUp.begin(), kUp.end(), state) != kUp.end();
}

std::string Rack(const std::string& features, const std::string& prefix) {
  std::istringstream list(features);
  for (std::string feature; std::getline(list, feature, ',');) {
    if (!prefix.empty() && feature.starts_with(prefix)) return feature;
  }
  return "";
}

std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

std::string OwnerOfReason(const std::string& reason) {
  if (!reason.starts_with(kTag)) return "";
  const std::size_t begin = sizeof kTag - 1;
  return reason.substr(begin, reason.find(' ') - begin);
}

bool ReadSinfoLine(const std::string& line, const std::string& rack_feature,
                   std::map<std::string, NodeFact>& nodes) {
  std::array<std::string, 4> fields;
  std::size_t from = 0;
  for (std::string& field : fields) {
    const auto bar = line.find('|', from);
    if (bar == line.npos) return false;
    field = line.substr(from, bar - from);
    from = bar + 1;
  }
  const auto& [name, state, partition, features] = fields;
  if (name.empty()) return false;
  NodeFact& node = nodes[name];
  node.name = name;
  node.withheld = state.starts_with("drain");
  node.healthy = Healthy(state);
  node.note = line.substr(from);
  if (node.note == "none") node.note.clear();
  node.owner = node.withheld ? OwnerOfReason(node.note) : "";
  node.rack = Rack(features, rack_feature);
  node.partitions.push_back(partition);
  return true;
}

absl::StatusOr<collector::CommandResult> SlurmBackend::Run(
    const std::string& program, const std::vector<std::string>& arguments) const {
  std::vector<std::string> argv;
  std::istringstream words(program);
  for (std::string word; words >> word;) argv.push_back(word);
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return run_(argv, Nanos::FromSeconds(options_.timeout_s));
}

absl::Status SlurmBackend::Read(const std::string& only, std::map<std::string, NodeFact>& nodes) {
  std::vector<std::string> arguments = {"-h", "-a", "-N", "-o", kFormat};
  if (!only.empty()) arguments.insert(arguments.end(), {"-n", only});
  const auto result = Run(options_.sinfo, arguments);
  if (!result.ok()) return absl::UnavailableError(std::string(result.status().message()));
  if (result->exit_code != 0) {
    return absl::UnavailableError(absl::StrCat("sinfo: ", FirstLine(result->errors)));
  }
  std::istringstream lines(result->output);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || ReadSinfoLine(line, options_.rack_feature, nodes)) continue;
    return absl::UnavailableError("sinfo: cannot read its line '" + line.substr(0, 80) + "'");
  }
  return absl::OkStatus();
}

absl::Status SlurmBackend::Nodes(std::map<std::string, NodeFact>& nodes) { return Read("", nodes); }

absl::StatusOr<NodeFact> SlurmBackend::ReadOne(const std::string& node) {
  if (!PlainNodeName(node)) {
    return absl::InvalidArgumentError("'" + node + "' cannot be the name of one node");
  }
  std::map<std::string, NodeFact> nodes;
  if (auto status = Read(node, nodes); !status.ok()) return status;
  const auto at = nodes.find(node);
  if (at == nodes.end()) return absl::NotFoundError("Slurm knows no node " + node);
  return at->second;
}

absl::Status SlurmBackend::Update(const std::string& node,
                                  const std::vector<std::string>& changes) {
  std::vector<std::string> arguments = {"update", "NodeName=" + node};
  arguments.insert(arguments.end(), changes.begin(), changes.end());
  const auto result = Run(options_.scontrol, arguments);
  if (!result.ok()) {
    return absl::IsNotFound(result.status())
               ? absl::FailedPreconditionError(std::string(result.status().message()))
               : result.status();
  }
  if (result->exit_code == 0) return absl::OkStatus();
  return absl::UnknownError(absl::StrCat("scontrol: ", FirstLine(result->errors)));
}

absl::Status SlurmBackend::HoldBack(const Hold& hold) {
  const auto before = ReadOne(hold.node);
  if (!before.ok()) {
    return absl::IsUnavailable(before.status())
               ? absl::FailedPreconditionError(std::string(before.status().message()))
               : before.status();
  }
  if (before->owner == hold.action) return absl::OkStatus();
  if (before->withheld || !before->note.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(hold.node, " has a reason of somebody else: ", before->note));
  }
  const absl::Status changed =
      Update(hold.node, {"State=DRAIN", absl::StrCat("Reason=", ReasonOf(hold))});
  const auto after = ReadOne(hold.node);
  if (!after.ok()) return absl::UnavailableError(std::string(after.status().message()));
  if (after->owner == hold.action) return absl::OkStatus();
  if (!changed.ok()) {
    return absl::IsDeadlineExceeded(changed)
               ? changed
               : absl::FailedPreconditionError(std::string(changed.message()));
  }
  return absl::AbortedError(
      absl::StrCat(hold.node, " was changed at the same moment: ", after->note));
}

absl::Status SlurmBackend::Release(const std::string& node, const std::string& action) {
  const auto before = ReadOne(node);
  if (!before.ok()) return before.status();
  if (before->owner != action) {
    return absl::FailedPreconditionError(
        absl::StrCat(node, " no longer carries our tag; its reason is '", before->note, "'"));
  }
  const absl::Status changed = Update(node, {"State=UNDRAIN"});
  const auto after = ReadOne(node);
  if (!after.ok()) return absl::UnavailableError(std::string(after.status().message()));
  if (after->owner != action) return absl::OkStatus();
  return changed.ok() ? absl::UnavailableError(node + " is still drained") : changed;
}

std::string SlurmBackend::HoldCommand(const Hold& hold) const {
  return absl::StrCat("scontrol update NodeName=", hold.node, " State=DRAIN Reason=\"",
                      ReasonOf(hold), "\"");
}

}  // namespace fathom::cordon
