// The dumps of one job, put together: names of groups, their members, and how far each rank got.
//
// Used by flight_recorder_importer.cc. Model: one Dump a rank. What a single dump leaves open is
// answered from the others where that is safe:
//   - the name of a pg_id comes from the rank's own entries, else from the order of creation, in
//     which PyTorch numbers both (only if all names are numbers and the counts agree);
//   - members come from pg_config, else from the ranks that have entries of that name (guessed); a
//     guessed group that is smaller than others of its description gets the ranks without a dump,
//     if exactly so many are missing;
//   - progress comes from the entries, else from pg_status, but never from pg_status where the
//   group
//     also carries point-to-point ops: it counts those too, or instead.
// Thread-safety: plain values. Errors: none; what is doubtful is in notes.
#ifndef FATHOM_COLLECTOR_IMPORT_FLIGHT_RECORDER_DUMP_SET_H_
#define FATHOM_COLLECTOR_IMPORT_FLIGHT_RECORDER_DUMP_SET_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "collector/import/flight_recorder/dump.h"
#include "proto/types/ids.h"

namespace fathom::collector::flight_recorder {

struct JobGroup {
  std::string description;
  std::vector<RankId> members;  // sorted unless a dump gave them in its order
  bool guessed = false;
  bool point_to_point = false;  // sends and receives were seen, or must have been
};

struct Progress {
  std::uint64_t entered = 0;  // collectives
  std::uint64_t completed = 0;
};

class DumpSet {
 public:
  explicit DumpSet(std::map<RankId, Dump> dumps);

  const std::map<RankId, Dump>& dumps() const { return dumps_; }
  const std::map<std::string, JobGroup>& groups() const { return groups_; }
  std::uint32_t world_size() const { return world_size_; }
  std::vector<RankId> missing() const;
  const std::vector<std::string>& notes() const { return notes_; }

  // Sends and receives were counted that no entry lists, as with Gloo.
  bool hides_point_to_point() const;

  // Dumps name different members of a group.
  bool contradicts() const { return contradicts_; }

  // Name of the group of an entry; empty if it cannot be told.
  std::string NameOf(RankId rank, const DumpEntry& entry) const;

  // Progress of `rank` in each group that its dump says something about.
  std::map<std::string, Progress> ProgressOf(RankId rank) const;

 private:
  void NameGroups(RankId rank, const Dump& dump);
  void AddEntries(RankId rank, const Dump& dump);
  void AddConfig(RankId rank, const Dump& dump);
  void SizeWorld();
  void CompleteGuessed();

  std::map<RankId, Dump> dumps_;
  std::map<std::string, JobGroup> groups_;
  std::map<RankId, std::map<std::int64_t, std::string>> names_;  // pg_id → name
  std::uint32_t world_size_ = 0;
  bool contradicts_ = false;
  std::vector<std::string> notes_;
};

}  // namespace fathom::collector::flight_recorder

#endif  // FATHOM_COLLECTOR_IMPORT_FLIGHT_RECORDER_DUMP_SET_H_
