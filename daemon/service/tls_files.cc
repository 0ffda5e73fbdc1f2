#include "daemon/service/tls_files.h"

#include <absl/strings/str_cat.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <memory>

namespace fathom::service {
namespace {

using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using File = std::unique_ptr<std::FILE, decltype(&std::fclose)>;

absl::Status Bad(const std::string& setting, const std::string& file, const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat(setting, ": ", file, ": ", why));
}

absl::Status Open(const std::string& setting, const std::string& path, File& file) {
  file.reset(std::fopen(path.c_str(), "re"));
  return file ? absl::OkStatus() : Bad(setting, path, std::strerror(errno));
}

std::int64_t Seconds(const ASN1_TIME* time) {
  tm parts{};
  return ASN1_TIME_to_tm(time, &parts) == 1 ? std::int64_t{timegm(&parts)} : 0;
}

std::string Day(const ASN1_TIME* time) {
  const time_t seconds = Seconds(time);
  char text[32] = "";
  tm parts{};
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&seconds, &parts));
  return text;
}

absl::Status CheckTime(const std::string& setting, const std::string& path, const X509& certificate,
                       WallNs now) {
  const std::int64_t now_s = now.ns / 1'000'000'000;
  const ASN1_TIME* begin = X509_get0_notBefore(&certificate);
  const ASN1_TIME* end = X509_get0_notAfter(&certificate);
  if (now_s < Seconds(begin)) return Bad(setting, path, "is not valid before " + Day(begin));
  return now_s < Seconds(end) ? absl::OkStatus() : Bad(setting, path, "expired at " + Day(end));
}

absl::Status CheckKey(const TlsFiles& files, const TlsNames& names, X509& certificate) {
  File file(nullptr, &std::fclose);
  if (auto status = Open(names.key, files.key_file, file); !status.ok()) return status;
  char none[] = "";  // asks nobody for a pass phrase
  const Key key(PEM_read_PrivateKey(file.get(), nullptr, nullptr, none), &EVP_PKEY_free);
  if (!key) return Bad(names.key, files.key_file, "holds no private key (PEM, not encrypted)");
  if (X509_check_private_key(&certificate, key.get()) == 1) return absl::OkStatus();
  return Bad(names.key, files.key_file, "does not belong to " + files.cert_file);
}

absl::Status CheckCertificate(const std::string& setting, const std::string& path, WallNs now,
                              Certificate& out) {
  File file(nullptr, &std::fclose);
  if (auto status = Open(setting, path, file); !status.ok()) return status;
  out.reset(PEM_read_X509(file.get(), nullptr, nullptr, nullptr));
  if (!out) return Bad(setting, path, "holds no certificate (PEM)");
  return CheckTime(setting, path, *out, now);
}

}  // namespace

absl::Status CheckTlsFiles(const TlsFiles& files, const TlsNames& names, WallNs now) {
  Certificate certificate(nullptr, &X509_free);
  if (files.cert_file.empty() != files.key_file.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(names.cert, " and ", names.key, ": one is of no use without the other"));
  }
  if (!files.cert_file.empty()) {
    if (auto s = CheckCertificate(names.cert, files.cert_file, now, certificate); !s.ok()) return s;
    if (auto s = CheckKey(files, names, *certificate); !s.ok()) return s;
  }
  if (files.peer_ca_file.empty()) return absl::OkStatus();
  return CheckCertificate(names.peer_ca, files.peer_ca_file, now, certificate);
}

}  // namespace fathom::service
