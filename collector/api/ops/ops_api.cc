#include "collector/api/ops/ops_api.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "collector/http/json_writer.h"
#include "collector/ops/job_folder.h"

namespace fathom::collector {
namespace {

constexpr std::size_t kJobAt = 3, kCollectorAt = 4, kFileAt = 5;

std::uint64_t BytesOf(const std::string& path) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path, error);
  return error ? 0 : bytes;
}

void WriteFile(std::string_view name, std::uint64_t bytes, JsonWriter& json) {
  json.BeginObject().Field("name", name).Field("bytes", bytes).EndObject();
}

}  // namespace

std::optional<OpsStretch> OpsStretchOf(const Request& request) {
  const auto from = request.Number("from", 0), to = request.Number("to", 0);
  if (!from || !to || *from < 0 || *to < 0) return std::nullopt;
  return OpsStretch{WallNs(*from), WallNs(*to)};
}

bool OpsApi::IsOfOps(const Request& request) {
  const auto& at = request.segments;
  return at.size() > kJobAt && at[0] == "api" && at[1] == "v1" && at[2] == "ops";
}

Response OpsApi::Answer(const Request& request) const {
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (!reads) return Response::Error(405, "only GET is answered here");
  const std::size_t parts = request.segments.size();
  if (parts == kJobAt + 1) return List(request);
  if (parts == kFileAt + 1) return Part(request);
  return Response::Error(404, "ops are asked for as /api/v1/ops/JOB");
}

Response OpsApi::List(const Request& request) const {
  const auto stretch = OpsStretchOf(request);
  if (!stretch) return Response::Error(400, "from and to are wall times in ns");
  const std::string& job = request.segments[kJobAt];
  const std::string store = folder_();
  const std::string folder = absl::StrCat(store, "/", FolderNameOf(job));
  const auto segments = store.empty() ? std::vector<SegmentFile>() : SegmentsIn(folder);
  JsonWriter json;
  json.BeginObject().Field("job", job).Key("parts").BeginArray();
  json.BeginObject().Field("collector", collector_).Field("keeps", !store.empty());
  json.Field("since_unix_ns", segments.empty() ? 0 : segments.front().begin.ns);
  json.Key("files").BeginArray();
  const std::uint64_t who = BytesOf(absl::StrCat(folder, "/", std::string(kWhoFile)));
  if (!segments.empty() && who > 0) WriteFile(kWhoFile, who, json);
  for (const SegmentFile& each : Overlapping(segments, stretch->from, stretch->to)) {
    WriteFile(SegmentName(each.begin), each.bytes, json);
  }
  json.EndArray().EndObject().EndArray().Key("lacks").BeginArray().EndArray();
  return Response::Json(json.EndObject().Take());
}

Response OpsApi::Part(const Request& request) const {
  const std::string& file = request.segments[kFileAt];
  const std::string folder = absl::StrCat(folder_(), "/", FolderNameOf(request.segments[kJobAt]));
  const auto offset = request.Number("offset", 0);
  if (!offset || *offset < 0) return Response::Error(400, "offset is a number of bytes");
  const auto segments = SegmentsIn(folder);
  const bool ours = file == kWhoFile ||
                    std::any_of(segments.begin(), segments.end(), [&](const SegmentFile& each) {
                      return SegmentName(each.begin) == file;
                    });
  std::ifstream in(ours ? absl::StrCat(folder, "/", file) : "", std::ios::binary);
  if (request.segments[kCollectorAt] != collector_ || !ours || !in) {
    return Response::Error(404,
                           absl::StrCat("no file ", file, " of that job here; it may be gone"));
  }
  std::string bytes(kPart, '\0');
  in.seekg(*offset);
  in.read(bytes.data(), kPart);
  bytes.resize(static_cast<std::size_t>(std::max<std::streamsize>(in.gcount(), 0)));
  bytes_read_ += bytes.size();
  return {200, "application/octet-stream", std::move(bytes), ""};
}

}  // namespace fathom::collector
