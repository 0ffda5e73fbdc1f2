// A record as a line of the audit log, and back.
#include "collector/cordon/audit/record_json.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace fathom::cordon {
namespace {

using Json = nlohmann::json;

constexpr std::string Record::*kAllTexts[] = {
    &Record::action,  &Record::node,     &Record::entity, &Record::cause,
    &Record::episode, &Record::job,      &Record::mode,   &Record::actor,
    &Record::text,    &Record::evidence, &Record::before, &Record::after,
};

Json Line() {
  return {{"seq", 7}, {"prev", "ab"}, {"kind", "done"}, {"time_unix_ns", 42}, {"node", "n1"}};
}

TEST(RecordJsonTest, EveryTextComesBackInItsOwnPlaceWhateverItHolds) {
  const std::string hostile = "\"\\\n\t\x01\x7F</b>\xC3\xA9\xF0\x9F\x90\xA2 seq\":1}";
  for (const auto member : kAllTexts) {
    Record record, back;
    record.kind = RecordKind::kFailed;
    record.time = WallNs(1'790'000'000'000'000'001);
    record.*member = hostile;
    Link link{3, std::string(64, 'a')}, read;
    const std::string line = WriteRecord(record, link);
    EXPECT_EQ(line.find('\n'), std::string::npos) << "a record is one line";
    ASSERT_TRUE(ReadRecord(line, back, read).ok()) << line;
    EXPECT_EQ(WriteRecord(back, read), line);
    for (const auto other : kAllTexts) {
      EXPECT_EQ(back.*other, other == member ? hostile : "") << line;
    }
    EXPECT_EQ(back.time, record.time);
  }
}

TEST(RecordJsonTest, EveryKindAndTheEndsOfNumbersComeBack) {
  for (int kind = 0; kind <= static_cast<int>(RecordKind::kDeclined); ++kind) {
    for (const std::int64_t ns : {std::numeric_limits<std::int64_t>::min(), std::int64_t{0},
                                  std::numeric_limits<std::int64_t>::max()}) {
      Record record, back;
      record.kind = static_cast<RecordKind>(kind);
      record.time = WallNs(ns);
      Link link{std::numeric_limits<std::uint64_t>::max(), ""}, read;
      ASSERT_TRUE(ReadRecord(WriteRecord(record, link), back, read).ok());
      EXPECT_EQ(back.kind, record.kind);
      EXPECT_EQ(back.time.ns, ns);
      EXPECT_EQ(read.sequence, link.sequence);
    }
  }
}

TEST(RecordJsonTest, BytesThatAreNoTextAreReplacedAndTheLineCanBeRead) {
  Record record, back;
  record.text = "cut \xC3";
  Link link;
  ASSERT_TRUE(ReadRecord(WriteRecord(record, {1, ""}), back, link).ok());
  EXPECT_EQ(back.text, "cut \xEF\xBF\xBD");
}

TEST(RecordJsonTest, WithoutItsPlaceItsTimeOrAKnownKindItIsNoRecord) {
  Record record;
  Link link;
  EXPECT_TRUE(ReadRecord(Line().dump(), record, link).ok());
  for (const char* member : {"seq", "prev", "kind", "time_unix_ns"}) {
    for (const Json& wrong : {Json(), Json(-1.5), Json::array(), Json("done\n")}) {
      Json line = Line();
      line[member] = wrong;
      if (std::string(member) == "prev" && wrong.is_string()) continue;
      EXPECT_TRUE(absl::IsInvalidArgument(ReadRecord(line.dump(), record, link))) << line;
    }
    Json line = Line();
    line.erase(member);
    const absl::Status status = ReadRecord(line.dump(), record, link);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << line;
    EXPECT_NE(std::string(status.message()).find(member), std::string::npos) << status;
  }
  Json negative = Line();
  negative["seq"] = -1;
  EXPECT_FALSE(ReadRecord(negative.dump(), record, link).ok());
}

TEST(RecordJsonTest, WhatIsNoObjectIsNoRecord) {
  Record record;
  Link link;
  const std::string line = Line().dump();
  for (const std::string& text :
       {std::string(), std::string("null"), std::string("[]"), std::string("7"),
        line.substr(0, line.size() - 1), line + "}", std::string("\xFF\xFE")}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ReadRecord(text, record, link))) << text;
  }
}

TEST(RecordJsonTest, MembersOfALaterVersionAndTextsThatAreNoneAreLeftAlone) {
  Json line = Line();
  line["colour"] = {{"deep", Json::array({1, 2})}};
  line["actor"] = 7;
  Record record;
  record.actor = "of the record before";
  Link link;
  ASSERT_TRUE(ReadRecord(line.dump(), record, link).ok());
  EXPECT_EQ(record.node, "n1");
  EXPECT_EQ(record.actor, "");
}

}  // namespace
}  // namespace fathom::cordon
