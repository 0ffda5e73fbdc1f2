// The outbox of notices in the store: what waits, and what was said, outlives the collector.
//
// Owned by Collector, used by its Notifier. Thread-safety: the store's. Ownership: refers to the
// store. Errors: counted by the store. Cost: a small write a notice.
#ifndef FATHOM_COLLECTOR_SERVE_KEPT_OUTBOX_H_
#define FATHOM_COLLECTOR_SERVE_KEPT_OUTBOX_H_

#include <string>
#include <utility>
#include <vector>

#include "collector/notify/notice_record.h"
#include "collector/notify/outbox.h"
#include "collector/store/store.h"

namespace fathom::collector {

class KeptOutbox final : public Outbox {
 public:
  explicit KeptOutbox(Store& store) : store_(store) {}

  void Keep(const Entry& entry) override {
    store_.Keep({entry.receiver, entry.notice.key, entry.waits, WriteNotice(entry.notice)})
        .IgnoreError();
  }

  void Forget(const std::string& receiver, const std::string& key) override {
    store_.ForgetNotice(receiver, key).IgnoreError();
  }

  std::vector<Entry> All() override {
    std::vector<Entry> entries;
    for (const KeptNotice& kept : store_.KeptNotices()) {
      auto notice = ReadNotice(kept.message);
      if (notice) {
        entries.push_back({kept.receiver, *std::move(notice), kept.waits});
      } else {
        Forget(kept.receiver, kept.key);
      }
    }
    return entries;
  }

 private:
  Store& store_;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_SERVE_KEPT_OUTBOX_H_
