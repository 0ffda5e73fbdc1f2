// Verdicts as messages and back, over the bytes that the store keeps.
#include "collector/export/verdict_proto.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "fathom/v1/report.pb.h"

namespace fathom::collector {
namespace {

using ::testing::IsEmpty;

Episode Back(const Episode& episode) {
  v1::Verdict out, in;
  ToProto(episode, out);
  EXPECT_TRUE(in.ParseFromString(out.SerializeAsString()));
  return FromProto(in);
}

// As bytes, so that nothing that a message holds escapes the comparison.
std::string BytesOf(const Episode& episode) {
  v1::Verdict out;
  ToProto(episode, out);
  return out.SerializeAsString();
}

std::vector<RankId> Ranks(std::initializer_list<std::uint32_t> numbers) {
  std::vector<RankId> ranks;
  for (const std::uint32_t number : numbers) ranks.emplace_back(number);
  return ranks;
}

// Every field that the message has, each unlike what it is by itself.
Episode Full() {
  Episode episode;
  episode.id = "v0123456789ab";
  episode.job = "train \"7\"\n\xC3\xA9";
  auto& verdict = episode.verdict;
  verdict.grade = diagnosis::Grade::kSupported;
  verdict.cause = diagnosis::Cause::kMemorySlow;
  verdict.problem = diagnosis::ProblemClass::kNonCommunicationSlow;
  verdict.owner = diagnosis::Owner::kInfrastructure;
  verdict.entity = {diagnosis::EntityType::kLink, Ranks({4, 9}), "n1", "0000:1B:00.0", "a", "b"};
  verdict.sentence = "Ranks 4 and 9 …";
  verdict.since_iteration = Iteration(0);
  verdict.since_time = WallNs(1'790'000'000'000'000'001);
  verdict.every = 8;
  verdict.cost = {1.5, 0.25, 3.75, 0.0625};
  verdict.victims = Ranks({0, 4'294'967'294});
  verdict.waits = {{2, Ranks({1, 2}), Ranks({4}), "dp", 3, CollectiveKind::kReduceScatter, 0,
                    Nanos(1'500'000'000)}};
  verdict.stacks = {{Ranks({4}), {"sleep", "main"}, 0, true, "py-spy", Nanos(250'000'000)},
                    {Ranks({}), {}, -1, false, "", Nanos()}};
  verdict.evidence = {{"it was late", 2.5, "s", 0.5, "ops"}, {"again", -1, "", 0, ""}};
  verdict.counter_evidence = {{"so was rank 1", 0.125, "s", 1, "ops"}};
  verdict.would_change = {"rows of rank 1", ""};
  verdict.counter = "sm_clock of GPU 0000:1B:00.0";
  verdict.action_text = "Drain it.";
  verdict.action_command = "scontrol update";
  episode.detail.where = {"load", "/a/b.py", 17, 0.75, 0.125};
  episode.detail.doing = "sleep";
  episode.detail.of_loss = 0.5;
  episode.detail.functions = {{"load", "/a/b.py", 17, 0.75, 0.125}, {"", "", 0, 0, 0}};
  episode.proof = {"confirmed", "The probe says so.", 77, WallNs(5), 0.03125};
  episode.closed = WallNs(1'790'000'000'000'000'009);
  episode.until_iteration = Iteration(40);
  episode.closed_because = "recovered";
  return episode;
}

TEST(VerdictProtoTest, NothingOfAVerdictIsLostOnTheWay) {
  const Episode episode = Full();
  const Episode back = Back(episode);
  EXPECT_EQ(BytesOf(back), BytesOf(episode));
  EXPECT_EQ(back.job, episode.job);
  EXPECT_EQ(back.verdict.victims, episode.verdict.victims);
  EXPECT_EQ(back.verdict.entity.link_dst, "b");
  EXPECT_EQ(back.verdict.since_iteration, Iteration(0));
  EXPECT_EQ(back.verdict.every, 8);
  EXPECT_EQ(back.verdict.cost.gpu_hours_per_minute, 0.0625);
  ASSERT_EQ(back.verdict.waits.size(), 1u);
  EXPECT_EQ(back.verdict.waits[0].kind, CollectiveKind::kReduceScatter);
  EXPECT_EQ(back.verdict.waits[0].waited, Nanos(1'500'000'000));
  ASSERT_EQ(back.verdict.stacks.size(), 2u);
  EXPECT_EQ(back.verdict.stacks[0].frames, episode.verdict.stacks[0].frames);
  EXPECT_EQ(back.verdict.stacks[1].differs_at, -1);
  EXPECT_EQ(back.verdict.counter, episode.verdict.counter);
  EXPECT_EQ(back.detail.where.line, 17u);
  EXPECT_EQ(back.detail.functions.size(), 2u);
  EXPECT_EQ(back.proof.request_id, 77u);
  EXPECT_EQ(back.closed, episode.closed);
  EXPECT_FALSE(back.superseded);
}

TEST(VerdictProtoTest, AVerdictOfWhichLittleIsKnownStaysOpenAndWithoutInventions) {
  const Episode back = Back({});
  EXPECT_TRUE(back.open());
  EXPECT_FALSE(back.detail.known());
  EXPECT_FALSE(back.proof.known());
  EXPECT_EQ(back.verdict.grade, diagnosis::Grade::kUnknown);
  EXPECT_EQ(back.verdict.since_iteration, Iteration(-1));
  EXPECT_FALSE(back.verdict.from_start);
  EXPECT_EQ(back.verdict.cost.slowdown, 1);
  EXPECT_EQ(BytesOf(back), BytesOf({}));
  v1::Verdict out;
  ToProto(Episode(), out);
  EXPECT_FALSE(out.has_until());
  EXPECT_FALSE(out.has_detail());
  EXPECT_FALSE(out.has_proof());
  EXPECT_FALSE(out.entity().has_link());
}

TEST(VerdictProtoTest, EachNameIsThatOfOneEnumerator) {
  const auto check = [](auto last, auto set, auto get) {
    using Enum = decltype(last);
    for (int i = 0; i <= static_cast<int>(last); ++i) {
      Episode episode;
      set(episode.verdict, static_cast<Enum>(i));
      EXPECT_EQ(get(Back(episode).verdict), static_cast<Enum>(i)) << ToString(static_cast<Enum>(i));
    }
    const auto past = static_cast<Enum>(static_cast<int>(last) + 1);
    EXPECT_EQ(ToString(past), ToString(Enum{})) << "a new enumerator, which must be read too";
  };
  using diagnosis::Verdict;
  check(
      diagnosis::Grade::kEstablished, [](Verdict& v, auto e) { v.grade = e; },
      [](const Verdict& v) { return v.grade; });
  check(
      diagnosis::Cause::kRegression, [](Verdict& v, auto e) { v.cause = e; },
      [](const Verdict& v) { return v.cause; });
  check(
      diagnosis::ProblemClass::kNonCommunicationSlow, [](Verdict& v, auto e) { v.problem = e; },
      [](const Verdict& v) { return v.problem; });
  check(
      diagnosis::Owner::kAlgorithm, [](Verdict& v, auto e) { v.owner = e; },
      [](const Verdict& v) { return v.owner; });
  check(
      diagnosis::EntityType::kJob, [](Verdict& v, auto e) { v.entity.type = e; },
      [](const Verdict& v) { return v.entity.type; });
}

TEST(VerdictProtoTest, EveryKindOfOpThatIsWaitedInComesBack) {
  for (std::uint8_t i = 0; i < kCollectiveKindCount; ++i) {
    Episode episode;
    episode.verdict.waits.emplace_back().kind = CollectiveKind{i};
    EXPECT_EQ(Back(episode).verdict.waits.at(0).kind, CollectiveKind{i});
  }
}

TEST(VerdictProtoTest, TimesComeBackToTheNanosecond) {
  for (const std::int64_t ns :
       {0LL, 1LL, 29LL, 1'234'567LL, 999'999'999LL, 1'000'000'001LL, 86'400'000'000'003LL}) {
    Episode episode;
    episode.verdict.waits.emplace_back().waited = Nanos(ns);
    episode.verdict.stacks.emplace_back().pause = Nanos(ns);
    EXPECT_EQ(Back(episode).verdict.waits.at(0).waited, Nanos(ns));
    EXPECT_EQ(Back(episode).verdict.stacks.at(0).pause, Nanos(ns));
  }
}

TEST(VerdictProtoTest, NamesOfALaterVersionAreNotKnown) {
  v1::Verdict in;
  in.set_grade("certain");
  in.set_cause("cosmic_ray");
  in.set_class_("");
  in.set_owner("nobody");
  in.mutable_entity()->set_type("rack");
  in.add_waits()->set_op("all_to_some");
  const diagnosis::Verdict read = FromProto(in).verdict;
  EXPECT_EQ(read.grade, diagnosis::Grade::kUnknown);
  EXPECT_EQ(read.cause, diagnosis::Cause::kUnknown);
  EXPECT_EQ(read.problem, diagnosis::ProblemClass::kNone);
  EXPECT_EQ(read.owner, diagnosis::Owner::kOperations);
  EXPECT_EQ(read.entity.type, diagnosis::EntityType::kRank);
  ASSERT_EQ(read.waits.size(), 1u);
  EXPECT_EQ(read.waits[0].kind, CollectiveKind::kUnknown);
}

TEST(VerdictProtoTest, AFaultFromTheStartHasNoOnset) {
  Episode episode;
  episode.verdict.from_start = true;
  episode.verdict.since_iteration = Iteration(12);
  v1::Verdict out;
  ToProto(episode, out);
  EXPECT_TRUE(out.has_since());
  EXPECT_FALSE(out.since().has_iteration());
  EXPECT_TRUE(FromProto(out).verdict.from_start);
}

TEST(VerdictProtoTest, WhatAnotherVerdictReplacedIsKnownAgainByItsWords) {
  Episode episode = Full();
  const std::pair<const char*, bool> cases[] = {
      {"superseded by v1", true}, {"recovered", false}, {"not superseded", false}, {"", false}};
  for (const auto& [because, superseded] : cases) {
    episode.closed_because = because;
    EXPECT_EQ(Back(episode).superseded, superseded) << because;
    EXPECT_EQ(Back(episode).closed_because, because);
  }
}

TEST(VerdictProtoTest, AReadingOfHardwareAloneIsNoFunction) {
  Episode episode;
  episode.verdict.counter = "temperature of GPU 1";
  v1::Verdict out;
  ToProto(episode, out);
  EXPECT_EQ(out.detail().counter(), "temperature of GPU 1");
  EXPECT_FALSE(FromProto(out).detail.known());
  episode.detail.missing = "py-spy may not read stacks";
  const Episode back = Back(episode);
  EXPECT_EQ(back.detail.missing, episode.detail.missing);
  EXPECT_EQ(back.verdict.counter, episode.verdict.counter);
}

TEST(VerdictProtoTest, OfALinkOneEndIsEnough) {
  const std::pair<const char*, const char*> cases[] = {{"a", ""}, {"", "b"}};
  for (const auto& [src, dst] : cases) {
    diagnosis::Entity entity;
    entity.link_src = src;
    entity.link_dst = dst;
    v1::Entity out;
    ToProto(entity, out);
    EXPECT_TRUE(out.has_link());
    EXPECT_EQ(FromProto(out).link_src, src);
    EXPECT_EQ(FromProto(out).link_dst, dst);
  }
  EXPECT_THAT(FromProto(v1::Entity()).ranks, IsEmpty());
}

}  // namespace
}  // namespace fathom::collector
