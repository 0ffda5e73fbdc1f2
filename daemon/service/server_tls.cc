#include "daemon/service/server_tls.h"

#include <absl/strings/str_cat.h>
#include <dlfcn.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <utility>

#include "daemon/service/mutex.h"

namespace fathom::service {
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

absl::Status Load(const TlsFiles& files, const TlsNames& names, SSL_CTX* context) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const WallNs wall(std::chrono::nanoseconds(now).count());
  if (auto status = CheckTlsFiles(files, names, wall); !status.ok()) return status;
  if (SSL_CTX_use_certificate_chain_file(context, files.cert_file.c_str()) != 1 ||
      SSL_CTX_use_PrivateKey_file(context, files.key_file.c_str(), SSL_FILETYPE_PEM) != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(names.cert, ": ", files.cert_file, ": ", LastError()));
  }
  if (!files.peer_ca_file.empty() &&
      SSL_CTX_load_verify_file(context, files.peer_ca_file.c_str()) != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(names.peer_ca, ": ", files.peer_ca_file, ": ", LastError()));
  }
  return absl::OkStatus();
}

Context NewContext() {
  Context context(SSL_CTX_new(TLS_server_method()), &SSL_CTX_free);
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  return context;
}

// Of openssl_names.c; they stay loaded. Beside the program, or where they are installed.
absl::Status LoadStandIns(const std::string& setting) {
  std::error_code error;
  const auto here = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (const char* name : {"libfathom_ssl.so", "libfathom_crypto.so"}) {
    bool loaded = false;
    for (const auto& folder : {here, here.parent_path(), here.parent_path() / FATHOM_LIBDIR}) {
      loaded = loaded || dlopen((folder / name).c_str(), RTLD_NOW) != nullptr;
    }
    if (!loaded) {
      return absl::UnavailableError(absl::StrCat(setting, ": HTTP needs ", name,
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
  Impl(TlsFiles files, TlsNames names)
      : files_(std::move(files)),
        names_(std::move(names)),
        context_(NewContext()),
        fresh_(NewContext()) {}

  absl::Status Start() {
    if (auto status = LoadStandIns(names_.cert); !status.ok()) return status;
    const MutexLock lock(mutex_);
    stamp_ = Stamp();
    if (auto status = Load(files_, names_, fresh_.get()); !status.ok()) return status;
    SSL_CTX_set_cert_cb(context_.get(), &Impl::OnHandshake, this);
    if (!files_.peer_ca_file.empty()) AskClients();
    return absl::OkStatus();
  }

  SSL_CTX* context() const { return context_.get(); }

 private:
  // A session that is resumed shows no certificate anew.
  void AskClients() {
    SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    SSL_CTX_set_options(context_.get(), SSL_OP_NO_TICKET);
    SSL_CTX_set_session_cache_mode(context_.get(), SSL_SESS_CACHE_OFF);
    SSL_CTX_set_num_tickets(context_.get(), 0);
  }

  std::array<std::int64_t, 3> Stamp() const {
    return {ChangedAt(files_.cert_file), ChangedAt(files_.key_file),
            ChangedAt(files_.peer_ca_file)};
  }

  static int OnHandshake(SSL* connection, void* self) {
    auto* tls = static_cast<Impl*>(self);
    const MutexLock lock(tls->mutex_);
    tls->Freshen();
    return SSL_set_SSL_CTX(connection, tls->fresh_.get()) != nullptr;
  }

  void Freshen() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_look_) return;
    next_look_ = now + std::chrono::seconds(1);
    const auto stamp = Stamp();
    if (stamp == stamp_) return;
    stamp_ = stamp;
    Context anew = NewContext();
    if (auto status = Load(files_, names_, anew.get()); !status.ok()) {
      spdlog::error("the old certificate holds: {}", std::string(status.message()));
      return;
    }
    fresh_ = std::move(anew);
    spdlog::info("{} read again", files_.cert_file);
  }

  const TlsFiles files_;
  const TlsNames names_;
  const Context context_;  // what civetweb holds; each handshake takes the fresh one's certificate
  Mutex mutex_;
  Context fresh_ ABSL_GUARDED_BY(mutex_);
  std::array<std::int64_t, 3> stamp_ ABSL_GUARDED_BY(mutex_){};
  std::chrono::steady_clock::time_point next_look_ ABSL_GUARDED_BY(mutex_){};
};

ServerTls::ServerTls(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ServerTls::~ServerTls() = default;
void* ServerTls::context() const { return impl_->context(); }

absl::StatusOr<std::unique_ptr<ServerTls>> ServerTls::Make(const TlsFiles& files,
                                                           const TlsNames& names) {
  auto impl = std::make_unique<Impl>(files, names);
  if (auto status = impl->Start(); !status.ok()) return status;
  return std::unique_ptr<ServerTls>(new ServerTls(std::move(impl)));
}

}  // namespace fathom::service
