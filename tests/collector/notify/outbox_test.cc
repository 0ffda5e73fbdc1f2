// Notices over a restart: what waited goes out, and nobody hears the same twice.
#include <gtest/gtest.h>

#include <condition_variable>
#include <map>

#include "collector/notify/notice_record.h"
#include "collector/notify/notifier.h"

namespace fathom::collector {
namespace {

// As texts, as the store has them.
class Shelf final : public Outbox {
 public:
  void Keep(const Entry& entry) override {
    const std::lock_guard lock(mutex_);
    kept_[{entry.receiver, entry.notice.key}] = {entry.waits, WriteNotice(entry.notice)};
    changed_.notify_all();
  }
  void Forget(const std::string& receiver, const std::string& key) override {
    const std::lock_guard lock(mutex_);
    kept_.erase({receiver, key});
    changed_.notify_all();
  }
  std::vector<Entry> All() override {
    const std::lock_guard lock(mutex_);
    std::vector<Entry> all;
    for (const auto& [key, kept] : kept_) {
      all.push_back({key.first, ReadNotice(kept.second).value(), kept.first});
    }
    return all;
  }
  // Until `waiting` wait and `said` were said.
  bool Holds(std::size_t waiting, std::size_t said) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(20), [&] {
      std::size_t wait = 0;
      for (const auto& [key, kept] : kept_) wait += kept.first;
      return wait == waiting && kept_.size() - wait == said;
    });
  }
  std::string Text() const {
    std::string text;
    for (const auto& [key, kept] : kept_) text += key.first + " " + kept.second + "\n";
    return text;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::pair<std::string, std::string>, std::pair<bool, std::string>> kept_;
};

class Door final : public HttpTransport {
 public:
  absl::StatusOr<HttpAnswer> Send(const HttpCall& call) override {
    const std::lock_guard lock(mutex_);
    if (!open) return absl::UnavailableError("nobody there");
    bodies_.push_back(call.body);
    changed_.notify_all();
    return HttpAnswer{200, "", 0};
  }
  std::vector<std::string> WaitFor(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(20), [&] { return bodies_.size() >= count; });
    return bodies_;
  }
  std::atomic<bool> open{false};

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> bodies_;
};

struct OutboxTest : testing::Test {
  SystemClock clock;
  Shelf shelf;
  Door door;
  std::vector<Receiver> receivers = *ParseReceivers("slack=http://h/services/SECRETPATH", "");

  static Notice Hang() {
    Notice notice;
    notice.key = "v1";
    notice.title = "FathomVerdict";
    notice.matter = "established rank 2";
    notice.summary = "Rank 2 hangs";
    notice.labels = {{"job", "train"}};
    notice.began = WallNs(1);
    return notice;
  }
};

TEST_F(OutboxTest, WhatWaitedWhenTheCollectorWasKilledGoesOut) {
  {
    Notifier first(receivers, door, clock, &shelf);
    first.Tell(Hang());
    ASSERT_TRUE(shelf.Holds(1, 0));
  }
  EXPECT_EQ(shelf.Text().find("SECRETPATH"), std::string::npos) << shelf.Text();
  door.open = true;
  Notifier second(receivers, door, clock, &shelf);
  ASSERT_EQ(door.WaitFor(1).size(), 1u);
  EXPECT_NE(door.WaitFor(1)[0].find("Rank 2 hangs"), std::string::npos);
  EXPECT_TRUE(shelf.Holds(0, 1));
}

TEST_F(OutboxTest, WhatWasSaidIsNotSaidAgainButItsEndIs) {
  door.open = true;
  {
    Notifier first(receivers, door, clock, &shelf);
    first.Tell(Hang());
    ASSERT_TRUE(shelf.Holds(0, 1));
  }
  Notifier second(receivers, door, clock, &shelf);
  second.Tell(Hang());  // as of a verdict that was taken up
  Notice over = Hang();
  over.over = WallNs(9);
  second.Tell(over);
  EXPECT_EQ(door.WaitFor(2).size(), 2u);
  EXPECT_TRUE(shelf.Holds(0, 0));
}

TEST_F(OutboxTest, AlertmanagersRefreshGoesOn) {
  receivers = *ParseReceivers("alertmanager=http://h", "");
  door.open = true;
  {
    Notifier first(receivers, door, clock, &shelf);
    first.Tell(Hang());
    ASSERT_TRUE(shelf.Holds(0, 1));
  }
  const Notifier second(receivers, door, clock, &shelf);
  EXPECT_EQ(door.WaitFor(2).size(), 2u);
}

TEST_F(OutboxTest, WhatIsOfAReceiverThatIsGoneIsForgotten) {
  {
    Notifier first(receivers, door, clock, &shelf);
    first.Tell(Hang());
    ASSERT_TRUE(shelf.Holds(1, 0));
  }
  const Notifier second(*ParseReceivers("json=http://other", ""), door, clock, &shelf);
  EXPECT_TRUE(shelf.Holds(0, 0));
}

TEST(NoticeRecordTest, ComesBackAsItWas) {
  Notice notice = OutboxTest::Hang();
  notice.severity = Severity::kCritical;
  notice.description = "d \"quoted\"\n";
  notice.link = "https://x/#/verdict/v1";
  notice.over = WallNs(77);
  const auto back = ReadNotice(WriteNotice(notice));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->key, notice.key);
  EXPECT_EQ(back->title, notice.title);
  EXPECT_EQ(back->matter, notice.matter);
  EXPECT_EQ(back->severity, notice.severity);
  EXPECT_EQ(back->summary, notice.summary);
  EXPECT_EQ(back->description, notice.description);
  EXPECT_EQ(back->labels, notice.labels);
  EXPECT_EQ(back->link, notice.link);
  EXPECT_EQ(back->began, notice.began);
  EXPECT_EQ(back->over, notice.over);
  for (const char* text : {"", "{}", "[]", "null", "{\"key\":3}", "\xff"}) {
    EXPECT_FALSE(ReadNotice(text)) << text;
  }
}

}  // namespace
}  // namespace fathom::collector
