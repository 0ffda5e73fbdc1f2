#include "collector/cli/http/cordon_client.h"

#include "collector/cli/text/text.h"

namespace fathom::cli {

absl::StatusOr<Json> CordonClient::Read(absl::StatusOr<HttpReply> reply) const {
  const std::string where = client_.server().ToString();
  if (!reply.ok()) {
    return absl::UnavailableError(Cat("no fathom-cordon answers at ", where, " (",
                                      reply.status().message(),
                                      "); start it, or name another with --cordon-http HOST:PORT"));
  }
  Json body = Json::parse(reply->body, nullptr, /*allow_exceptions=*/false);
  if (!body.is_object()) {
    return absl::InternalError(Cat("what answers at ", where, " is not fathom-cordon"));
  }
  if (reply->status == 200) return body;
  return absl::FailedPreconditionError(TextField(body, "error"));
}

absl::StatusOr<Json> CordonClient::Fetch(std::string_view path, const char* must_have) const {
  absl::StatusOr<Json> body = Read(client_.Get(path));
  if (!body.ok() || body->contains(must_have)) return body;
  return absl::InternalError(
      Cat("what answers at ", client_.server().ToString(), " is not fathom-cordon"));
}

absl::Status CordonClient::Command(std::string_view path, const std::string& reason) const {
  const std::string body =
      Json{{"reason", reason}}.dump(-1, ' ', false, Json::error_handler_t::replace);
  return Read(client_.Post(Cat("/api/v1/", path), body)).status();
}

}  // namespace fathom::cli
