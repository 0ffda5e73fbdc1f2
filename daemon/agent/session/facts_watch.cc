#include "daemon/agent/session/facts_watch.h"

#include <algorithm>
#include <system_error>
#include <thread>
#include <utility>

#include "daemon/service/mutex.h"

namespace fathom::agent {

struct FactsWatch::Reading {
  service::Mutex mutex;
  std::optional<ProcessSetup> setup ABSL_GUARDED_BY(mutex);
};

namespace {

v1::RunFacts FactsOf(const RankSession& session, const ProcessSetup& setup) {
  v1::RunFacts facts;
  facts.set_job(session.identity().job);
  facts.set_rank(session.identity().rank);
  facts.set_profile(setup.profile);
  facts.set_program(setup.program);
  facts.set_framework(setup.framework);
  facts.set_device(setup.device);
  facts.mutable_facts()->insert(setup.facts.begin(), setup.facts.end());
  AddWork(session, facts);
  return facts;
}

// By job, the one with the lowest rank.
std::map<std::string, const RankSession*> Speakers(
    const std::vector<const RankSession*>& sessions) {
  std::map<std::string, const RankSession*> speakers;
  for (const RankSession* session : sessions) {
    if (!session->rank_known()) continue;
    const RankSession*& speaker = speakers[session->identity().job];
    if (speaker == nullptr || session->identity().rank < speaker->identity().rank) {
      speaker = session;
    }
  }
  return speakers;
}

}  // namespace

void AddWork(const RankSession& session, v1::RunFacts& facts) {
  const RankPipeline& pipeline = session.pipeline();
  const std::int64_t end = pipeline.iteration_in_progress();
  const std::int64_t begin = std::max<std::int64_t>(0, end - FactsWatch::kIterations);
  struct Sum {
    double calls = 0, bytes = 0;
  };
  std::map<std::pair<std::uint16_t, CollectiveKind>, Sum> sums;
  std::int64_t oldest = end;
  for (std::uint64_t number = pipeline.log().next(); number-- > pipeline.log().first();) {
    const OpRow& row = pipeline.log().At(number);
    if (row.iteration == kNoIteration || row.iteration >= end) continue;
    if (row.iteration < begin) break;
    oldest = std::min(oldest, row.iteration);
    Sum& sum = sums[{row.group_slot, row.kind}];
    sum.calls += 1;
    sum.bytes += static_cast<double>(row.bytes);
  }
  const auto iterations = static_cast<double>(std::max<std::int64_t>(1, end - oldest));
  for (const auto& [key, sum] : sums) {
    const auto [slot, kind] = key;
    if (slot >= session.groups().size()) continue;
    v1::GroupWork& work = *facts.add_work();
    work.set_group(pipeline.Group(slot).id.value);
    work.set_size(session.groups()[slot].size);
    work.set_kind(static_cast<std::uint32_t>(kind));
    work.set_calls(sum.calls / iterations);
    work.set_bytes(sum.bytes / iterations);
  }
}

void FactsWatch::Begin(const RankSession& session, Asked& asked) const {
  asked = {session.name(), std::make_shared<Reading>(), false};
  auto read = [reading = asked.reading, read = read_, pid = session.identity().pid] {
    ProcessSetup setup = read(pid);
    const service::MutexLock lock(reading->mutex);
    reading->setup = std::move(setup);
  };
  try {
    std::thread(std::move(read)).detach();
  } catch (const std::system_error&) {
    asked.reading->setup.emplace();  // no thread to be had: told without facts
  }
}

std::vector<FactsWatch::Told> FactsWatch::Look(const std::vector<const RankSession*>& sessions) {
  const auto speakers = Speakers(sessions);
  std::erase_if(asked_, [&](const auto& entry) { return !speakers.contains(entry.first); });
  std::vector<Told> told;
  for (const auto& [job, session] : speakers) {
    if (session->pipeline().iterations_closed() < kIterations) continue;
    Asked& asked = asked_[job];
    if (asked.session != session->name()) Begin(*session, asked);
    if (asked.told) continue;
    const service::MutexLock lock(asked.reading->mutex);
    if (!asked.reading->setup) continue;
    asked.told = true;
    told.push_back({session, FactsOf(*session, *asked.reading->setup)});
  }
  return told;
}

}  // namespace fathom::agent
