#include "collector/job/state/job_state.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "collector/admission/limits.h"
#include "collector/api/job_json.h"
#include "tests/collector/fake_clock.h"
#include "tests/collector/messages.h"

namespace fathom::collector {
namespace {

constexpr std::size_t kRoom = 1'000'000;

struct JobStateTest : testing::Test {
  FakeClock clock;
  JobState job{"train", clock};

  void Start(std::uint32_t world) {
    for (std::uint32_t r = 0; r < world; ++r) {
      ASSERT_FALSE(job.Apply(RankOf(r, world), "n0", kRoom).rejected);
      ASSERT_FALSE(job.Apply(GroupOf(r, world), "n0"));
    }
  }
  diagnosis::JobView View() const {
    return job.View([](std::string_view) { return true; });
  }
};

TEST_F(JobStateTest, TheViewTellsRanksGroupsAndSignals) {
  Start(4);
  BatchShape shape;
  shape.rank = 3;
  ASSERT_EQ(job.Apply(Batch(shape), "n0").rows, 1);
  const auto view = View();
  EXPECT_EQ(view.world_size, 4u);
  ASSERT_EQ(view.ranks.size(), 4u);
  EXPECT_EQ(view.ranks[2].pid, 1002u);
  EXPECT_EQ(view.ranks[2].node, "n0");
  ASSERT_EQ(view.groups.size(), 1u);
  EXPECT_EQ(view.groups[0].members.size(), 4u);
  EXPECT_EQ(view.window.size(), 1u);
  EXPECT_EQ(view.signals[0].level, diagnosis::SignalState::Level::kOn);
  EXPECT_EQ(view.signals[1].level, diagnosis::SignalState::Level::kPartly);
}

TEST_F(JobStateTest, TheGpuOfARankMayBeToldLaterAndTakenBack) {
  Start(2);
  EXPECT_FALSE(View().ranks[1].gpu);
  v1::RankInfo info = RankOf(1, 2);
  info.mutable_gpu()->set_number(3);
  info.mutable_gpu()->set_bus_id("0000:1B:00.0");
  ASSERT_FALSE(job.Apply(info, "n0", kRoom).rejected);
  EXPECT_EQ(View().ranks[1].gpu, (Gpu{3, "0000:1B:00.0", ""}));
  EXPECT_FALSE(View().ranks[0].gpu);
  ASSERT_FALSE(job.Apply(RankOf(1, 2), "n0", kRoom).rejected);
  EXPECT_FALSE(View().ranks[1].gpu) << "it drives several";
}

TEST_F(JobStateTest, ARankSpeaksThroughItsOwnNodeOnly) {
  Start(2);
  EXPECT_EQ(job.Apply(Batch({}), "evil").rejected, RejectReason::kNotOwner);
  EXPECT_EQ(job.Apply(HealthOf(0), "evil"), RejectReason::kNotOwner);
  EXPECT_EQ(job.Apply(HealthOf(7), "n0"), RejectReason::kUnknownRank);
}

TEST_F(JobStateTest, ConnectionsAreMatchedByBothEnds) {
  Start(3);
  const auto put = [&](std::uint32_t rank, const char* local, const char* peer) {
    auto health = HealthOf(rank, "S", 0);
    auto& socket = *health.add_sockets();
    socket.set_local(local);
    socket.set_peer(peer);
    socket.set_backoff(rank + 3);
    job.Apply(health, "n0");
  };
  put(0, "10.0.0.1:5", "10.0.0.2:6");
  put(1, "10.0.0.2:6", "10.0.0.1:5");
  put(2, "10.0.0.3:7", "10.9.9.9:8");
  const auto view = View();
  ASSERT_EQ(view.ranks[0].paths.size(), 1u);
  EXPECT_EQ(view.ranks[0].paths[0].peer, RankId(1));
  EXPECT_EQ(view.ranks[0].paths[0].backoff, 3u);
  EXPECT_EQ(view.ranks[1].paths.at(0).peer, RankId(0));
  EXPECT_TRUE(view.ranks[2].paths.empty()) << "whoever that is, it is no rank";
}

TEST_F(JobStateTest, TransfersComeIntoTheViewAsTheyWereTold) {
  Start(2);
  auto health = HealthOf(1, "S", 0);
  auto& told = *health.add_transfers();
  told.set_group(kWorldGroup);
  told.set_sequence(41);
  told.set_peer(0);
  told.set_channel(3);
  told.set_sends(true);
  told.set_steps(12);
  told.set_posted(9);
  told.set_gpu(8);
  told.set_moved(7);
  told.set_done(6);
  told.set_still_ns(5'000'000'000);
  EXPECT_FALSE(job.Apply(health, "n0"));
  const auto view = View();
  ASSERT_EQ(view.ranks[1].transfers.size(), 1u);
  const diagnosis::Transfer& seen = view.ranks[1].transfers[0];
  EXPECT_EQ(seen.group, GroupId(kWorldGroup));
  EXPECT_EQ(seen.sequence, Sequence(41));
  EXPECT_EQ(seen.peer, RankId(0));
  EXPECT_EQ(seen.channel, 3u);
  EXPECT_TRUE(seen.sends);
  EXPECT_EQ(seen.steps, 12u);
  EXPECT_EQ((std::vector<std::uint32_t>{seen.posted, seen.gpu, seen.moved, seen.done}),
            (std::vector<std::uint32_t>{9, 8, 7, 6}));
  EXPECT_EQ(seen.still_for, Nanos::FromSeconds(5));
  job.Apply(HealthOf(1, "S", 0), "n0");
  EXPECT_TRUE(View().ranks[1].transfers.empty()) << "it moves again";
}

TEST_F(JobStateTest, SilenceAndCpuWhileSilent) {
  Start(1);
  auto health = HealthOf(0, "R", 10'000'000);
  health.set_training_thread_cpu_ns(1'000'000'000);
  health.set_runqueue_wait_ns(5'000'000'000);
  health.set_recent_pause_ns(70'000'000);
  health.set_longest_pause_ns(90'000'000);
  job.Apply(health, "n0");
  for (int s = 1; s <= 3; ++s) {
    clock.AdvanceSeconds(1);
    health.set_last_event_age_ns(10'000'000 + s * 1'000'000'000ll);
    health.set_training_thread_cpu_ns(1'000'000'000 + s * 900'000'000ll);
    health.set_runqueue_wait_ns(5'000'000'000 + s * 50'000'000ll);
    job.Apply(health, "n0");
  }
  auto facts = View().ranks[0];
  ASSERT_EQ(facts.samples.size(), 3u) << "from where an agent calls it silent";
  EXPECT_EQ(facts.samples[0].silent_for, Nanos());
  EXPECT_EQ(facts.samples[2].cpu - facts.samples[0].cpu, Nanos(2'700'000'000));
  EXPECT_EQ(facts.silent_for, Nanos(3'010'000'000));
  EXPECT_EQ(facts.cpu_while_silent, Nanos(2'700'000'000));
  EXPECT_EQ(facts.starved_while_silent, Nanos(150'000'000));
  EXPECT_EQ(facts.recent_pause, Nanos(70'000'000));
  EXPECT_EQ(facts.longest_pause, Nanos(90'000'000));
  health.set_cpu_ns(9'000'000'000);  // another thread of the process works
  job.Apply(health, "n0");
  EXPECT_EQ(View().ranks[0].cpu_while_silent, Nanos(8'000'000'000));
  clock.AdvanceSeconds(1);
  health.set_last_event_age_ns(1'000);
  job.Apply(health, "n0");
  EXPECT_EQ(View().ranks[0].cpu_while_silent, Nanos(0));
  EXPECT_TRUE(View().ranks[0].samples.empty());
}

TEST_F(JobStateTest, AnAgentThatIsAwayMakesTheRankUnreachable) {
  Start(1);
  job.Apply(HealthOf(0), "n0");
  EXPECT_TRUE(View().ranks[0].agent_reachable);
  EXPECT_FALSE(job.View([](std::string_view) { return false; }).ranks[0].agent_reachable);
  clock.AdvanceSeconds(30);
  EXPECT_FALSE(View().ranks[0].agent_reachable) << "connected, but says nothing any more";
  AgentFacts agent;
  agent.node = "n0";
  agent.connected = true;
  const std::string said = HealthJson(job, {agent});
  EXPECT_NE(said.find(R"("state":"unknown","last_event_age_s":30.)"), std::string::npos) << said;
  job.Apply(HealthOf(0), "n0");
  EXPECT_NE(HealthJson(job, {agent}).find(R"("state":"sleeping")"), std::string::npos);
  agent.connected = false;
  EXPECT_NE(HealthJson(job, {agent}).find(R"("state":"unknown")"), std::string::npos);
}

TEST_F(JobStateTest, AJobThatNobodySpeaksOfSaysSo) {
  Start(1);
  job.Apply(HealthOf(0), "n0");
  const auto said = [&] {
    JsonWriter json;
    json.BeginObject();
    WriteJob(job.Figures(), {}, json);
    return json.EndObject().Take();
  };
  clock.AdvanceSeconds(9);
  EXPECT_EQ(said().find("Nothing has been heard"), std::string::npos);
  clock.AdvanceSeconds(21);
  EXPECT_NE(said().find("Nothing has been heard of this job for 30 s: its agents are away."),
            std::string::npos);
  job.Apply(HealthOf(0), "n0");
  EXPECT_EQ(said().find("Nothing has been heard"), std::string::npos);
}

TEST_F(JobStateTest, AnExitWithAnErrorIsNotOrderlyAndOutOfSightIsNotDead) {
  Start(1);
  v1::RankGone gone;
  gone.set_job("train");
  gone.set_pid(1000);
  gone.set_how("unseen");
  EXPECT_FALSE(job.Apply(gone, "n0").has_value());
  EXPECT_NE(View().ranks[0].state, diagnosis::ProcessState::kGone);
  gone.set_how("exited");
  gone.set_orderly(true);
  gone.set_wait_status((1 << 8) + 1);
  gone.add_open_ops()->set_sequence(41);
  EXPECT_FALSE(job.Apply(gone, "n0").has_value());
  const diagnosis::RankFacts facts = View().ranks[0];
  EXPECT_EQ(facts.state, diagnosis::ProcessState::kGone);
  EXPECT_FALSE(facts.exited_orderly);
  EXPECT_EQ(facts.wait_status, 1 << 8);
  ASSERT_EQ(facts.open_ops.size(), 1u);
  EXPECT_EQ(facts.open_ops[0].sequence, Sequence(41));
}

// A split communicator that nobody announced: each member knows its own place in it only.
TEST_F(JobStateTest, APeerToldByItsPlaceIsNamedByTheMembersOwnReports) {
  Start(4);
  constexpr std::uint64_t kSplit = 77;
  const auto place = [&](std::uint32_t rank, std::uint32_t at) {
    v1::GroupInfo info = GroupOf(rank, 4);
    info.set_id(kSplit);
    info.set_name("nccl-1");
    info.set_size(3);
    info.set_my_rank(at);
    info.clear_members();
    ASSERT_FALSE(job.Apply(info, "n0"));
  };
  const auto peer_of = [&](std::uint32_t at) {
    v1::RankHealth health = HealthOf(1);
    v1::OpenOp& op = *health.add_open_ops();
    op.set_group(kSplit);
    op.set_peer(kNoRank.value);
    op.set_place_of_peer(at + 1);
    v1::Transfer& transfer = *health.add_transfers();
    transfer.set_group(kSplit);
    transfer.set_peer(kNoRank.value);
    transfer.set_place_of_peer(at + 1);
    EXPECT_FALSE(job.Apply(health, "n0"));
    const auto view = View();
    EXPECT_EQ(view.ranks[1].transfers.at(0).peer, view.ranks[1].open_ops[0].peer);
    return view.ranks[1].open_ops[0].peer;
  };
  place(1, 0);
  place(3, 2);
  EXPECT_EQ(peer_of(2), RankId(3)) << "not all members are known yet";
  EXPECT_EQ(peer_of(1), kNoRank);
  place(0, 1);
  EXPECT_EQ(peer_of(1), RankId(0));
  EXPECT_EQ(peer_of(3), kNoRank) << "no such place";
}

TEST_F(JobStateTest, EndsWhenAllRanksAreGone) {
  Start(2);
  v1::RankGone gone;
  gone.set_job("train");
  gone.set_pid(1000);
  gone.set_how("exited");
  gone.set_orderly(true);
  job.Apply(gone, "n0");
  EXPECT_FALSE(job.UpdateEnded(MonoNs(0)));
  gone.set_rank(1);
  EXPECT_EQ(job.Apply(gone, "n0"), RejectReason::kStale) << "another process's pid";
  gone.set_pid(1001);
  job.Apply(gone, "n0");
  EXPECT_TRUE(job.UpdateEnded(MonoNs(0)));
  EXPECT_TRUE(View().ranks[1].exited_orderly);
}

TEST_F(JobStateTest, RowsAreAskedForOnceAndInTheRanksOwnCount) {
  Start(2);
  BatchShape shape;
  shape.first = 4;
  shape.count = 3;
  job.Apply(Batch(shape), "n0");
  shape.rank = 1;
  shape.first = 0;
  job.Apply(Batch(shape), "n0");
  const diagnosis::RowsWanted wanted{{RankId(0), RankId(1)}, {Iteration(4), Iteration(5)}};
  auto asks = job.MissingRows(wanted);
  ASSERT_EQ(asks.size(), 2u) << "their own counts differ";
  std::sort(asks.begin(), asks.end(), [](const auto& a, const auto& b) { return a.own < b.own; });
  EXPECT_EQ(asks[0].own, (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(asks[0].ranks, std::vector<RankId>{RankId(1)});

  v1::RowsReply reply;
  auto& rows = *reply.add_ranks();
  rows.set_rank(1);
  auto& op = *rows.add_ops();
  op.set_iteration(1);
  op.set_kind(250);
  op.set_enter_ns(5);
  op.set_group(kWorldGroup);
  op.set_peer(kNoRank.value);
  op.set_place_of_peer(1);
  rows.add_ops()->set_iteration(77);  // not asked for
  reply.add_ranks()->set_rank(0);     // neither
  EXPECT_EQ(job.AddRows(reply, asks[0]), 1u);
  EXPECT_EQ(job.MissingRows(wanted).size(), 1u);
  diagnosis::JobView view;
  job.FillRows(wanted, view);
  ASSERT_EQ(view.rows[RankId(1)].ops.size(), 1u);
  EXPECT_EQ(view.rows[RankId(1)].ops[0].iteration, Iteration(5));
  EXPECT_EQ(view.rows[RankId(1)].ops[0].kind, CollectiveKind::kUnknown);
  EXPECT_EQ(view.rows[RankId(1)].ops[0].peer, RankId(0));
}

TEST_F(JobStateTest, WhatWasCutIsAskedForAgain) {
  Start(1);
  BatchShape shape;
  shape.count = 8;
  job.Apply(Batch(shape), "n0");
  const diagnosis::RowsWanted wanted{{RankId(0)}, {Iteration(4), Iteration(5), Iteration(6)}};
  auto asks = job.MissingRows(wanted);
  ASSERT_EQ(asks.size(), 1u);
  EXPECT_GT(asks[0].ops, 0u);
  v1::RowsReply reply;
  auto& rows = *reply.add_ranks();
  rows.set_rank(0);
  rows.add_iterations_missing(asks[0].own[0]);
  rows.add_ops()->set_iteration(asks[0].own[1]);
  rows.set_truncated(true);
  job.AddRows(reply, asks[0]);
  asks = job.MissingRows(wanted);
  ASSERT_EQ(asks.size(), 1u);
  EXPECT_EQ(asks[0].iterations, std::vector<std::int64_t>{6});
  v1::RowsReply whole;
  whole.add_ranks()->set_rank(0);
  whole.mutable_ranks(0)->set_truncated(true);  // one that is larger than a message: not again
  job.AddRows(whole, asks[0]);
  EXPECT_TRUE(job.MissingRows(wanted).empty());
}

TEST_F(JobStateTest, WhatWasNotAskedForIsNotCalledMissing) {
  Start(1);
  BatchShape shape;
  shape.count = 8;
  job.Apply(Batch(shape), "n0");
  const auto asks = job.MissingRows({{RankId(0)}, {Iteration(4), Iteration(5)}});
  ASSERT_EQ(asks.size(), 1u);
  v1::RowsReply reply;
  auto& rows = *reply.add_ranks();
  rows.set_rank(0);
  rows.set_truncated(true);
  rows.add_iterations_missing(asks[0].own[0]);
  rows.add_iterations_missing(asks[0].own[1] + 1);
  job.AddRows(reply, asks[0]);
  EXPECT_EQ(job.MissingRows({{RankId(0)}, {Iteration(4), Iteration(6)}}).at(0).iterations,
            std::vector<std::int64_t>{6});
}

// An agent that lags would say that it has none, and that would be believed for good.
TEST_F(JobStateTest, IterationsThatARankHasNotToldOfAreAskedForLater) {
  Start(2);
  BatchShape shape;
  shape.count = 8;
  job.Apply(Batch(shape), "n0");
  shape.rank = 1;
  shape.count = 5;
  job.Apply(Batch(shape), "n0");
  const diagnosis::RowsWanted wanted{{RankId(0), RankId(1)}, {Iteration(4), Iteration(6)}};
  auto asks = job.MissingRows(wanted);
  ASSERT_EQ(asks.size(), 2u);
  for (const RowsAsk& ask : asks) {
    EXPECT_EQ(ask.iterations.size(), ask.ranks[0] == RankId(0) ? 2u : 1u);
  }
}

// What a rank called last before it hung lies in an iteration that never ends.
TEST_F(JobStateTest, OfAJobThatStandsStillTheIterationThatItIsInIsAskedFor) {
  Start(1);
  BatchShape shape;
  shape.count = 8;
  job.Apply(Batch(shape), "n0");
  const diagnosis::RowsWanted wanted{{RankId(0)}, {Iteration(7), Iteration(8)}};
  EXPECT_EQ(job.MissingRows(wanted).at(0).iterations, std::vector<std::int64_t>{7});
  diagnosis::Suspicion stalled;
  stalled.stalled = true;
  job.SetSuspicion(stalled);
  EXPECT_EQ(job.MissingRows(wanted).at(0).iterations, (std::vector<std::int64_t>{7, 8}));
}

TEST_F(JobStateTest, APartialIterationIsAsOldAsTheFirstOfThem) {
  Start(2);
  const auto tell = [&](std::uint32_t rank, std::int64_t first) {
    BatchShape shape;
    shape.rank = rank;
    shape.first = first;
    shape.anchor += static_cast<std::uint64_t>(first * shape.step);
    job.Apply(Batch(shape), "n0");
    clock.AdvanceSeconds(1);
    return job.progress();
  };
  tell(0, 0);
  EXPECT_EQ(tell(1, 0).whole, 0);
  const MonoNs first = clock.Mono();
  EXPECT_EQ(tell(0, 1).partial_since, first);
  EXPECT_EQ(tell(0, 2).partial_since, first) << "rank 1 is behind";
  EXPECT_EQ(tell(1, 1).partial_since, first);
  EXPECT_EQ(tell(1, 2).whole, 2);
  const MonoNs second = clock.Mono();
  const JobState::Progress progress = tell(1, 3);
  EXPECT_EQ(progress.newest, 3);
  EXPECT_EQ(progress.partial_since, second);
}

TEST_F(JobStateTest, RowsThatDidNotTellMakeTheEpisodeWideUntilItIsOver) {
  Start(2);
  diagnosis::Suspicion suspicion;
  suspicion.slow = true;
  suspicion.episode.onset = Iteration(3);
  job.SetSuspicion(suspicion);
  diagnosis::Diagnosis diagnosis;
  job.SetDiagnosis(diagnosis);
  EXPECT_FALSE(View().episode.wide);
  diagnosis.undecided = true;
  job.SetDiagnosis(diagnosis);
  EXPECT_TRUE(View().episode.wide);
  EXPECT_FALSE(View().episode.named);
  diagnosis.named = true;
  job.SetDiagnosis(diagnosis);
  EXPECT_TRUE(View().episode.named);
  job.SetSuspicion({});
  EXPECT_FALSE(View().episode.wide);
  EXPECT_FALSE(View().episode.named);
}

TEST_F(JobStateTest, ARankCostsLessThanItsBound) {
  Start(8);
  for (std::uint32_t rank = 0; rank < 8; ++rank) {
    BatchShape shape;
    shape.rank = rank;
    shape.count = 600;
    auto batch = Batch(shape);
    for (std::uint64_t g = 1; g < 3; ++g) {
      *batch.add_groups() = batch.groups(0);
      batch.mutable_groups(static_cast<int>(g))->set_group(g);
    }
    for (int i = 0; i < shape.count; ++i)
      batch.add_batch_elements(4096), batch.add_device_wait_us(9);
    job.Apply(batch, "n0");
    job.Apply(HealthOf(rank), "n0");
  }
  const std::size_t bytes = job.BytesPerRank();
  std::printf("[ figure ] bytes a rank, 3 communicators, window full: %zu\n", bytes);
  EXPECT_LE(bytes, kMaxBytesPerRank);
  EXPECT_GT(bytes, 2000u) << "the window is not full: the test says nothing";
}

}  // namespace
}  // namespace fathom::collector
