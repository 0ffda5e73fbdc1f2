#include "collector/cli/capture/capture_stacks.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <system_error>
#include <utility>

#include "collector/cli/capture/capture_table.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

// The separator of the format stands for itself nowhere.
std::string FrameName(const Json& frame) {
  std::string name = PlaceName(frame);
  std::replace(name.begin(), name.end(), ';', ',');
  return name;
}

FramePath PathOf(const Json& rank, const Json& stack) {
  const Json& frames = ListField(rank, "frames");
  FramePath path;
  for (const std::int64_t at : IntsField(stack, "frames")) {
    if (at >= 0 && static_cast<std::size_t>(at) < frames.size()) {
      path.push_back(FrameName(frames[static_cast<std::size_t>(at)]));
    }
  }
  std::reverse(path.begin(), path.end());
  return path;
}

std::string Joined(const FramePath& path) {
  std::string out;
  for (const std::string& frame : path) AppendTo(&out, out.empty() ? "" : ";", frame);
  return out;
}

PathShares SharesOf(const Json& rank) {
  PathShares shares;
  const double samples = std::max(1.0, NumberField(rank, "samples"));
  for (const Json& stack : ListField(rank, "stacks")) {
    shares[PathOf(rank, stack)] += NumberField(stack, "samples") / samples;
  }
  return shares;
}

}  // namespace

StackDifference DifferenceOf(const Json& capture) {
  StackDifference out;
  const Json& functions = ListField(capture, "functions");
  if (functions.empty()) return out;
  out.rank = IntField(functions.front(), "rank");
  std::size_t others = 0;
  for (const Json& rank : ListField(capture, "ranks")) {
    if (ListField(rank, "stacks").empty()) continue;
    const PathShares shares = SharesOf(rank);
    if (IntField(rank, "rank") == out.rank) {
      out.mine = shares;
      out.samples = NumberField(rank, "samples");
      continue;
    }
    ++others;
    for (const auto& [path, share] : shares) out.peers[path] += share;
  }
  for (auto& [path, share] : out.peers)
    share /= static_cast<double>(std::max<std::size_t>(1, others));
  return out;
}

std::string FoldedOf(const Json& rank) {
  std::string out;
  for (const Json& stack : ListField(rank, "stacks")) {
    AppendTo(&out, Joined(PathOf(rank, stack)), " ", IntField(stack, "samples"), "\n");
  }
  for (const Json& stack : ListField(rank, "worker_stacks")) {
    AppendTo(&out, "workers;", Joined(PathOf(rank, stack)), " ", IntField(stack, "samples"), "\n");
  }
  return out;
}

std::string FoldedDifference(const StackDifference& difference) {
  std::set<FramePath> paths;
  for (const auto& [path, share] : difference.mine) paths.insert(path);
  for (const auto& [path, share] : difference.peers) paths.insert(path);
  const auto count = [&](const PathShares& shares, const FramePath& path) {
    const auto at = shares.find(path);
    return at == shares.end() ? 0 : std::llround(at->second * difference.samples);
  };
  std::string out;
  for (const FramePath& path : paths) {
    AppendTo(&out, Joined(path), " ", count(difference.peers, path), " ",
             count(difference.mine, path), "\n");
  }
  return out;
}

std::string SpeedscopeOf(const Json& capture) {
  std::map<std::string, std::size_t> places;
  Json frames = Json::array(), profiles = Json::array();
  for (const Json& rank : ListField(capture, "ranks")) {
    Json samples = Json::array(), weights = Json::array();
    std::int64_t total = 0;
    for (const Json& stack : ListField(rank, "stacks")) {
      Json path = Json::array();
      for (const std::string& frame : PathOf(rank, stack)) {
        const auto [at, fresh] = places.try_emplace(frame, places.size());
        if (fresh) frames.push_back({{"name", frame}});
        path.push_back(at->second);
      }
      samples.push_back(std::move(path));
      weights.push_back(IntField(stack, "samples"));
      total += IntField(stack, "samples");
    }
    if (total == 0) continue;
    profiles.push_back({{"type", "sampled"},
                        {"name", Cat("rank ", IntField(rank, "rank"))},
                        {"unit", "none"},
                        {"startValue", 0},
                        {"endValue", total},
                        {"samples", std::move(samples)},
                        {"weights", std::move(weights)}});
  }
  const Json file = {{"$schema", "https://www.speedscope.app/file-format-schema.json"},
                     {"name", TextField(capture, "job")},
                     {"exporter", "fathom"},
                     {"activeProfileIndex", 0},
                     {"shared", {{"frames", std::move(frames)}}},
                     {"profiles", std::move(profiles)}};
  return Cat(file.dump(-1, ' ', false, Json::error_handler_t::replace), "\n");
}

absl::Status WriteText(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  return file ? absl::OkStatus() : absl::InternalError(Cat("cannot write ", path));
}

absl::Status WriteFolded(const Json& capture, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return absl::InternalError(Cat("cannot make ", folder, ": ", error.message()));
  for (const Json& rank : ListField(capture, "ranks")) {
    if (ListField(rank, "stacks").empty()) continue;
    const std::string path = Cat(folder, "/rank_", IntField(rank, "rank"), ".folded");
    if (absl::Status s = WriteText(path, FoldedOf(rank)); !s.ok()) return s;
  }
  return WriteText(folder + "/difference.folded", FoldedDifference(DifferenceOf(capture)));
}

}  // namespace fathom::cli
