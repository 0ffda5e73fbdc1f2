#include "collector/import/fathom/fathom_importer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "fathom/v1/agent.pb.h"
#include "tests/collector/captured_job.h"
#include "tests/collector/import/fathom/recording_text.h"
#include "tests/collector/messages.h"

namespace fathom::collector {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kBoot = 1'790'000'000 * kSecond;  // wall time at monotonic 0
constexpr int kWorld = 4;

class FathomImporterTest : public testing::Test {
 protected:
  FathomImporterTest() {
    folder_ =
        std::filesystem::temp_directory_path() / ("fathom-recording-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
  }
  ~FathomImporterTest() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& bytes) {
    const std::string path = folder_ / name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  absl::Status Read(const std::vector<std::string>& paths) {
    recording_ = Recording();
    return FathomImporter().Read(paths, ImportLimits{}, recording_);
  }

  std::filesystem::path folder_;
  Recording recording_;
};

v1::RowsReply RowsOf(std::uint32_t rank, std::int64_t iteration, const std::string& job) {
  v1::RowsReply reply;
  reply.set_job(job);
  v1::RankRows& rows = *reply.add_ranks();
  rows.set_rank(rank);
  for (std::int64_t i = 0; i < 2; ++i) {
    v1::CommOp& op = *rows.add_ops();
    op.set_group(kWorldGroup);
    op.set_sequence(static_cast<std::uint64_t>(1000 + iteration * 5 + i));
    op.set_kind(1);
    op.set_iteration(iteration);
    op.set_enter_ns(50 * kSecond + iteration * kSecond / 10 + i * 1'000'000);
    op.set_end_ns(op.enter_ns() + 500'000);
  }
  return reply;
}

// What the agent of `node` records of ranks [first, last) of a healthy job.
std::string NodeText(const std::string& node, std::uint32_t first, std::uint32_t last,
                     int iterations, const std::string& job = "train") {
  RecordingText text;
  std::int64_t mono = 50 * kSecond;
  const auto add = [&](const v1::AgentMessage& message) { text.Add(message, kBoot + mono, mono); };
  add(HelloFrom(node));
  for (std::uint32_t rank = first; rank < last; ++rank) {
    add(Message(0, RankOf(rank, kWorld, job)));
    add(Message(0, GroupOf(rank, kWorld, job)));
  }
  for (int i = 0; i < iterations; ++i) {
    mono += kSecond / 10;
    for (std::uint32_t rank = first; rank < last; ++rank) {
      BatchShape shape;
      shape.rank = rank;
      shape.first = i;
      shape.anchor = static_cast<std::uint64_t>(1000 + 5 * i);
      shape.job = job;
      shape.begin_mono_ns = mono;
      add(Message(0, Batch(shape)));
      add(Message(0, RowsOf(rank, i, job)));
      add(Message(0, HealthOf(rank, "S", 0, job)));
    }
    if (i % 10 == 9) text.Seal();
  }
  return text.Take();
}

TEST_F(FathomImporterTest, TheNodesOfAJobBecomeOne) {
  const auto paths = {Write("a.fathom", NodeText("n0", 0, 2, 40)),
                      Write("b.fathom", NodeText("n1", 2, 4, 40))};
  ASSERT_TRUE(Read(paths).ok());
  const diagnosis::JobView& view = recording_.view;
  EXPECT_EQ(view.name, "train");
  EXPECT_EQ(view.world_size, 4u);
  EXPECT_EQ(view.nodes, 2u);
  ASSERT_THAT(view.window, SizeIs(40));
  for (const auto& summary : view.window) EXPECT_THAT(summary.ranks, SizeIs(4));
  ASSERT_THAT(view.rows, SizeIs(4));
  for (const auto& [rank, rows] : view.rows) {
    ASSERT_THAT(rows.ops, SizeIs(80));
    EXPECT_EQ(rows.ops.front().iteration, Iteration(0));
    EXPECT_EQ(rows.ops.back().iteration, Iteration(39));
    EXPECT_EQ(rows.ops.front().enter.ns, kBoot + 50 * kSecond) << "wall time";
  }
  EXPECT_THAT(recording_.notes, IsEmpty());
  EXPECT_TRUE(recording_.replayed);
  EXPECT_THAT(recording_.episodes, IsEmpty()) << "healthy";
}

TEST_F(FathomImporterTest, AnAbsentNodeLeavesItsRanksOut) {
  ASSERT_TRUE(Read({Write("a.fathom", NodeText("n0", 0, 2, 20))}).ok());
  EXPECT_EQ(recording_.view.world_size, 4u);
  EXPECT_THAT(recording_.view.ranks, SizeIs(2));
}

TEST_F(FathomImporterTest, ACutEndCostsTheLastBlockAlone) {
  const std::string whole = NodeText("n0", 0, 4, 40);
  const std::string path = Write("cut.fathom", whole.substr(0, whole.size() - 7));
  ASSERT_TRUE(Read({path}).ok());
  EXPECT_THAT(recording_.view.window, SizeIs(30));
  EXPECT_THAT(recording_.notes, ElementsAre(HasSubstr("the last block is cut")));
}

TEST_F(FathomImporterTest, ABrokenBlockCostsItself) {
  std::string text = NodeText("n0", 0, 4, 40);
  const std::size_t third = text.find(kRecordingMagic, text.find(kRecordingMagic, 1) + 1);
  for (std::size_t i = 0; i < 40; ++i) text[third + kRecordingHeaderBytes + 20 + i] = '\x55';
  ASSERT_TRUE(Read({Write("broken.fathom", text)}).ok());
  EXPECT_THAT(recording_.view.window, SizeIs(30)) << "ten are lost, the last ten are there";
  EXPECT_EQ(recording_.view.window.back().index, Iteration(39));
  ASSERT_FALSE(recording_.notes.empty());
  EXPECT_THAT(recording_.notes[0], HasSubstr("a broken block is left out"));
  EXPECT_THAT(recording_.notes[0], HasSubstr("offset " + std::to_string(third)));
}

TEST_F(FathomImporterTest, ABlockOfImpossibleSizeIsNotBelieved) {
  std::string text = NodeText("n0", 0, 4, 10);
  const RecordingHeader lie = ToHeader({0xfffffff0, 0xfffffff0});
  text.append(lie.data(), lie.size());
  text += "and some bytes behind it";
  ASSERT_TRUE(Read({Write("lie.fathom", text)}).ok());
  EXPECT_THAT(recording_.view.window, SizeIs(10));
  ASSERT_FALSE(recording_.notes.empty());
  EXPECT_THAT(recording_.notes[0], HasSubstr("impossible size"));
}

TEST_F(FathomImporterTest, OfSeveralJobsTheLargestIsReadAndTheOthersNamed) {
  const auto paths = {Write("a.fathom", NodeText("n0", 0, 4, 20, "large")),
                      Write("b.fathom", NodeText("n0", 0, 1, 20, "small"))};
  ASSERT_TRUE(Read(paths).ok());
  EXPECT_EQ(recording_.view.name, "large");
  EXPECT_THAT(recording_.notes, ElementsAre(HasSubstr("job small of 1 ranks")));
}

TEST_F(FathomImporterTest, ARestartedJobIsReadFromItsRestartOn) {
  RecordingText text;
  const auto add = [&](const v1::AgentMessage& message, std::int64_t mono) {
    text.Add(message, kBoot + mono, mono);
  };
  add(HelloFrom("n0"), kSecond);
  for (int life = 0; life < 2; ++life) {
    const std::int64_t mono = (100 + 100 * life) * kSecond;
    v1::RankInfo rank = RankOf(0, 1);
    rank.set_pid(static_cast<std::uint32_t>(100 + life));
    rank.set_start_time_ticks(static_cast<std::uint64_t>(mono / 10'000'000));  // of 10 ms
    rank.set_started_wall_ns(kBoot + mono);
    add(Message(0, rank), mono);
    BatchShape shape;
    shape.count = life == 0 ? 30 : 12;
    shape.begin_mono_ns = mono;
    add(Message(0, Batch(shape)), mono + kSecond);
  }
  ASSERT_TRUE(Read({Write("again.fathom", text.Take())}).ok());
  EXPECT_THAT(recording_.view.window, SizeIs(12));
  EXPECT_THAT(recording_.notes, ElementsAre(HasSubstr("began anew 1 times")));
}

TEST_F(FathomImporterTest, NonsenseIsCountedAndTheRestRead) {
  RecordingText text;
  const std::string good = NodeText("n0", 0, 4, 10);
  BatchShape shape;
  v1::SummaryBatch bad = Batch(shape);
  bad.add_cpu_us(1);  // columns of unequal length
  text.Add(HelloFrom("n1"), kBoot + 50 * kSecond, 50 * kSecond);
  text.Add(Message(0, bad), kBoot + 52 * kSecond, 52 * kSecond);
  ASSERT_TRUE(Read({Write("good.fathom", good), Write("bad.fathom", text.Take())}).ok());
  EXPECT_THAT(recording_.view.window, SizeIs(10));
  EXPECT_THAT(recording_.notes, ElementsAre(HasSubstr("1 messages made no sense")));
}

TEST_F(FathomImporterTest, ACopyCompressedAgainIsReadToo) {
  const std::string text = NodeText("n0", 0, 4, 20);
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 1));
  ASSERT_TRUE(Read({Write("again.fathom.zst", packed)}).ok());
  EXPECT_THAT(recording_.view.window, SizeIs(20));
  ASSERT_TRUE(Read({Write("cut.fathom.zst", packed.substr(0, packed.size() - 9))}).ok());
  EXPECT_THAT(recording_.notes, testing::Not(IsEmpty()));
}

TEST_F(FathomImporterTest, OfCopiesTheLongestIsRead) {
  const std::string text = NodeText("n0", 0, 4, 40);
  const auto paths = {Write("a.fathom", text.substr(0, text.size() - 7)), Write("b.fathom", text),
                      Write("c.fathom", text)};
  ASSERT_TRUE(Read(paths).ok());
  EXPECT_THAT(recording_.view.window, SizeIs(40));
  for (const auto& [rank, rows] : recording_.view.rows) EXPECT_THAT(rows.ops, SizeIs(80));
  EXPECT_THAT(recording_.notes,
              ElementsAre(HasSubstr("a.fathom: a copy of"), HasSubstr("c.fathom: a copy of")));
}

TEST_F(FathomImporterTest, WithoutAnyRankItSaysSo) {
  RecordingText text;
  text.Add(HelloFrom("n0"), kBoot, kSecond);
  const absl::Status read = Read({Write("empty.fathom", text.Take())});
  EXPECT_FALSE(read.ok());
  EXPECT_THAT(std::string(read.message()), HasSubstr("no rank of any job was recorded"));
}

// The second of two ops closes an iteration; of a slow one rank 2 comes to it 100 ms later.
class SlowRank {
 public:
  std::string TextOf(int healthy, int slow) {
    Add(HelloFrom("n0"));
    for (std::uint32_t rank = 0; rank < kWorld; ++rank) {
      Add(Message(0, RankOf(rank, kWorld)));
      Add(Message(0, GroupOf(rank, kWorld)));
    }
    for (int i = 0; i < healthy + slow; ++i) Iterate(i, i >= healthy);
    for (std::uint32_t rank = 0; rank < kWorld; ++rank) {
      v1::AgentMessage message;
      *message.mutable_capture() = CaptureReplyOf(7, CapturedStacks(rank, rank == 2 ? 220 : 0));
      Add(message);
    }
    return text_.Take();
  }

 private:
  static constexpr std::int64_t kMs = kSecond / 1000;

  void Add(const v1::AgentMessage& message) { text_.Add(message, kBoot + mono_, mono_); }

  void Iterate(int i, bool slow) {
    const std::int64_t begin = mono_, took = (slow ? 200 : 100) * kMs;
    mono_ += took;
    for (std::uint32_t rank = 0; rank < kWorld; ++rank) {
      const std::int64_t arrives = (slow && rank == 2 ? 190 : 90) * kMs;
      BatchShape shape;
      shape.rank = rank;
      shape.first = i;
      shape.step = 2;
      shape.anchor = static_cast<std::uint64_t>(2 * i + 1);
      shape.duration_us = static_cast<std::uint32_t>(took / 1000);
      shape.elapsed_us = static_cast<std::uint32_t>((took - arrives) / 1000);
      v1::SummaryBatch batch = Batch(shape);
      batch.set_first_begin_mono_ns(begin);
      batch.set_mono_to_wall_ns(kBoot);
      batch.set_cpu_us(0, 50'000);
      Add(Message(0, batch));
      Add(Message(0, Rows(rank, i, begin, begin + arrives)));
    }
  }

  v1::RowsReply Rows(std::uint32_t rank, int i, std::int64_t begin, std::int64_t arrives) {
    v1::RowsReply reply;
    reply.set_job("train");
    v1::RankRows& rows = *reply.add_ranks();
    rows.set_rank(rank);
    for (int op = 0; op < 2; ++op) {
      v1::CommOp& row = *rows.add_ops();
      row.set_group(kWorldGroup);
      row.set_sequence(static_cast<std::uint64_t>(2 * i + op));
      row.set_kind(1);
      row.set_iteration(i);
      row.set_enter_ns(op == 0 ? begin + 40 * kMs : arrives);
      row.set_end_ns(op == 0 ? begin + 41 * kMs : mono_ - kMs);
      row.set_wait_start_ns(row.enter_ns());
      row.set_wait_end_ns(row.end_ns());
    }
    return reply;
  }

  RecordingText text_;
  std::int64_t mono_ = 50 * kSecond;
};

TEST_F(FathomImporterTest, AVerdictThatOpensWithTheLastMessagesIsToldItsFunctionToo) {
  int opened = 0;
  for (int slow = 2; slow <= 12; ++slow) {
    ASSERT_TRUE(Read({Write("slow.fathom", SlowRank().TextOf(40, slow))}).ok());
    for (const Episode& episode : recording_.episodes) {
      ++opened;
      EXPECT_EQ(episode.verdict.cause, diagnosis::Cause::kHostSlow);
      EXPECT_EQ(episode.detail.where.function, "write_metrics") << slow << " slow iterations";
    }
  }
  EXPECT_GT(opened, 0);
}

TEST_F(FathomImporterTest, IsKnownByItsMagic) {
  const std::string text = NodeText("n0", 0, 1, 1);
  EXPECT_TRUE(FathomImporter().Recognises("x", text));
  EXPECT_FALSE(FathomImporter().Recognises("x.fathom", "FATHOM"));
}

}  // namespace
}  // namespace fathom::collector
