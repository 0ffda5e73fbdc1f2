// The outbox of notices in the store: what waits, and what was said, outlives the collector.
//
// Owned by Collector, used by its Notifier. Where several collectors share the store, each takes up
// what was kept of a job when it becomes its owner (OfEpisodes), and nothing at its start.
//
// Thread-safety: the store's. Ownership: refers to the store. Errors: counted by the store. Cost: a
// small write a notice; OfEpisodes reads all that are kept.
#ifndef FATHOM_COLLECTOR_SERVE_KEPT_OUTBOX_H_
#define FATHOM_COLLECTOR_SERVE_KEPT_OUTBOX_H_

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "collector/notify/notice_record.h"
#include "collector/notify/outbox.h"
#include "collector/store/store.h"

namespace fathom::collector {

class KeptOutbox final : public Outbox {
 public:
  explicit KeptOutbox(Store& store, bool shared = false) : store_(store), shared_(shared) {}

  void Keep(const Entry& entry) override {
    store_.Keep({entry.receiver, entry.notice.key, entry.waits, WriteNotice(entry.notice)})
        .IgnoreError();
  }

  void Forget(const std::string& receiver, const std::string& key) override {
    store_.ForgetNotice(receiver, key).IgnoreError();
  }

  std::vector<Entry> All() override {
    if (shared_) return {};
    return Read([](const KeptNotice&) { return true; });
  }

  std::vector<Entry> OfEpisodes(const std::set<std::string>& ids) {
    return Read([&](const KeptNotice& kept) { return ids.contains(kept.key); });
  }

 private:
  template <typename Wanted>
  std::vector<Entry> Read(const Wanted& wanted) {
    std::vector<Entry> entries;
    for (const KeptNotice& kept : store_.KeptNotices()) {
      if (!wanted(kept)) continue;
      auto notice = ReadNotice(kept.message);
      if (notice) {
        entries.push_back({kept.receiver, *std::move(notice), kept.waits});
      } else {
        Forget(kept.receiver, kept.key);
      }
    }
    return entries;
  }

  Store& store_;
  const bool shared_;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_SERVE_KEPT_OUTBOX_H_
