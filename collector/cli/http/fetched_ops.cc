#include "collector/cli/http/fetched_ops.h"

#include <stdlib.h>

#include <algorithm>
#include <fstream>
#include <system_error>

#include "absl/time/time.h"
#include "collector/cli/http/collector_api.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

std::string TimeOf(std::int64_t unix_ns) {
  return absl::FormatTime("%Y-%m-%d %H:%M:%S", absl::FromUnixNanos(unix_ns), absl::LocalTimeZone());
}

absl::StatusOr<std::filesystem::path> NewFolder() {
  std::error_code error;
  const auto parent = std::filesystem::temp_directory_path(error);
  std::string name = (parent / "fathom-ops-XXXXXX").string();
  if (error || mkdtemp(name.data()) == nullptr) {
    return absl::UnavailableError(
        Cat("no folder for fetched ops in ", parent.string(), "; name another with TMPDIR"));
  }
  return std::filesystem::path(name);
}

// A name from outside that becomes one of a file.
bool IsPlainName(const std::string& name) {
  return !name.empty() && name.front() != '.' && name.find('/') == std::string::npos;
}

}  // namespace

absl::StatusOr<std::string> FetchedOps::Ask(const std::string& path) const {
  const auto reply = client_.Get(Cat("/api/v1/ops/", PercentEncode(job_), path));
  if (!reply.ok()) return absl::UnavailableError(UnreachableText(client_.server(), reply.status()));
  if (reply->status == 200) return reply->body;
  const std::string why = TextField(Json::parse(reply->body, nullptr, false), "error");
  return absl::FailedPreconditionError(
      why.empty() ? Cat("no answer of a fathom-collector, but HTTP status ", reply->status) : why);
}

absl::StatusOr<std::unique_ptr<FetchedOps>> FetchedOps::Of(const HttpClient& client,
                                                           const std::string& job, WallNs from,
                                                           WallNs to) {
  auto folder = NewFolder();
  if (!folder.ok()) return folder.status();
  std::unique_ptr<FetchedOps> fetched(new FetchedOps(client, job, *std::move(folder)));
  const auto told = fetched->Ask(Cat("?from=", from.ns, "&to=", to.ns));
  if (!told.ok()) return told.status();
  const Json list = Json::parse(*told, nullptr, false);
  for (const Json& lack : ListField(list, "lacks")) fetched->Note(lack);
  for (const Json& part : ListField(list, "parts")) {
    if (absl::Status status = fetched->Fetch(part); !status.ok()) return status;
  }
  if (fetched->paths_.empty()) {
    std::string why = Cat("no ops of job ", job, " of that time are kept at ",
                          client.server().ToString(), "; do its collectors run with --stream ops?");
    for (const std::string& note : fetched->notes_) why += Cat("\n  ", note);
    return absl::NotFoundError(why);
  }
  return fetched;
}

FetchedOps::~FetchedOps() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void FetchedOps::Note(const Json& lack) {
  const std::string collector = TextField(lack, "collector"), why = TextField(lack, "why");
  if (collector.empty()) {
    notes_.push_back(why);
    return;
  }
  notes_.push_back(Cat("what collector ", collector, " keeps is missing here, ", why, ": ranks ",
                       TextField(lack, "ranks"), " from ", TimeOf(IntField(lack, "from_unix_ns")),
                       " to ", TimeOf(IntField(lack, "to_unix_ns"))));
}

absl::Status FetchedOps::Fetch(const Json& part) {
  const std::string collector = TextField(part, "collector");
  if (!BoolField(part, "keeps")) {
    notes_.push_back(Cat("collector ", collector,
                         " keeps no ops: what agents told there is missing (--stream ops)"));
    return absl::OkStatus();
  }
  if (!IsPlainName(collector)) return absl::OkStatus();
  const std::filesystem::path folder = folder_ / collector;
  std::error_code ignored;
  std::filesystem::create_directory(folder, ignored);
  for (const Json& file : ListField(part, "files")) {
    const std::string name = TextField(file, "name");
    if (!IsPlainName(name)) continue;
    const absl::Status fetched = FetchFile(collector, file, folder / name);
    if (absl::IsUnavailable(fetched)) return fetched;
    if (!fetched.ok())
      notes_.push_back(Cat(collector, "/", name, " is missing: ", Message(fetched)));
  }
  return absl::OkStatus();
}

absl::Status FetchedOps::FetchFile(const std::string& collector, const Json& file,
                                   const std::filesystem::path& into) {
  const auto bytes = static_cast<std::uint64_t>(IntField(file, "bytes"));
  std::ofstream out(into, std::ios::binary);
  for (std::uint64_t at = 0; at < bytes;) {
    const auto part = Ask(Cat("/", PercentEncode(collector), "/",
                              PercentEncode(TextField(file, "name")), "?offset=", at));
    if (!part.ok()) return part.status();
    if (part->empty()) break;
    // What was written since the list was made belongs to the next reading.
    const std::uint64_t wanted = std::min<std::uint64_t>(part->size(), bytes - at);
    out.write(part->data(), static_cast<std::streamsize>(wanted));
    at += wanted;
  }
  out.close();
  if (!out) return absl::UnavailableError(Cat("cannot write ", into.string()));
  paths_.push_back(into.string());
  return absl::OkStatus();
}

}  // namespace fathom::cli
