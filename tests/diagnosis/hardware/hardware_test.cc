// Plays every case of this folder: readings of hardware, and what they make of a verdict.
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "diagnosis/hardware/readings/levels.h"
#include "diagnosis/hardware/tell/tell_hardware.h"
#include "diagnosis/wording/phrase.h"

namespace fathom::diagnosis {
namespace {

WallNs At(double seconds) { return WallNs(static_cast<std::int64_t>(seconds * 1e9) + 1); }

HardwareMetric MetricOf(const std::string& name) {
  for (std::uint8_t i = 1; i < kHardwareMetricCount; ++i) {
    if (TraitsOf(HardwareMetric{i}).name == name) return HardwareMetric{i};
  }
  throw std::runtime_error("no metric " + name);
}

DeviceKind KindOf(const std::string& name) {
  for (std::uint8_t i = 1; i < kDeviceKindCount; ++i) {
    if (DeviceKindName(DeviceKind{i}) == name) return DeviceKind{i};
  }
  throw std::runtime_error("no kind " + name);
}

template <typename Enum>
Enum Named(const std::string& name, int count) {
  for (int i = 0; i < count; ++i) {
    if (ToString(static_cast<Enum>(i)) == name) return static_cast<Enum>(i);
  }
  throw std::runtime_error("no name " + name);
}

void Put(const YAML::Node& metrics, HardwareDevice& device) {
  for (const auto& entry : metrics) {
    const auto name = entry.first.as<std::string>();
    if (name == "note_of") continue;
    HardwareSeries series{MetricOf(name), {}, ""};
    if (entry.second.IsSequence()) {
      for (const auto& point : entry.second) {
        series.points.push_back({At(point[0].as<double>()), point[1].as<double>()});
      }
    } else {
      series.points.push_back({At(0), entry.second.as<double>()});
    }
    if (metrics["note_of"] && metrics["note_of"][name]) {
      series.note = metrics["note_of"][name].as<std::string>();
    }
    std::erase_if(device.series, [&](const auto& old) { return old.metric == series.metric; });
    device.series.push_back(std::move(series));
  }
}

HardwareDevice& DeviceIn(NodeHardware& node, DeviceKind kind, const std::string& name) {
  for (HardwareDevice& device : node.devices) {
    if (device.kind == kind && device.name == name) return device;
  }
  node.devices.push_back({kind, name, {}});
  return node.devices.back();
}

// An empty one where it is not given.
YAML::Node PartOf(const YAML::Node& node, const std::string& key) {
  return node[key] ? node[key] : YAML::Node(YAML::NodeType::Map);
}

struct Played {
  JobView view;
  std::vector<NodeHardware> hardware;
  Verdict verdict;

  explicit Played(const YAML::Node& file) {
    const YAML::Node said = PartOf(file, "verdict"), sources = PartOf(file, "sources");
    const auto per_node = file["ranks_per_node"].as<std::uint32_t>(2);
    for (std::uint32_t rank = 0; rank < 4; ++rank) AddRank(rank, per_node);
    newest_ = said["newest_s"].as<double>(120);
    for (NodeHardware& node : hardware) node.newest = At(newest_);
    PutGpus(file["gpus"], per_node);
    PutNodes(file["nodes"]);
    for (NodeHardware& node : hardware) {
      for (const auto& source : PartOf(sources, node.node)) {
        node.sources.push_back({source.first.as<std::string>(), source.second[0].as<std::string>(),
                                source.second[1].as<std::string>()});
      }
    }
    SetVerdict(said);
  }

 private:
  void AddRank(std::uint32_t rank, std::uint32_t per_node) {
    RankFacts facts;
    facts.rank = RankId(rank);
    facts.pid = 100 + rank;
    facts.node = "n" + std::to_string(rank / per_node);
    facts.gpu = Gpu{rank % per_node, BusId(rank % per_node), ""};
    if (hardware.empty() || hardware.back().node != facts.node) {
      hardware.push_back({facts.node, {}, {}, {}});
    }
    view.ranks.push_back(std::move(facts));
  }
  static std::string BusId(std::uint32_t number) {
    return "0000:1" + std::string(1, static_cast<char>('B' + number)) + ":00.0";
  }
  void PutGpus(const YAML::Node& gpus, std::uint32_t per_node) {
    for (std::uint32_t rank = 0; gpus && rank < 4; ++rank) {
      HardwareDevice& gpu =
          DeviceIn(hardware[rank / per_node], DeviceKind::kGpu, BusId(rank % per_node));
      for (const std::string& who : {std::string("*"), std::to_string(rank)}) {
        if (gpus[who]) Put(gpus[who], gpu);
      }
    }
  }
  void PutNodes(const YAML::Node& nodes) {
    for (NodeHardware& node : hardware) {
      for (const std::string& who : {std::string("*"), node.node}) {
        if (!nodes || !nodes[who]) continue;
        for (const auto& device : nodes[who]) {
          const auto name = device.first.as<std::string>();
          const auto slash = name.find('/');
          Put(device.second, DeviceIn(node, KindOf(name.substr(0, slash)), name.substr(slash + 1)));
        }
      }
    }
  }
  void SetVerdict(const YAML::Node& said) {
    verdict.grade = Named<Grade>(said["grade"].as<std::string>("established"), 4);
    verdict.cause = Named<Cause>(said["cause"].as<std::string>("compute_slow"), 15);
    verdict.owner = OwnerOf(verdict.cause);
    verdict.entity.type = Named<EntityType>(said["type"].as<std::string>("rank"), 9);
    const std::vector<std::uint32_t> usual = {2};
    for (const auto rank : said["ranks"].as<std::vector<std::uint32_t>>(usual)) {
      verdict.entity.ranks.push_back(RankId(rank));
    }
    verdict.from_start = said["from_start"].as<bool>(false);
    verdict.since_time = At(said["onset_s"].as<double>(60));
    verdict.sentence = said["sentence"].as<std::string>(
        "Rank 2 on node n1 (GPU 0000:1B:00.0) has held the job back since iteration 110: 104 ms "
        "more computing in each slow iteration; an iteration takes 208 ms instead of 104 ms.");
    verdict.evidence.push_back({"It is late.", 1, "s", 0, "walk_back"});
  }

  double newest_ = 120;
};

std::string Joined(const std::vector<Evidence>& evidence) {
  std::string all;
  for (const Evidence& each : evidence) all += each.statement + "\n";
  return all;
}

void ExpectParts(const YAML::Node& parts, const std::string& text) {
  for (const auto& part : parts) {
    EXPECT_NE(text.find(part.as<std::string>()), std::string::npos)
        << "'" << part.as<std::string>() << "' is not in:\n"
        << text;
  }
}

std::vector<std::string> CaseFiles() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(FATHOM_HARDWARE_CASES)) {
    if (entry.path().extension() == ".yaml") {
      files.push_back(std::filesystem::relative(entry.path(), FATHOM_HARDWARE_CASES).string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

class HardwareCases : public testing::TestWithParam<std::string> {};

TEST_P(HardwareCases, SaysWhatTheFileExpects) {
  const YAML::Node file = YAML::LoadFile(std::string(FATHOM_HARDWARE_CASES) + "/" + GetParam());
  Played played(file);
  const Verdict before = played.verdict;
  std::vector<Verdict> verdicts = {played.verdict};
  TellHardware(played.view, played.hardware, verdicts);
  const Verdict& after = verdicts.front();
  const YAML::Node expects = file["expects"];
  const auto same = [&](const char* field, std::string_view value) {
    if (expects[field]) {
      EXPECT_EQ(value, expects[field].as<std::string>()) << field;
    }
  };
  same("type", ToString(after.entity.type));
  same("cause", ToString(after.cause));
  same("grade", ToString(after.grade));
  same("owner", ToString(after.owner));
  same("counter", after.counter);
  ExpectParts(expects["says"], after.sentence);
  if (!expects["says"]) {
    EXPECT_EQ(after.sentence, before.sentence);
    EXPECT_EQ(after.counter, "");
  } else {
    EXPECT_NE(after.counter, "");
    EXPECT_GT(after.evidence.size(), before.evidence.size());
  }
  ExpectParts(expects["evidence"], Joined(after.evidence));
  ExpectParts(expects["counter_evidence"], Joined(after.counter_evidence));
  std::string changes;
  for (const std::string& each : after.would_change) changes += each + "\n";
  ExpectParts(expects["would_change"], changes);
}

std::string NameOf(const testing::TestParamInfo<std::string>& file) {
  std::string name = file.param;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, HardwareCases, testing::ValuesIn(CaseFiles()), NameOf);

TEST(HardwareRules, EachHasItsFiveCases) {
  std::map<std::string, std::set<std::string>> kinds;
  for (const std::string& file : CaseFiles()) {
    const auto slash = file.find('/');
    for (const char* kind : {"positive", "near_miss", "confuser", "missing_signal", "healthy"}) {
      if (file.substr(slash + 1).starts_with(kind)) kinds[file.substr(0, slash)].insert(kind);
    }
  }
  EXPECT_EQ(kinds.size(), 12u);
  for (const auto& [rule, has] : kinds) EXPECT_EQ(has.size(), 5u) << rule;
}

TEST(HardwareLevels, MedianOverTimeAndIncreaseOverResets) {
  HardwareDevice device{DeviceKind::kGpu, "0", {{HardwareMetric::kSmClock, {}, ""}}};
  device.series[0].points = {{At(0), 10}, {At(5), 30}, {At(20), 20}};
  EXPECT_EQ(LevelIn(device, HardwareMetric::kSmClock, {At(0), At(30)}), 20);
  EXPECT_EQ(LevelIn(device, HardwareMetric::kSmClock, {At(6), At(9)}), 30);
  EXPECT_EQ(LevelIn(device, HardwareMetric::kPower, {At(0), At(30)}), std::nullopt);
  device.series[0].points = {{At(0), 10}, {At(5), 12}, {At(10), 3}};
  EXPECT_EQ(IncreaseIn(device, HardwareMetric::kSmClock, {At(1), At(30)}), 5) << "2, then 3 anew";
  EXPECT_EQ(WithCommas(1234567), "1,234,567");
  EXPECT_EQ(WithCommas(-1234), "-1,234");
  EXPECT_EQ(WithCommas(999), "999");
}

TEST(HardwareNodes, ThoseOfTheAccusedAndASampleOfOthers) {
  JobView view;
  for (std::uint32_t rank = 0; rank < 200; ++rank) {
    RankFacts facts;
    facts.rank = RankId(rank);
    facts.node = "n" + std::to_string(rank / 2);
    view.ranks.push_back(facts);
  }
  EXPECT_TRUE(HardwareNodesWanted(view, {}).empty());
  Verdict verdict;
  verdict.grade = Grade::kSupported;
  verdict.entity.ranks = {RankId(20)};
  const auto nodes = HardwareNodesWanted(view, {verdict});
  EXPECT_EQ(nodes.size(), 1 + kMostPeerNodes);
  EXPECT_NE(std::find(nodes.begin(), nodes.end(), "n10"), nodes.end());
}

}  // namespace
}  // namespace fathom::diagnosis
