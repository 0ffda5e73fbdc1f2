// Decides which signals to pass on to the command.
//
// Used by TracedRun; see signal_witness.h for the reason. Model: a signal that the kernel raised
// (Ctrl-C, hang-up of the terminal) reached the whole foreground group: never passed on. One that a
// process sent waits kPatience for the witness's report of the same; only without one it is due.
// Times are of std::chrono::steady_clock, passed in. Thread-safety: single-threaded. Errors: none.
#ifndef FATHOM_COLLECTOR_CLI_PROCESS_SIGNAL_RELAY_H_
#define FATHOM_COLLECTOR_CLI_PROCESS_SIGNAL_RELAY_H_

#include <chrono>
#include <optional>
#include <vector>

namespace fathom::cli {

class SignalRelay {
 public:
  using Time = std::chrono::steady_clock::time_point;
  // The witness has to get a core; on a machine full of training processes that takes a while.
  static constexpr std::chrono::milliseconds kPatience{100};

  // Requires: `has_witness` false makes every sent signal due at once.
  explicit SignalRelay(bool has_witness) : has_witness_(has_witness) {}

  void Arrived(int signal, int si_code, int sender, Time now);
  void Witnessed(int signal, int sender, Time now);
  // The signals to pass on now; each is returned once.
  std::vector<int> Due(Time now);
  // When Due() may have something; nothing is waiting otherwise.
  std::optional<Time> next() const;

 private:
  struct Waiting {
    int signal;
    int sender;
    Time until;
  };
  static bool TakeMatch(std::vector<Waiting>* list, int signal, int sender);

  bool has_witness_;
  std::vector<Waiting> waiting_;    // arrived here, no report yet
  std::vector<Waiting> witnessed_;  // reported, not arrived here yet
};

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_PROCESS_SIGNAL_RELAY_H_
