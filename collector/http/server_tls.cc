#include "collector/http/server_tls.h"

#include <absl/strings/str_cat.h>
#include <dlfcn.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <mutex>
#include <utility>

#include "collector/clock.h"

namespace fathom::collector {
namespace {

using Context = std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)>;

std::string LastError() {
  char text[256] = "";
  ERR_error_string_n(ERR_get_error(), text, sizeof text);
  ERR_clear_error();
  return text;
}

std::int64_t ChangedAt(const std::string& file) {
  struct stat facts {};
  if (stat(file.c_str(), &facts) != 0) return 0;
  return std::int64_t{facts.st_mtim.tv_sec} * 1'000'000'000 + facts.st_mtim.tv_nsec;
}

absl::Status Load(const service::TlsFiles& files, SSL_CTX* context) {
  if (auto status = CheckTlsFiles(files, service::TlsNames(), SystemClock().Wall()); !status.ok())
    return status;
  if (SSL_CTX_use_certificate_chain_file(context, files.cert_file.c_str()) == 1 &&
      SSL_CTX_use_PrivateKey_file(context, files.key_file.c_str(), SSL_FILETYPE_PEM) == 1) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("tls_cert: ", files.cert_file, ": ", LastError()));
}

Context NewContext() {
  Context context(SSL_CTX_new(TLS_server_method()), &SSL_CTX_free);
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  return context;
}

// Of openssl_names.c; they stay loaded. Beside the program, or where they are installed.
absl::Status LoadStandIns() {
  std::error_code error;
  const auto here = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (const char* name : {"libfathom_ssl.so", "libfathom_crypto.so"}) {
    bool loaded = false;
    for (const auto& folder : {here, here.parent_path(), here.parent_path() / FATHOM_LIBDIR}) {
      loaded = loaded || dlopen((folder / name).c_str(), RTLD_NOW) != nullptr;
    }
    if (!loaded) {
      return absl::UnavailableError(absl::StrCat("tls_cert: HTTP needs ", name,
                                                 " for TLS: it is "
                                                 "neither beside this program nor in ",
                                                 (here.parent_path() / FATHOM_LIBDIR).string()));
    }
  }
  return absl::OkStatus();
}

}  // namespace

class ServerTls::Impl {
 public:
  explicit Impl(service::TlsFiles files)
      : files_(std::move(files)), context_(NewContext()), fresh_(NewContext()) {}

  absl::Status Start() {
    if (auto status = LoadStandIns(); !status.ok()) return status;
    stamp_ = Stamp();
    if (auto status = Load(files_, fresh_.get()); !status.ok()) return status;
    SSL_CTX_set_cert_cb(context_.get(), &Impl::OnHandshake, this);
    return absl::OkStatus();
  }

  SSL_CTX* context() const { return context_.get(); }

 private:
  std::pair<std::int64_t, std::int64_t> Stamp() const {
    return {ChangedAt(files_.cert_file), ChangedAt(files_.key_file)};
  }

  static int OnHandshake(SSL* connection, void* self) {
    auto* tls = static_cast<Impl*>(self);
    const std::lock_guard lock(tls->mutex_);
    tls->Freshen();
    return SSL_set_SSL_CTX(connection, tls->fresh_.get()) != nullptr;
  }

  void Freshen() {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_look_) return;
    next_look_ = now + std::chrono::seconds(1);
    const auto stamp = Stamp();
    if (stamp == stamp_) return;
    stamp_ = stamp;
    Context anew = NewContext();
    if (auto status = Load(files_, anew.get()); !status.ok()) {
      spdlog::error("the old certificate holds: {}", std::string(status.message()));
      return;
    }
    fresh_ = std::move(anew);
    spdlog::info("{} read again", files_.cert_file);
  }

  const service::TlsFiles files_;
  const Context context_;  // what civetweb holds; each handshake takes the fresh one's certificate
  std::mutex mutex_;       // guards all below
  Context fresh_;
  std::pair<std::int64_t, std::int64_t> stamp_;
  std::chrono::steady_clock::time_point next_look_{};
};

ServerTls::ServerTls(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ServerTls::~ServerTls() = default;
void* ServerTls::context() const { return impl_->context(); }

absl::StatusOr<std::unique_ptr<ServerTls>> ServerTls::Make(const service::TlsFiles& files) {
  auto impl = std::make_unique<Impl>(files);
  if (auto status = impl->Start(); !status.ok()) return status;
  return std::unique_ptr<ServerTls>(new ServerTls(std::move(impl)));
}

}  // namespace fathom::collector
