#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "collector/api/ops/kept_ops_answer.h"
#include "collector/import/fathom/fathom_importer.h"
#include "proto/packing/pack_ops.h"
#include "tests/collector/cluster/member.h"

namespace fathom::collector {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr int kOpsEach = 5;  // of an iteration

v1::AgentMessage DoorOps(std::uint32_t rank, std::int64_t iteration) {
  v1::RowsReply rows;
  rows.set_job("train");
  v1::RankRows& part = *rows.add_ranks();
  part.set_rank(rank);
  for (std::int64_t i = 0; i < kOpsEach; ++i) {
    v1::CommOp& op = *part.add_ops();
    op.set_op_id(static_cast<std::uint64_t>(iteration * kOpsEach + i));
    op.set_group(kWorldGroup);
    op.set_sequence(static_cast<std::uint64_t>(996 + iteration * kOpsEach + i));
    op.set_kind(1);
    op.set_iteration(iteration);
    op.set_enter_ns(50'000'000'000 + iteration * 100'000'000 + i * 1'000'000);
    op.set_end_ns(op.enter_ns() + 500'000);
  }
  v1::AgentMessage message;
  *message.mutable_ops() = PackOps(rows, static_cast<std::uint64_t>(iteration * 2 + rank + 1));
  return message;
}

Request Asking(const std::vector<std::string>& rest, const std::string& offset = "0") {
  Request request;
  request.method = "GET";
  request.segments = {"api", "v1", "ops"};
  request.segments.insert(request.segments.end(), rest.begin(), rest.end());
  request.parameters["offset"] = offset;
  for (const std::string& segment : request.segments) request.path += "/" + segment;
  return request;
}

// Two doors with stores of ops, and a third collector that keeps none.
struct ClusterOpsTest : testing::Test {
  const fs::path folder =
      fs::path(testing::TempDir()) / ("cluster_ops_" + std::to_string(getpid()));
  SystemClock clock;
  Wires wires{"memory", clock, Nanos::FromSeconds(2)};
  std::map<std::string, std::unique_ptr<OpStore>> stores;
  std::map<std::string, std::unique_ptr<Member>> members;
  std::shared_ptr<KeptOrders> orders = std::make_shared<KeptOrders>();
  std::uint64_t number = 1;

  void SetUp() override {
    fs::remove_all(folder);
    for (const std::string name : {"a", "b"}) {
      auto opened =
          OpStore::Open({.folder = (folder / name).string(), .jobs = KeptJobs({"tra*"})}, clock);
      ASSERT_TRUE(opened.ok()) << opened.status();
      stores[name] = *std::move(opened);
      members[name] = std::make_unique<Member>(wires, clock, name, stores[name].get());
    }
    members["c"] = std::make_unique<Member>(wires, clock, "c");
    ASSERT_TRUE(Eventually([&] { return members["c"]->cluster->figures().members == 3; }));
  }
  void TearDown() override {
    members.clear();
    stores.clear();
    fs::remove_all(folder);
  }
  std::unique_ptr<StreamSession> Greet(const std::string& door) {
    auto agent = members[door]->Connect("n0", orders);
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      agent->OnMessage(Message(++number, RankOf(rank, 2)));
      agent->OnMessage(Message(++number, GroupOf(rank, 2)));
    }
    return agent;
  }
  void Tell(StreamSession& agent, std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      for (std::uint32_t rank = 0; rank < 2; ++rank) {
        BatchShape shape;
        shape.rank = rank;
        shape.first = i;
        shape.anchor = static_cast<std::uint64_t>(1000 + kOpsEach * i);
        agent.OnMessage(Message(++number, Batch(shape)));
        v1::AgentMessage ops = DoorOps(rank, i);
        ops.set_number(++number);
        agent.OnMessage(ops);
      }
    }
  }
  bool Settled(const std::string& door, const StreamSession& agent) {
    return Eventually([&] { return !stores[door]->WhenSettled(agent.stored(), [] {}); });
  }
  nlohmann::json ListOf(const std::string& name) {
    const Response list = members[name]->cluster->api().Answer(Asking({"train"}));
    EXPECT_EQ(list.status, 200) << list.body;
    return nlohmann::json::parse(list.body);
  }
  // All files that the list names, as whoever asks `name` gets them.
  std::vector<std::string> Fetch(const std::string& name, const nlohmann::json& list) {
    std::vector<std::string> paths;
    for (const auto& part : list["parts"]) {
      const std::string of = part["collector"];
      for (const auto& file : part["files"]) {
        const std::string file_name = file["name"];
        const Response bytes =
            members[name]->cluster->api().Answer(Asking({"train", of, file_name}));
        EXPECT_EQ(bytes.status, 200) << bytes.body;
        EXPECT_EQ(bytes.body.size(), file["bytes"].get<std::size_t>());
        fs::create_directories(folder / "read" / of);
        paths.push_back((folder / "read" / of / file_name).string());
        std::ofstream(paths.back(), std::ios::binary) << bytes.body;
      }
    }
    return paths;
  }
  using Told = std::map<std::tuple<std::uint32_t, std::int64_t>, int>;  // rank, sequence
  Told RowsIn(const std::vector<std::string>& paths, std::size_t* iterations) {
    Recording recording;
    const absl::Status read = FathomImporter().Read(paths, {}, recording);
    EXPECT_TRUE(read.ok()) << read;
    Told told;
    for (const auto& [rank, rows] : recording.view.rows) {
      for (const auto& op : rows.ops) {
        ++told[{rank.value, static_cast<std::int64_t>(op.sequence.value)}];
      }
    }
    *iterations = recording.view.window.size();
    return told;
  }
};

TEST_F(ClusterOpsTest, WhatTwoDoorsKeepIsReadAtAnyCollectorOnceEach) {
  {
    const auto agent = Greet("a");
    Tell(*agent, 0, 20);
    ASSERT_TRUE(Settled("a", *agent));
  }
  const auto agent = Greet("b");
  Tell(*agent, 18, 30);  // two iterations were not confirmed to it
  ASSERT_TRUE(Settled("b", *agent));
  for (const std::string name : {"a", "b", "c"}) {
    const auto list = ListOf(name);
    EXPECT_THAT(list["parts"], SizeIs(3));
    EXPECT_THAT(list["lacks"], IsEmpty());
    std::size_t iterations = 0;
    const Told told = RowsIn(Fetch(name, list), &iterations);
    EXPECT_EQ(iterations, 30u);
    EXPECT_THAT(told, SizeIs(2 * 30 * kOpsEach));
    for (const auto& [row, times] : told) EXPECT_EQ(times, 1);
  }
}

TEST_F(ClusterOpsTest, TheOwnerKeepsNothingOfItAndItsDeathLosesNothing) {
  const auto agent = Greet("a");
  Tell(*agent, 0, 20);
  ASSERT_TRUE(Settled("a", *agent));
  Member* owner = nullptr;
  ASSERT_TRUE(Eventually([&] {
    for (const auto& [name, member] : members) {
      if (member->cluster->Owns("train")) owner = member.get();
    }
    return owner != nullptr && owner->NewestOf("train") == 19;
  }));
  EXPECT_EQ(stores["a"]->counters().ops, std::uint64_t{2 * 20 * kOpsEach});
  EXPECT_EQ(stores["b"]->counters().ops, 0u);
  EXPECT_EQ(stores["b"]->counters().files.bytes, 0u);
  if (owner->name == "a") return;
  const std::string asked = owner->name == "b" ? "c" : "b";
  owner->Die();
  std::size_t iterations = 0;
  EXPECT_THAT(RowsIn(Fetch(asked, ListOf(asked)), &iterations), SizeIs(2 * 20 * kOpsEach));
}

TEST_F(ClusterOpsTest, ADoorThatIsAwayIsMissedByWhatItToldTheHistory) {
  auto agent = Greet("a");
  Tell(*agent, 0, 20);
  ASSERT_TRUE(Settled("a", *agent));
  const auto kept = stores["a"]->TakeStretches();
  ASSERT_THAT(kept, SizeIs(1));
  EXPECT_EQ(kept[0].ranks, "0-1");
  members["b"]->told = {{"a", "train", kept[0].from, kept[0].to, kept[0].ranks}};
  EXPECT_THAT(ListOf("b")["lacks"], IsEmpty());
  agent.reset();
  members["a"]->Die();
  const auto lacks = ListOf("b")["lacks"];
  ASSERT_THAT(lacks, SizeIs(1));
  EXPECT_EQ(lacks[0]["collector"], "a");
  EXPECT_EQ(lacks[0]["ranks"], "0-1");
  EXPECT_EQ(lacks[0]["from_unix_ns"].get<std::int64_t>(), kept[0].from.ns);
  EXPECT_THAT(std::string(lacks[0]["why"]), HasSubstr("does not answer"));
  EXPECT_EQ(members["b"]->cluster->api().Answer(Asking({"train", "a", "who.fathom"})).status, 503);
}

TEST_F(ClusterOpsTest, NothingIsKeptOfOtherJobsNorReadBesideTheStore) {
  const auto agent = Greet("a");
  v1::AgentMessage other = DoorOps(0, 1);
  other.mutable_ops()->set_job("other");
  other.set_number(++number);
  agent->OnMessage(other);
  EXPECT_EQ(stores["a"]->counters().ops, 0u);
  EXPECT_EQ(members["a"]->counters.rejected[static_cast<std::size_t>(RejectReason::kUnasked)], 1u);
  for (const std::string file : {"..", "../store.lock", "store.lock", "0.fathom"}) {
    EXPECT_EQ(members["b"]->cluster->api().Answer(Asking({"train", "a", file})).status, 404);
  }
  EXPECT_EQ(members["b"]->cluster->api().Answer(Asking({"..", "a", "who.fathom"})).status, 404);
}

constexpr WallNs Second(std::int64_t s) { return WallNs(s * 1'000'000'000); }

std::string ListWith(const std::string& collector, WallNs since) {
  return "{\"job\":\"j\",\"parts\":[{\"collector\":\"" + collector + "\",\"keeps\":true," +
         "\"since_unix_ns\":" + std::to_string(since.ns) + ",\"files\":[]}],\"lacks\":[]}";
}

nlohmann::json LacksOf(const std::vector<KeptOps>& told, const OpsStretch& stretch) {
  const std::string joined = JoinedKeptOps({ListWith("a", Second(100))}, told, stretch);
  return nlohmann::json::parse(joined)["lacks"];
}

TEST(KeptOpsAnswerTest, WhatIsThereIsNotMissedAndWhatIsLetGoOfIs) {
  EXPECT_THAT(LacksOf({{"a", "j", Second(99), Second(300), "0-3"}}, {}), IsEmpty());
  const auto gone = LacksOf({{"a", "j", Second(50), Second(300), "0-3"}}, {});
  ASSERT_THAT(gone, SizeIs(1));
  EXPECT_EQ(gone[0]["to_unix_ns"].get<std::int64_t>(), Second(100).ns);
  EXPECT_THAT(std::string(gone[0]["why"]), HasSubstr("not there any more"));
}

TEST(KeptOpsAnswerTest, MissedIsOnlyWhatIsAskedForAndNeighboursAreOne) {
  const std::vector<KeptOps> told = {{"b", "j", Second(100), Second(3700), "0-3"},
                                     {"b", "j", Second(3702), Second(7300), "0-3"},
                                     {"b", "j", Second(7302), Second(9000), "4"}};
  const auto all = LacksOf(told, {});
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(all[0]["to_unix_ns"].get<std::int64_t>(), Second(7300).ns);
  const auto some = LacksOf(told, {Second(200), Second(300)});
  ASSERT_THAT(some, SizeIs(1));
  EXPECT_EQ(some[0]["from_unix_ns"].get<std::int64_t>(), Second(200).ns);
  EXPECT_EQ(some[0]["to_unix_ns"].get<std::int64_t>(), Second(300).ns);
}

TEST(KeptOpsAnswerTest, AHistoryThatIsAwayIsSaid) {
  const std::string joined =
      JoinedKeptOps({ListWith("a", Second(100))}, absl::UnavailableError("no connection"), {});
  EXPECT_THAT(joined, HasSubstr("no connection"));
}

}  // namespace
}  // namespace fathom::collector
