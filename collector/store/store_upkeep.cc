// The part of Store that keeps it in its file: how the file is opened, tried again, and watched.
#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "collector/checkpoint/job_checkpoints.h"
#include "collector/store/store.h"
#include "fathom/v1/report.pb.h"

namespace fathom::collector {
namespace {

constexpr char kInMemory[] = ":memory:";
constexpr int kMaxFailures = 64;  // in one go: a full disk fails them all
constexpr std::int64_t kAll = -1;

absl::StatusOr<std::unique_ptr<Database>> OpenSound(const std::string& file) {
  auto database = Database::Open(file);
  if (!database.ok()) return database;
  if (auto status = (*database)->Migrate(); !status.ok()) return status;
  return database;
}

void MakeFolder(const std::string& file) {
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  std::error_code ignored;  // opening it will say what is wrong
  if (!folder.empty()) std::filesystem::create_directories(folder, ignored);
}

// SQLite gives what it makes beside the file the file's own mode.
void KeepFromOthers(const std::string& file) {
  const int fd = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return;  // opening it will say what is wrong
  struct stat now {};
  if (fstat(fd, &now) == 0 && (now.st_mode & 07) != 0) fchmod(fd, now.st_mode & 0770);
  close(fd);
}

// Zeros where there is none.
std::pair<std::uint64_t, std::uint64_t> PlaceOf(const std::string& file) {
  struct stat now {};
  if (stat(file.c_str(), &now) != 0) return {};
  return {now.st_dev, now.st_ino};
}

}  // namespace

std::unique_ptr<Store> Store::Open(const std::string& file) {
  std::unique_ptr<Store> store(new Store(file));
  const service::MutexLock lock(store->mutex_);
  if (store->OpenFile().ok()) return store;
  auto memory = OpenSound(kInMemory);
  if (memory.ok()) store->database_ = *std::move(memory);
  return store;
}

absl::Status Store::OpenFile() {
  std::unique_ptr<FileLock> held;
  absl::Status status;
  const bool of_file = file_ != kInMemory && !Database::IsShared(file_);
  if (of_file) {
    MakeFolder(file_);
    auto lock = FileLock::Take(file_);
    status = lock.status();
    if (lock.ok()) held = *std::move(lock);
    if (held) KeepFromOthers(file_);
  }
  auto opened =
      status.ok() ? OpenSound(file_) : absl::StatusOr<std::unique_ptr<Database>>(std::move(status));
  if (!opened.ok()) {
    opened_ = absl::StrCat("cannot use the store ", opened.status().message(),
                           "; history is kept in memory only, and it is tried again");
    return opened.status();
  }
  // What is in memory is to be written to the file.
  if (database_) TakeFromMemory();
  const std::vector<KeptNotice> notices = ReadNotices();
  const std::vector<ToldRecovery> recoveries = ReadRecoveries("", 0, kMaxRecoveries);
  database_ = *std::move(opened);
  for (const KeptNotice& notice : notices) Write(notice).IgnoreError();
  for (const ToldRecovery& recovery : recoveries) Write(recovery).IgnoreError();
  lock_ = std::move(held);
  if (of_file) place_ = PlaceOf(file_);
  opened_.clear();
  moved_.clear();
  FillNodes();
  FillTimes();
  return absl::OkStatus();
}

void Store::TakeFromMemory() {
  Statement verdicts = database_->Prepare(
      "SELECT message, opened_ns, updated_ns, closed_ns, superseded, seen_ns, authenticated "
      "FROM verdicts");
  while (verdicts.Step()) errors_ += unwritten_.Put(EpisodeOf(verdicts));
  Statement jobs = database_->Prepare(
      "SELECT name, ranks, world_size, nodes, started_ns, last_seen_ns, iterations, report "
      "FROM jobs");
  while (jobs.Step()) errors_ += unwritten_.Put(JobOf(jobs));
}

absl::Status Store::Note(absl::Status status) {
  if (absl::IsAborted(status)) return status;  // refused, and that is well
  errors_ += !status.ok();
  if (!status.ok()) failing_ = absl::StrCat("cannot write the store ", status.message());
  if (status.ok() && unwritten_.empty()) failing_.clear();
  return status;
}

void Store::NoteRead(const Statement& rows) {
  const absl::Status& status = rows.status();
  unread_ = status.ok() ? "" : absl::StrCat("cannot read the store ", status.message());
}

void Store::Flush() {
  int failures = 0;
  const auto settle = [&](auto& waiting) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    for (auto at = waiting.begin(); at != waiting.end() && failures < kMaxFailures;) {
      const absl::Status status = Write(at->second);
      if (!status.ok()) failing_ = absl::StrCat("cannot write the store ", status.message());
      failures += !status.ok();
      const bool over = status.ok() || absl::IsAborted(status);  // another writes it now
      at = over ? waiting.erase(at) : std::next(at);
    }
  };
  settle(unwritten_.verdicts);
  settle(unwritten_.jobs);
  errors_ += static_cast<std::uint64_t>(failures);
  if (unwritten_.empty() && failures == 0) failing_.clear();
}

std::vector<Episode> Store::Upkeep() {
  std::vector<Episode> adopt;
  const service::MutexLock lock(mutex_);
  if (!opened_.empty() && file_ != kInMemory && OpenFile().ok()) {
    Statement rows = database_->Prepare(
        "SELECT message, opened_ns, updated_ns, closed_ns, superseded, seen_ns, authenticated "
        "FROM verdicts WHERE active = 1");
    while (rows.Step()) {
      Episode episode = EpisodeOf(rows);
      if (!unwritten_.verdicts.contains(episode.id)) adopt.push_back(std::move(episode));
    }
  }
  if (lock_ != nullptr) CheckPlace();
  // What was not written says so by itself; a server that nothing is written to does not.
  if (opened_.empty() && Database::IsShared(file_)) Note(database_->Check()).IgnoreError();
  if (!unwritten_.empty()) Flush();
  return adopt;
}

void Store::CheckPlace() {
  const auto place = PlaceOf(file_);
  if (place == place_) {
    moved_.clear();
    return;
  }
  if (place != std::pair<std::uint64_t, std::uint64_t>()) {
    moved_ = absl::StrCat("the store ", file_,
                          ": another file took its place, in which nothing is written; restart the "
                          "collector to use it");
    return;
  }
  const absl::Status status = WriteAnew();
  moved_ = status.ok() ? ""
                       : absl::StrCat("the store ", file_, " was deleted and cannot be written ",
                                      "anew: ", status.message());
  errors_ += 1;
}

absl::Status Store::WriteAnew() {
  const std::string anew = file_ + ".new";
  unlink(anew.c_str());
  MakeFolder(file_);
  KeepFromOthers(anew);
  Statement copy = database_->Prepare("VACUUM INTO ?");
  if (auto status = copy.Bind(1, anew).Run(); !status.ok()) return status;
  // What lies beside a file that is gone must not be taken for part of the new one.
  unlink((file_ + "-wal").c_str());
  unlink((file_ + "-shm").c_str());
  if (rename(anew.c_str(), file_.c_str()) != 0) {
    return absl::UnavailableError(absl::StrCat(anew, ": ", std::strerror(errno)));
  }
  database_.reset();  // before the new one is opened: it tidies up by name
  lock_.reset();
  return OpenFile();
}

// Rows of a file that an earlier fathom wrote.
void Store::FillNodes() {
  std::vector<std::pair<std::string, std::string>> nodes;
  Statement rows = database_->Prepare("SELECT id, message FROM verdicts WHERE node IS NULL");
  while (rows.Step()) {
    v1::Verdict message;
    message.ParseFromString(rows.Text(1));
    nodes.emplace_back(rows.Text(0), message.entity().node());
  }
  if (nodes.empty()) return;
  Note(database_->Transact([&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    absl::Status status;
    for (const auto& [id, node] : nodes) {
      Statement put = database_->Prepare("UPDATE verdicts SET node = ? WHERE id = ?");
      status = put.Bind(1, node).Bind(2, id).Run();
      if (!status.ok()) break;
    }
    return status;
  })).IgnoreError();
}

absl::Status Store::Keep(const KeptNotice& notice) {
  const service::MutexLock lock(mutex_);
  Remember(notice);
  return Note(Write(notice));
}

absl::Status Store::Write(const KeptNotice& notice) {
  if (!database_) return absl::UnavailableError("no memory");
  Statement put = database_->Prepare(
      "INSERT INTO notices(receiver, key, waits, message) VALUES(?, ?, ?, ?) "
      "ON CONFLICT(receiver, key) DO UPDATE SET waits = excluded.waits, "
      "message = excluded.message");
  put.Bind(1, notice.receiver).Bind(2, notice.key).Bind(3, std::int64_t{notice.waits});
  return put.BindBlob(4, notice.message).Run();
}

absl::Status Store::ForgetNotice(const std::string& receiver, const std::string& key) {
  const service::MutexLock lock(mutex_);
  if (checkpoints_ != nullptr) checkpoints_->DropTold(receiver, key);
  if (!database_) return Note(absl::UnavailableError("no memory"));
  Statement drop = database_->Prepare("DELETE FROM notices WHERE receiver = ? AND key = ?");
  return Note(drop.Bind(1, receiver).Bind(2, key).Run());
}

std::vector<KeptNotice> Store::KeptNotices() {
  const service::MutexLock lock(mutex_);
  return WithRemembered(ReadNotices());
}

std::vector<KeptNotice> Store::ReadNotices() {
  std::vector<KeptNotice> kept;
  if (!database_) return kept;
  Statement rows = database_->Prepare("SELECT receiver, key, waits, message FROM notices");
  while (rows.Step()) {
    kept.push_back({rows.Text(0), rows.Text(1), rows.Integer(2) != 0, rows.Text(3)});
  }
  return kept;
}

}  // namespace fathom::collector
