#include "collector/journal/journal.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string_view>

#include "collector/admission/limits.h"

namespace fathom::collector {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kGather{5};
constexpr milliseconds kTryAgain{1000};

void Raise(std::map<std::string, std::int64_t>& reach, const std::string& job, std::int64_t to) {
  std::int64_t& newest = reach.try_emplace(job, -1).first->second;
  newest = std::max(newest, to);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Journal>> Journal::Open(const JournalSettings& settings,
                                                       const Clock& clock) {
  std::unique_ptr<Journal> journal(new Journal(settings, clock));
  if (absl::Status status = journal->OpenLog(); !status.ok()) return status;
  return journal;
}

absl::Status Journal::OpenLog() {
  auto log = service::SegmentLog::Open(
      settings_.folder, {settings_.segment_bytes, settings_.max_bytes}, [this] { return Heads(); },
      [this](const std::string& problem) { Log(true, problem); });
  if (!log.ok()) return log.status();
  log_ = *std::move(log);
  const service::MutexLock lock(mutex_);
  counters_.damaged = log_->counters().torn + log_->counters().corrupt;
  counters_.bytes = log_->counters().bytes;
  return absl::OkStatus();
}

void Journal::Log(bool error, const std::string& line) const {
  if (settings_.log) settings_.log(error, "journal: " + line);
}

Journal::~Journal() {
  {
    const service::MutexLock lock(mutex_);
    stop_ = true;
    wake_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

void Journal::Read(const Reader& reader) {
  const std::vector<std::uint64_t> segments = log_->Segments();
  std::uint64_t segment = segments.empty() ? 0 : segments.front();
  log_->ReadEarlier([&](std::uint64_t sequence, std::string_view record) {
    const auto after = std::upper_bound(segments.begin(), segments.end(), sequence);
    if (after != segments.begin()) segment = *std::prev(after);
    if (const auto job = ConcludedIn(record)) {
      Forget(*job);
      reader.concluded(*job);
    } else if (const auto told = ToldOf(record)) {
      const std::int64_t newest = reader.told(*told);
      const service::MutexLock lock(mutex_);
      if (const auto place = PlaceOf(told->message)) {
        NoteHead(told->teller, *place, std::string(record));
      } else {
        NoteReach(told->message.summary().job(), newest);
        Attribute(segment);
      }
    }
  });
  thread_ = std::thread([this] { Run(); });
}

void Journal::Forget(const std::string& job) {
  const service::MutexLock lock(mutex_);
  jobs_.erase(job);
}

bool Journal::NoteHead(const Teller& teller, const HeadPlace& place, const std::string& record) {
  JobHeads& job = jobs_[place.job];
  if (teller.anew) {
    job = JobHeads();
    fresh_.erase(place.job);
    for (auto& [segment, reach] : reaches_) reach.erase(place.job);
  }
  std::string& kept = job.ranks[place.rank][place.key];
  if (SameWords(kept, record)) return false;
  kept = AtHead(record);
  return true;
}

void Journal::NoteReach(const std::string& job, std::int64_t newest) {
  JobHeads& heads = jobs_[job];
  heads.newest = std::max(heads.newest, newest);
  Raise(fresh_, job, newest);
}

void Journal::Attribute(std::uint64_t segment) {
  if (fresh_.empty()) return;
  Reach& reach = reaches_[segment];
  for (const auto& [job, newest] : fresh_) Raise(reach, job, newest);
  fresh_.clear();
}

std::uint64_t Journal::Append(const Teller& teller, const v1::AgentMessage& message,
                              std::int64_t newest) {
  std::string record = RecordOf(teller, message, clock_.Wall());
  const std::optional<HeadPlace> place = PlaceOf(message);
  const service::MutexLock lock(mutex_);
  if (!place) {
    NoteReach(message.summary().job(), newest);
    Enqueue(std::move(record));
  } else if (NoteHead(teller, *place, record)) {
    Enqueue(std::move(record));
  }
  return appended_;
}

void Journal::Concluded(const std::string& job) {
  const service::MutexLock lock(mutex_);
  jobs_.erase(job);
  Enqueue(ConclusionOf(job));
}

void Journal::Enqueue(std::string record) {
  ++appended_;
  queued_bytes_ += record.size();
  queue_.push_back(std::move(record));
  if (failing_.empty()) wake_.NotifyOne();
}

// Called by the log within Append.
std::vector<std::string> Journal::Heads() const {
  const service::MutexLock lock(mutex_);
  std::vector<std::string> heads;
  for (const auto& [job, facts] : jobs_) {
    for (const auto& [rank, records] : facts.ranks) {
      for (const auto& [key, record] : records) heads.push_back(record);
    }
  }
  return heads;
}

void Journal::Run() {
  service::MutexLock lock(mutex_);
  while (true) {
    if (failing_.empty())
      wake_.Wait(mutex_, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
        return stop_ || !queue_.empty();
      });
    wake_.WaitFor(mutex_, failing_.empty() ? kGather : kTryAgain,
                  [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stop_; });
    const bool last = stop_;
    std::vector<std::string> batch = std::exchange(queue_, {});
    const std::size_t bytes = std::exchange(queued_bytes_, 0);
    const std::uint64_t until = appended_;
    lock.Unlock();
    Write(batch);
    lock.Lock();
    if (failing_.empty() || (!last && !GiveBack(batch, bytes))) {
      durable_ = std::max(durable_, until);
      CallDurable();
    }
    if (last) return;
  }
}

// Whether the batch is to be tried again: as long as it is not too much.
bool Journal::GiveBack(std::vector<std::string>& batch, std::size_t bytes) {
  if (bytes + queued_bytes_ > kMaxQueuedBytes) {
    counters_.given_up += batch.size();
    return false;
  }
  batch.insert(batch.end(), std::make_move_iterator(queue_.begin()),
               std::make_move_iterator(queue_.end()));
  queue_ = std::move(batch);
  queued_bytes_ += bytes;
  return true;
}

void Journal::CallDurable() {
  std::vector<std::function<void()>> done;
  const auto end = waiting_.upper_bound(durable_);
  for (auto at = waiting_.begin(); at != end; ++at) done.push_back(std::move(at->second));
  waiting_.erase(waiting_.begin(), end);
  mutex_.Unlock();
  for (const auto& each : done) each();
  mutex_.Lock();
}

void Journal::Write(const std::vector<std::string>& batch) {
  const std::vector<std::string_view> records(batch.begin(), batch.end());
  absl::Status status = log_->Append(records, clock_.Wall());
  if (status.ok()) status = log_->Sync();
  if (status.ok()) LetGo();
  const service::MutexLock lock(mutex_);
  counters_.bytes = log_->counters().bytes;
  counters_.write_errors = log_->counters().write_errors;
  counters_.records += status.ok() ? batch.size() : 0;
  const std::string why = status.ok() ? "" : std::string(status.message());
  if (failing_.empty() && !why.empty()) {
    Log(true, why + "; nothing is acknowledged to agents until it is written");
  } else if (!failing_.empty() && why.empty()) {
    Log(false, "it is written again");
  }
  failing_ = why;
}

// Segments that nothing needs go. Of those that the log took, for age or size, what was needed is
// counted.
void Journal::LetGo() {
  log_->RemoveOlderThan(clock_.Wall() - settings_.max_age);
  const std::vector<std::uint64_t> segments = log_->Segments();
  if (segments.empty()) return;
  std::uint64_t keep_from = segments.front();
  {
    const service::MutexLock lock(mutex_);
    Attribute(segments.back());
    for (auto at = reaches_.begin(); at != reaches_.end() && at->first < segments.front();
         at = reaches_.erase(at)) {
      counters_.pushed_out += Needed(at->second) ? 1 : 0;
    }
    keep_from = *std::find_if(segments.begin(), segments.end() - 1,
                              [this](std::uint64_t segment) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
                                const auto reach = reaches_.find(segment);
                                return reach != reaches_.end() && Needed(reach->second);
                              });
    std::erase_if(reaches_, [keep_from](const auto& each) { return each.first < keep_from; });
  }
  log_->RemoveBefore(keep_from);
}

bool Journal::Needed(const Reach& reach) const {
  return std::any_of(
      reach.begin(), reach.end(), [this](const auto& each) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
        const auto job = jobs_.find(each.first);
        if (job == jobs_.end()) return false;
        return each.second + static_cast<std::int64_t>(kStripIterations) >= job->second.newest;
      });
}

bool Journal::WhenDurable(std::uint64_t record, std::function<void()> done) {
  const service::MutexLock lock(mutex_);
  if (record <= durable_) return false;
  waiting_.emplace(record, std::move(done));
  return true;
}

std::string Journal::failing() const {
  const service::MutexLock lock(mutex_);
  return failing_;
}

JournalCounters Journal::counters() const {
  const service::MutexLock lock(mutex_);
  return counters_;
}

}  // namespace fathom::collector
