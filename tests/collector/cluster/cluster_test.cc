#include "collector/cluster/cluster.h"

#include "collector/cluster/bus_message.h"
#include "tests/collector/cluster/member.h"

namespace fathom::collector {
namespace {

struct ClusterTest : testing::TestWithParam<std::string> {
  SystemClock clock;
  Wires wires{GetParam(), clock, Nanos::FromSeconds(2)};
  std::unique_ptr<Member> a, b, door;  // the last owns nothing
  Member *owner = nullptr, *other = nullptr;
  std::shared_ptr<KeptOrders> orders = std::make_shared<KeptOrders>();
  std::uint64_t number = 1;

  void SetUp() override {
    if (!wires.skips().empty()) GTEST_SKIP() << wires.skips();
    a = std::make_unique<Member>(wires, clock, "a");
    b = std::make_unique<Member>(wires, clock, "b");
    door = std::make_unique<Member>(wires, clock, "door");
    door->cluster->Drain();
    ASSERT_TRUE(Eventually([&] {
      return a->cluster->figures().members == 3 && b->cluster->figures().members == 3 &&
             door->cluster->figures().members == 3;
    }));
  }
  // Two ranks of "train", and their iterations from `first` on.
  void Introduce(StreamSession& agent) {
    for (std::uint32_t r = 0; r < 2; ++r) {
      agent.OnMessage(Message(++number, RankOf(r, 2)));
      agent.OnMessage(Message(++number, GroupOf(r, 2)));
    }
  }
  void Iterate(StreamSession& agent, std::int64_t first, int count) {
    for (std::uint32_t r = 0; r < 2; ++r) {
      BatchShape shape;
      shape.rank = r;
      shape.first = first;
      shape.count = count;
      shape.anchor = static_cast<std::uint64_t>(1000 + first * shape.step);
      agent.OnMessage(Message(++number, Batch(shape)));
    }
  }
  bool Owns(Member& member) {
    return Eventually([&] { return member.cluster->Owns("train"); });
  }
  // Which of the two took the job.
  bool AwaitOwner() {
    return Eventually([&] {
      owner = a->cluster->Owns("train") ? a.get() : b->cluster->Owns("train") ? b.get() : nullptr;
      other = owner == a.get() ? b.get() : a.get();
      return owner != nullptr;
    });
  }
};

TEST_P(ClusterTest, WhatAnAgentTellsAtAnyDoorReachesTheOwner) {
  const auto agent = door->Connect("n0", orders);
  Introduce(*agent);
  Iterate(*agent, 0, 20);
  ASSERT_TRUE(AwaitOwner());
  EXPECT_TRUE(Eventually([&] { return owner->NewestOf("train") == 19; }));
  EXPECT_EQ(owner->RanksOf("train"), 2u);
  EXPECT_FALSE(other->cluster->Owns("train"));
  EXPECT_EQ(other->RanksOf("train"), 0u);
  EXPECT_TRUE(owner->registry.Connected("n0"));
  Iterate(*agent, 20, 5);
  EXPECT_TRUE(Eventually([&] { return owner->NewestOf("train") == 24; }));
  EXPECT_EQ(agent->acknowledged(), number);
}

TEST_P(ClusterTest, AnOrderGoesByTheDoorAndItsAnswerComesBack) {
  const auto agent = door->Connect("n0", orders);
  Introduce(*agent);
  Iterate(*agent, 0, 20);
  ASSERT_TRUE(AwaitOwner());
  ASSERT_TRUE(Eventually([&] { return owner->NewestOf("train") == 19; }));
  const auto job = owner->jobs.Find("train");
  RowsAsk ask{"n0", {RankId(0), RankId(1)}, {3}, {3}};
  ASSERT_EQ(owner->requests.Ask(job, {ask}, Nanos::FromSeconds(60)), 1);
  ASSERT_TRUE(Eventually([&] { return !orders->rows().empty(); }));
  v1::RowsReply reply;
  reply.set_request_id(orders->rows().front().request_id());
  reply.set_job("train");
  for (std::uint32_t r = 0; r < 2; ++r) {
    auto& rows = *reply.add_ranks();
    rows.set_rank(r);
    rows.add_ops()->set_iteration(3);
  }
  agent->OnMessage(Message(++number, reply));
  EXPECT_TRUE(Eventually([&] { return owner->requests.Outstanding("train") == 0; }));
  EXPECT_EQ(owner->counters.op_rows, 2u);
}

TEST_P(ClusterTest, WhenTheOwnerDiesAnotherReadsAllOfItAgain) {
  const auto agent = door->Connect("n0", orders);
  Introduce(*agent);
  Iterate(*agent, 0, 20);
  ASSERT_TRUE(AwaitOwner());
  ASSERT_TRUE(Eventually([&] { return owner->NewestOf("train") == 19; }));
  const Leases::Token before = owner->token();
  owner->Die();
  Iterate(*agent, 20, 3);
  ASSERT_TRUE(Owns(*other));
  EXPECT_TRUE(Eventually([&] { return other->NewestOf("train") == 22; }));
  EXPECT_EQ(other->RanksOf("train"), 2u);
  EXPECT_GT(other->token(), before);
  EXPECT_GT(other->cluster->counters().replayed, 0u);
  EXPECT_EQ(other->counters.late_rows, 0u);
}

// Else it would wait for the end of its own lease: here an hour.
TEST_P(ClusterTest, AnOwnerThatIsStartedAgainGoesOnAtOnce) {
  Wires hour(GetParam(), clock, Nanos::FromSeconds(3600));
  const auto begin = [&](Member& member) {
    const auto agent = member.Connect("n0", orders);
    Introduce(*agent);
    return Owns(member);
  };
  Member first(hour, clock, "first");
  ASSERT_TRUE(begin(first));
  first.Die();
  Member again(hour, clock, "first");
  EXPECT_TRUE(begin(again));
  EXPECT_GT(again.token(), first.token());
}

v1::JobMemory::Standing Standing(const std::string& grade) {
  v1::JobMemory::Standing standing;
  standing.mutable_verdict()->set_id("v1");
  standing.mutable_verdict()->set_job("train");
  standing.mutable_verdict()->set_grade(grade);
  return standing;
}

TEST_P(ClusterTest, WhatTheOwnerKnewTheNextOneFinds) {
  const auto agent = door->Connect("n0", orders);
  Introduce(*agent);
  Iterate(*agent, 0, 20);
  ASSERT_TRUE(AwaitOwner());
  ASSERT_TRUE(Eventually([&] { return owner->NewestOf("train") == 19; }));
  EXPECT_FALSE(owner->found);
  const Leases::Token before = owner->token();
  owner->checkpoints.Put("train", JobCheckpoints::Kind::kLearnt, WallNs(7), "baseline");
  const auto kept = [&] { return owner->cluster->counters().checkpoints_kept.load(); };
  ASSERT_TRUE(Eventually([&] { return kept() == 1; }));
  // A verdict that opens is not kept waiting; what grows on it is.
  owner->checkpoints.Put("train", Standing("supported"), true);
  ASSERT_TRUE(Eventually([&] { return kept() == 2; }));
  owner->checkpoints.Put("train", Standing("supported"), true);
  owner->checkpoints.Put("train", Standing("established"), true);
  ASSERT_TRUE(Eventually([&] { return kept() == 3; }));
  owner->Die();
  ASSERT_TRUE(Owns(*other));
  ASSERT_TRUE(other->found);
  EXPECT_EQ(other->found->owner(), owner->name);
  EXPECT_EQ(other->found->token(), before);
  EXPECT_GT(other->found->position(), 0u);
  EXPECT_EQ(other->found->memory().learnt().bytes(), "baseline");
  ASSERT_EQ(other->found->memory().verdicts_size(), 1);
  EXPECT_EQ(other->found->memory().verdicts(0).verdict().grade(), "established");
  EXPECT_EQ(other->cluster->counters().checkpoints_read, 1u);
}

TEST_P(ClusterTest, ACheckpointOfALaterVersionIsNoneAndCounted) {
  v1::BusCheckpoint later;
  later.set_version(kBusVersion + 1);
  const ClusterWires third = wires.Join("third");
  ASSERT_TRUE(third.checkpoints->Put("train", 1, later.SerializeAsString()).ok());
  const auto agent = door->Connect("n0", orders);
  Introduce(*agent);
  ASSERT_TRUE(AwaitOwner());
  EXPECT_FALSE(owner->found);
  EXPECT_EQ(owner->cluster->counters().later, 1u);
  EXPECT_EQ(owner->cluster->counters().checkpoints_read, 0u);
}

TEST_P(ClusterTest, ACheckpointThatIsDamagedIsNoneAndCounted) {
  const ClusterWires third = wires.Join("third");
  ASSERT_TRUE(third.checkpoints->Put("train", 1, "no message at all").ok());
  const auto agent = door->Connect("n0", orders);
  Introduce(*agent);
  ASSERT_TRUE(AwaitOwner());
  EXPECT_FALSE(owner->found);
  EXPECT_EQ(owner->cluster->counters().damaged, 1u);
  // The owner's own takes its place.
  owner->checkpoints.Put("train", Standing("supported"), true);
  ASSERT_TRUE(Eventually([&] { return owner->cluster->counters().checkpoints_kept.load() == 1; }));
}

TEST_P(ClusterTest, WhoHandsOverWritesWhatItKnowsFirst) {
  const auto agent = door->Connect("n0", orders);
  Introduce(*agent);
  ASSERT_TRUE(AwaitOwner());
  owner->checkpoints.Put("train", JobCheckpoints::Kind::kAccount, WallNs(7), "first");
  ASSERT_TRUE(Eventually([&] { return owner->cluster->counters().checkpoints_kept.load() == 1; }));
  owner->checkpoints.Put("train", JobCheckpoints::Kind::kAccount, WallNs(8), "last");
  owner->cluster->Drain();
  owner->cluster->HandOver();
  ASSERT_TRUE(Owns(*other));
  ASSERT_TRUE(other->found);
  EXPECT_EQ(other->found->memory().account().bytes(), "last");
}

TEST_P(ClusterTest, WhoIsStoppedHandsOver) {
  const auto agent = door->Connect("n0", orders);
  Introduce(*agent);
  Iterate(*agent, 0, 20);
  ASSERT_TRUE(AwaitOwner());
  owner->cluster->Drain();
  owner->cluster->HandOver();
  EXPECT_FALSE(owner->cluster->Owns("train"));
  EXPECT_EQ(owner->cluster->counters().handed_over, 1u);
  ASSERT_TRUE(Owns(*other));
  EXPECT_TRUE(Eventually([&] { return other->NewestOf("train") == 19; }));
}

TEST_P(ClusterTest, AnAgentThatTellsTwiceThroughTwoDoorsIsHeardOnce) {
  const auto first = a->Connect("n0", orders);
  Introduce(*first);
  Iterate(*first, 0, 20);
  const auto second = b->Connect("n0", orders);
  Introduce(*second);
  Iterate(*second, 0, 25);
  ASSERT_TRUE(AwaitOwner());
  ASSERT_TRUE(Eventually([&] { return owner->NewestOf("train") == 24; }));
  EXPECT_EQ(owner->counters.summary_rows, 50u);
  EXPECT_EQ(owner->counters.repeated_rows, 40u);
}

TEST_P(ClusterTest, OfANewLifeOfAJobTheFormerIsNotReadAgain) {
  const auto agent = door->Connect("n0", orders);
  Introduce(*agent);
  Iterate(*agent, 0, 20);
  ASSERT_TRUE(AwaitOwner());
  ASSERT_TRUE(Eventually([&] { return owner->NewestOf("train") == 19; }));
  for (std::uint32_t r = 0; r < 2; ++r) {
    v1::RankInfo again = RankOf(r, 2);
    again.set_pid(5000 + r);
    again.set_start_time_ticks(9000);
    again.set_restart_count(1);
    agent->OnMessage(Message(++number, again));
    agent->OnMessage(Message(++number, GroupOf(r, 2)));
  }
  Iterate(*agent, 0, 7);
  ASSERT_TRUE(Eventually([&] { return owner->NewestOf("train") == 6; }));
  std::this_thread::sleep_for(std::chrono::seconds(1));  // in which what is of the former life goes
  owner->Die();
  ASSERT_TRUE(Owns(*other));
  EXPECT_TRUE(Eventually([&] { return other->NewestOf("train") == 6; }));
  EXPECT_EQ(other->jobs.Find("train")->Figures().incarnation, 1u);
}

TEST_P(ClusterTest, WhatALaterVersionSaysIsLeftOutAndCounted) {
  const auto agent = door->Connect("n0", orders);
  Introduce(*agent);
  v1::BusRecord later;
  later.set_version(kBusVersion + 1);
  const ClusterWires third = wires.Join("third");
  third.bus->Append({"train", "r0.s"}, later.SerializeAsString());
  third.bus->Append({"train", "r0.s"}, "no message at all");
  Iterate(*agent, 0, 20);
  ASSERT_TRUE(AwaitOwner());
  EXPECT_TRUE(Eventually([&] { return owner->NewestOf("train") == 19; }));
  EXPECT_EQ(owner->cluster->counters().later, 1u);
  EXPECT_EQ(owner->cluster->counters().damaged, 1u);
}

TEST_P(ClusterTest, ARankThatTheLogHasLostIsAnnouncedAgain) {
  const auto agent = door->Connect("n0", orders);
  Introduce(*agent);
  ASSERT_TRUE(AwaitOwner());
  ASSERT_TRUE(Eventually([&] { return owner->RanksOf("train") == 2; }));
  const ClusterWires third = wires.Join("third");
  third.bus->Forget("train", std::uint64_t{1} << 40);
  owner->Die();
  ASSERT_TRUE(Owns(*other));
  // The stream is closed: on the next one the agent says who takes part.
  EXPECT_TRUE(Eventually([&] {
    BatchShape shape;
    return agent->OnMessage(Message(++number, Batch(shape))).close;
  }));
  EXPECT_EQ(other->cluster->counters().announce_again, 1u);
}

TEST_P(ClusterTest, AnyCollectorAnswersForAllJobs) {
  const auto agent = door->Connect("n0", orders);
  Introduce(*agent);
  ASSERT_TRUE(AwaitOwner());
  ASSERT_TRUE(Eventually([&] { return owner->RanksOf("train") == 2; }));
  Request request = *ParseTarget("/api/v1/jobs/train/report", "");
  request.method = "GET";
  request.person.name = "ann";
  // What the store of leases has is a second old at most.
  EXPECT_TRUE(Eventually([&] {
    const Response response = door->cluster->api().Answer(request);
    return response.body ==
           "{\"at\":\"" + owner->name + "\",\"path\":\"/api/v1/jobs/train/report\",\"by\":\"ann\"}";
  }));
  Request list = *ParseTarget("/api/v1/jobs", "");
  list.method = "GET";
  EXPECT_EQ(door->cluster->api().Answer(list).body,
            "{\"jobs\":[{\"name\":\"train\",\"at\":\"" + owner->name + "\"}]}");
  EXPECT_EQ(door->cluster->api().JobObjects("").size(), 3u);
  owner->Die();
  EXPECT_TRUE(Eventually([&] {
    return door->cluster->api().Answer(request).status == 503 || other->cluster->Owns("train");
  }));
}

TEST_P(ClusterTest, ThePlansOfAllCollectorsStandTogether) {
  Request list = *ParseTarget("/api/v1/plan", "");
  list.method = "GET";
  const std::string body = a->cluster->api().Answer(list).body;
  for (const char* name : {"a", "b", "door"}) {
    const std::string field = std::string("{\"collector\":\"") + name + "\"}";
    EXPECT_NE(body.find(field), std::string::npos) << body;
  }
  const std::string node = "{\"node\":\"n0\",\"connected\":true}";
  EXPECT_NE(body.find(node), std::string::npos) << "as told by whom it is connected to: " << body;
  EXPECT_EQ(body.find("\"connected\":false"), std::string::npos) << "once: " << body;
}

TEST_P(ClusterTest, WithoutAHistoryEachTellsOfTheVerdictsOfAll) {
  Request list = *ParseTarget("/api/v1/verdicts", "");
  list.method = "GET";
  const Response whole = a->cluster->api().Answer(list);
  for (const char* id : {"of-a", "of-b", "of-door", "of-all"}) {
    const std::string field = std::string("{\"id\":\"") + id + "\"}";
    const std::size_t at = whole.body.find(field);
    EXPECT_NE(at, std::string::npos) << whole.body;
    EXPECT_EQ(whole.body.find(field, at + 1), std::string::npos) << "once: " << whole.body;
  }
  EXPECT_NE(whole.body.find("\"lacks\":\"no history\""), std::string::npos) << whole.body;
  Request one = *ParseTarget("/api/v1/verdicts/of-b", "");
  one.method = "GET";
  EXPECT_EQ(a->cluster->api().Answer(one).body, "{\"id\":\"mine\"}");
  b->Die();
  EXPECT_NE(a->cluster->api().Answer(list).body.find("of b, which does not answer"),
            std::string::npos);
}

TEST_P(ClusterTest, WhatIsPublishedReachesWhoListensElsewhere) {
  const auto subscription = b->events.Subscribe("");
  ASSERT_TRUE(Eventually([&] { return a->events.wanted(); }));
  std::string text;
  ASSERT_TRUE(Eventually([&] {
    a->events.Publish("job", "train", "{}");
    return subscription->Next(std::chrono::milliseconds(100), text) == Subscription::Wake::kEvent;
  }));
  EXPECT_EQ(text, EventHub::Format("job", "{}"));
}

TEST_P(ClusterTest, TwoOfOneNameAreRefused) {
  EventHub events{1};
  const auto second = Cluster::Start(
      {"a"}, wires.Join("a"),
      {a->ingest, events, a->near, clock, a->checkpoints,
       [](const std::string&, Leases::Token, const v1::BusCheckpoint*) { return absl::OkStatus(); },
       [](const std::string&) {}, [](const std::string&) {}, [](bool, const std::string&) {}});
  ASSERT_FALSE(second.ok());
  EXPECT_NE(std::string(second.status().message()).find("cluster_name"), std::string::npos);
}

TEST_P(ClusterTest, AnOwnerThatTheHistoryRefusesTakesNothing) {
  a->refuse = absl::AbortedError("a later owner");
  const auto agent = door->Connect("n0", orders);
  Introduce(*agent);
  ASSERT_TRUE(Owns(*b));
  EXPECT_FALSE(a->cluster->Owns("train"));
}

INSTANTIATE_TEST_SUITE_P(Both, ClusterTest, testing::Values("memory", "nats"),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace fathom::collector
