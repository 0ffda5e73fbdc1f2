#include "collector/store/learnt_record.h"

#include "fathom/v1/learnt.pb.h"

namespace fathom::collector {
namespace {

std::uint64_t Unsigned(WallNs time) { return static_cast<std::uint64_t>(time.ns); }
WallNs Time(std::uint64_t ns) { return WallNs(static_cast<std::int64_t>(ns)); }

constexpr std::uint64_t kMostIterations = std::uint64_t{1} << 48;

bool EqualLengths(const v1::Learnt& record) {
  const int count = record.indexes_size();
  return record.begins_ns_size() == count && record.durations_ns_size() == count &&
         record.regular_size() == count;
}

// Columns as their first value and by how much they rise: both rise together.
void Put(const KnownAnchors& known, v1::Learnt::Numbering& out) {
  out.set_group(known.group);
  std::uint64_t sequence = 0, iteration = 0;
  for (const auto& [next_sequence, next] : known.anchors) {
    const auto next_iteration = static_cast<std::uint64_t>(next);
    out.add_sequences(next_sequence - sequence);
    out.add_iterations(next_iteration - iteration);
    sequence = next_sequence;
    iteration = next_iteration;
  }
}

// Nothing: the columns differ in length, or a number is out of all bounds.
std::optional<KnownAnchors> Get(const v1::Learnt::Numbering& in) {
  if (in.sequences_size() != in.iterations_size()) return std::nullopt;
  KnownAnchors known{in.group(), {}};
  std::uint64_t sequence = 0, iteration = 0;
  for (int i = 0; i < in.sequences_size(); ++i) {
    sequence += in.sequences(i);
    iteration += in.iterations(i);
    if (iteration > kMostIterations) return std::nullopt;
    known.anchors.emplace_back(sequence, static_cast<std::int64_t>(iteration));
  }
  return known;
}

}  // namespace

std::string ToRecord(const Learnt& learnt) {
  v1::Learnt record;
  record.set_kept_ns(Unsigned(learnt.kept));
  for (const std::uint64_t mark : learnt.life) record.add_life(mark);
  record.set_onset(learnt.episode.onset.value);
  record.set_onset_ns(Unsigned(learnt.episode.onset_time));
  record.set_expected_ns(learnt.episode.expected.count);
  record.set_noise_ns(learnt.episode.noise.count);
  for (const RankId rank : learnt.episode.asked) record.add_asked(rank.value);
  for (const diagnosis::PastIteration& it : learnt.past) {
    record.add_indexes(it.index.value);
    record.add_begins_ns(Unsigned(it.begin));
    record.add_durations_ns(it.duration.count);
    record.add_regular(it.regular);
  }
  for (const KnownAnchors& known : learnt.numbering) Put(known, *record.add_numbering());
  return record.SerializeAsString();
}

std::optional<Learnt> FromRecord(std::string_view bytes) {
  v1::Learnt record;
  if (!record.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return std::nullopt;
  if (!EqualLengths(record)) return std::nullopt;
  Learnt learnt;
  learnt.kept = Time(record.kept_ns());
  learnt.life.assign(record.life().begin(), record.life().end());
  learnt.episode.onset = Iteration(record.onset());
  learnt.episode.onset_time = Time(record.onset_ns());
  learnt.episode.expected = Nanos(record.expected_ns());
  learnt.episode.noise = Nanos(record.noise_ns());
  for (const std::uint32_t rank : record.asked()) learnt.episode.asked.emplace_back(rank);
  for (int i = 0; i < record.indexes_size(); ++i) {
    learnt.past.push_back({Iteration(record.indexes(i)), Time(record.begins_ns(i)),
                           Nanos(record.durations_ns(i)), record.regular(i)});
  }
  for (const v1::Learnt::Numbering& each : record.numbering()) {
    auto known = Get(each);
    if (!known) return std::nullopt;
    learnt.numbering.push_back(*std::move(known));
  }
  return learnt;
}

}  // namespace fathom::collector
