// Tells once of each job on this node with what it was started, and what it does in an iteration.
//
// Owned by the agent, called by its loop at each scan. docs/formats/history.md.
//
// Model: the session of a job with the lowest rank speaks for the node, once it has closed
// kIterations iterations, for only then are its libraries loaded and its pattern settled. Its facts
// are read by a thread that nobody waits for: a file system that hangs holds up that thread alone,
// and the job is then never told of.
//
// Units: counts and bytes an iteration. Thread-safety: the agent's loop; the reading threads share
// only what they were given. Ownership: none of the sessions. Errors: none. Stop path: threads are
// abandoned, and end with their reading. Bounds: one thread a job.
#ifndef FATHOM_DAEMON_AGENT_SESSION_FACTS_WATCH_H_
#define FATHOM_DAEMON_AGENT_SESSION_FACTS_WATCH_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/agent/session/rank_session.h"
#include "daemon/agent/source/process/run_facts.h"
#include "fathom/v1/run.pb.h"

namespace fathom::agent {

class FactsWatch {
 public:
  static constexpr std::int64_t kIterations = 8;

  using Read = std::function<ProcessSetup(std::uint32_t pid)>;
  explicit FactsWatch(Read read) : read_(std::move(read)) {}

  struct Told {
    const RankSession* session = nullptr;
    v1::RunFacts facts;
  };
  // What is new of the jobs that these sessions belong to.
  std::vector<Told> Look(const std::vector<const RankSession*>& sessions);

 private:
  struct Reading;
  struct Asked {
    std::string session;  // its name
    std::shared_ptr<Reading> reading;
    bool told = false;
  };

  void Begin(const RankSession& session, Asked& asked) const;

  const Read read_;
  std::map<std::string, Asked> asked_;  // by job
};

// Mean over the newest closed iterations that the log has.
void AddWork(const RankSession& session, v1::RunFacts& facts);

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SESSION_FACTS_WATCH_H_
