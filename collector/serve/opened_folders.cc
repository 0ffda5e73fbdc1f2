#include "collector/serve/opened_folders.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <cstdint>
#include <utility>

#include "collector/ingest/journal_replay.h"

namespace fathom::collector {

Opened<Journal> OpenJournalOf(const FinalizedCollectorConfig& config, JobTable& jobs,
                              const Clock& clock, const LogTo& log) {
  if (config.journal_folder().empty()) return {};
  auto opened = Journal::Open({.folder = config.journal_folder(),
                               .max_bytes = static_cast<std::uint64_t>(config->journal_mib) << 20,
                               .max_age = Nanos::FromSeconds(config->journal_days * 24 * 3600),
                               .log = log},
                              clock);
  if (!opened.ok()) {
    return {nullptr, absl::StrCat("journal: ", std::string(opened.status().message()),
                                  "; what agents tell is acknowledged from memory")};
  }
  const MonoNs begin = clock.Mono();
  const Replayed replayed = ReplayJournal(**opened, jobs);
  if (replayed.messages > 0) {
    log(false, absl::StrFormat("journal: %d messages of an earlier collector read in %.1f s, %d "
                               "jobs run; %d were not taken",
                               replayed.messages, (clock.Mono() - begin).Seconds(),
                               jobs.All().size(), replayed.refused));
  }
  return {*std::move(opened), ""};
}

// Live verdicts need none of it.
Opened<OpStore> OpenOpStoreOf(const FinalizedCollectorConfig& config, const Clock& clock,
                              const LogTo& log) {
  if (config.kept_jobs().names().empty()) return {};
  constexpr double kGib = 1u << 30;
  auto opened =
      OpStore::Open({.folder = config.ops_folder(),
                     .jobs = config.kept_jobs(),
                     .bounds = {.max_bytes = static_cast<std::uint64_t>(config->ops_gib * kGib),
                                .max_age = Nanos::FromSeconds(config->ops_days * 24 * 3600)},
                     .log = log},
                    clock);
  if (!opened.ok()) {
    std::string why = absl::StrCat("store of ops: ", std::string(opened.status().message()));
    log(true, why);
    return {nullptr, std::move(why)};
  }
  log(false, absl::StrCat("every op is kept in ", config.ops_folder()));
  return {*std::move(opened), ""};
}

}  // namespace fathom::collector
