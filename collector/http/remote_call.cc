#include "collector/http/remote_call.h"

#include <absl/strings/str_cat.h>

#include <fstream>

#include "collector/http/json_writer.h"

namespace fathom::collector {

absl::Status StatusOfHttp(int status, const std::string& text) {
  if (status >= 200 && status < 300) return absl::OkStatus();
  const std::string said = absl::StrCat("HTTP status ", status, ": ", CutText(text, 200));
  switch (status) {
    case 400:
    case 422:
      return absl::FailedPreconditionError(said);
    case 401:
      return absl::UnauthenticatedError(said);
    case 403:
      return absl::PermissionDeniedError(said);
    case 404:
      return absl::NotFoundError(said);
    case 409:
      return absl::AbortedError(said);
    case 410:
      return absl::OutOfRangeError(said);
    case 429:
      return absl::ResourceExhaustedError(said);
    default:
      return absl::UnavailableError(said);
  }
}

absl::Status AddBearer(const std::string& token_file, std::vector<std::string>& headers) {
  if (token_file.empty()) return absl::OkStatus();
  std::ifstream file(token_file);
  std::string token;
  if (!std::getline(file, token) || token.empty()) {
    return absl::FailedPreconditionError(token_file + ": the token cannot be read");
  }
  headers.push_back("Authorization: Bearer " + token);
  return absl::OkStatus();
}

}  // namespace fathom::collector
