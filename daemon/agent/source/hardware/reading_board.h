// What of the readings is worth telling the collector: what is new, what moved, all now and then.
//
// Owned by session/hardware_watch.
//
// Model: holds the newest value of each reading and the one that was told last. A gauge is told
// again once it moved by its `absolute` and `relative` (proto/types/hardware_metric.h), a counter
// when it moved, at most every kCounterGap; a note that changed is told too. Every kWholeEvery, and
// at the beginning, all is told (`whole`), and after a message was lost, as far as that is known.
//
// Units: ns of CLOCK_MONOTONIC. Thread-safety: single-threaded, the poll loop. Errors: none; past
// kMostReadings new ones are left out and counted.
// Cost: O(readings × log). Memory: some 150 bytes a reading.
#ifndef FATHOM_DAEMON_AGENT_SOURCE_HARDWARE_READING_BOARD_H_
#define FATHOM_DAEMON_AGENT_SOURCE_HARDWARE_READING_BOARD_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "daemon/agent/source/hardware/hardware_source.h"

namespace fathom::agent {

class ReadingBoard {
 public:
  static constexpr std::size_t kMostReadings = 2048;
  static constexpr Nanos kWholeEvery{30'000'000'000};
  static constexpr Nanos kCounterGap{1'500'000'000};
  static constexpr Nanos kForgetAfter{120'000'000'000};  // longer than any source rests

  struct News {
    std::vector<Reading> readings;  // by device
    bool whole = false;
  };

  void Put(std::vector<Reading> readings);
  News Take(MonoNs now);
  // What was told last may not have arrived: the next news are whole.
  void TellAll() { whole_at_ = {}; }
  std::uint64_t left_out() const { return left_out_; }

 private:
  using Key = std::tuple<DeviceKind, std::string, HardwareMetric>;
  struct Entry {
    double value = 0;
    std::string note;
    bool sampled = true;  // since the last Take
    MonoNs sampled_at;    // the Take after it
    bool told = false;
    double told_value = 0;
    std::string told_note;
    MonoNs told_at;
  };

  static bool WorthTelling(HardwareMetric metric, const Entry& entry, MonoNs now);
  void Forget(MonoNs now);

  std::map<Key, Entry> entries_;
  MonoNs whole_at_;  // not known: never
  std::uint64_t left_out_ = 0;
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SOURCE_HARDWARE_READING_BOARD_H_
