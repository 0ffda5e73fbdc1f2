#include "collector/net/curl_transport.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>
#include <curl/curl.h>

#include "collector/net/masked_url.h"

namespace fathom::collector {
namespace {

constexpr std::size_t kMaxBody = 64 << 20;

std::size_t Take(char* data, std::size_t size, std::size_t count, void* body) {
  auto* text = static_cast<std::string*>(body);
  if (text->size() + size * count > kMaxBody) return 0;
  text->append(data, size * count);
  return size * count;
}

struct HeaderList {
  curl_slist* list = nullptr;
  explicit HeaderList(const std::vector<std::string>& headers) {
    for (const std::string& header : headers) list = curl_slist_append(list, header.c_str());
    // Otherwise curl waits a second for "100 Continue" before it sends a large body.
    list = curl_slist_append(list, "Expect:");
  }
  ~HeaderList() { curl_slist_free_all(list); }
  HeaderList(const HeaderList&) = delete;
  HeaderList& operator=(const HeaderList&) = delete;
};

void SetTls(CURL* curl, const TlsOptions& tls) {
  curl_easy_setopt(curl, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  if (!tls.ca_file.empty()) curl_easy_setopt(curl, CURLOPT_CAINFO, tls.ca_file.c_str());
  if (tls.cert_file.empty()) return;
  curl_easy_setopt(curl, CURLOPT_SSLCERT, tls.cert_file.c_str());
  curl_easy_setopt(curl, CURLOPT_SSLKEY, tls.key_file.c_str());
}

void SetRequest(CURL* curl, const HttpCall& call, const HeaderList& headers) {
  curl_easy_setopt(curl, CURLOPT_URL, call.url.c_str());
  curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, call.method.c_str());
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.list);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(call.timeout_s * 1e3));
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_PROXY, "");
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "fathom/" FATHOM_VERSION);
  if (call.body.empty() && call.method == "GET") return;
  curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(call.body.size()));
  curl_easy_setopt(curl, CURLOPT_POSTFIELDS, call.body.data());
}

}  // namespace

std::string PercentEncoded(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    if (plain) {
      out.push_back(c);
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out.append({'%', "0123456789ABCDEF"[byte >> 4], "0123456789ABCDEF"[byte & 15]});
  }
  return out;
}

struct CurlTransport::Handle {
  CURL* curl = curl_easy_init();
  ~Handle() { curl_easy_cleanup(curl); }
};

CurlTransport::CurlTransport(TlsOptions tls)
    : tls_(std::move(tls)), handle_(std::make_unique<Handle>()) {}
CurlTransport::~CurlTransport() = default;

absl::StatusOr<HttpAnswer> CurlTransport::Send(const HttpCall& call) {
  const service::MutexLock lock(mutex_);
  CURL* curl = handle_->curl;
  if (curl == nullptr) return absl::ResourceExhaustedError("libcurl cannot be set up");
  curl_easy_reset(curl);
  const HeaderList headers(call.headers);
  HttpAnswer answer;
  char why[CURL_ERROR_SIZE] = "";
  SetRequest(curl, call, headers);
  SetTls(curl, tls_);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, why);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &Take);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &answer.body);
  const CURLcode code = curl_easy_perform(curl);
  if (code != CURLE_OK) {
    // What has no scheme is not taken apart.
    const bool whole = call.url.find("://") != call.url.npos;
    const std::string said = *why != '\0' ? why : curl_easy_strerror(code);
    return absl::UnavailableError(absl::StrCat(whole ? MaskedUrl(call.url) : "***", ": ",
                                               absl::StrReplaceAll(said, {{call.url, "***"}})));
  }
  long status = 0;
  curl_off_t retry_after = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &retry_after);
  answer.status = static_cast<int>(status);
  answer.retry_after_s = static_cast<double>(retry_after);
  return answer;
}

}  // namespace fathom::collector
