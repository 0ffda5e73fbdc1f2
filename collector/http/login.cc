#include "collector/http/login.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace fathom::collector {
namespace {

constexpr uid_t kUnmapped = 65'534;  // every user that a user namespace does not know

absl::StatusOr<Person> LocalOwner(const Peer& peer) {
  const auto uid = LoopbackOwner(peer);
  if (uid && *uid != kUnmapped && (*uid == geteuid() || *uid == 0)) {
    return Person{absl::StrCat("uid ", *uid), Role::kOperator};
  }
  return absl::PermissionDeniedError(
      "changes are for operators: set tokens, or ask on the same machine as its own user");
}

}  // namespace

absl::StatusOr<Login::Rules> Login::Read(const LoginOptions& options) {
  Rules rules;
  rules.options = options;
  rules.stamp = StampOf(options.token_file);
  if (!options.token_file.empty()) {
    auto list = TokenList::Load(options.token_file);
    if (!list.ok()) return list.status();
    rules.tokens = *std::move(list);
  }
  auto proxies = Networks::Parse(options.proxy_peers);
  if (!proxies.ok()) {
    return absl::InvalidArgumentError("proxy_peers: " + std::string(proxies.status().message()));
  }
  if (!options.proxy_header.empty() && proxies->empty()) {
    return absl::InvalidArgumentError(
        "proxy_header: anybody could send it; give the proxy's address with proxy_peers");
  }
  rules.proxies = *std::move(proxies);
  rules.operators =
      absl::StrSplit(options.proxy_operators, absl::ByAnyChar(", "), absl::SkipEmpty());
  return rules;
}

absl::Status Login::Check(const LoginOptions& options) { return Read(options).status(); }

absl::StatusOr<std::unique_ptr<Login>> Login::Make(const LoginOptions& options,
                                                   const Clock& clock) {
  auto rules = Read(options);
  if (!rules.ok()) return rules.status();
  return std::unique_ptr<Login>(new Login(*std::move(rules), clock));
}

absl::Status Login::Use(const LoginOptions& options) {
  const service::MutexLock lock(mutex_);
  auto rules = Read(options);
  if (!rules.ok()) return rules.status();
  rules_ = *std::move(rules);
  return absl::OkStatus();
}

Login::Stamp Login::StampOf(const std::string& file) {
  struct stat facts {};
  if (file.empty() || stat(file.c_str(), &facts) != 0) return {};
  return {std::int64_t{facts.st_mtim.tv_sec} * 1'000'000'000 + facts.st_mtim.tv_nsec,
          static_cast<std::int64_t>(facts.st_ino), static_cast<std::int64_t>(facts.st_size)};
}

absl::Status Login::Freshen() {
  const Stamp now = StampOf(rules_.options.token_file);
  if (now == Stamp{}) {
    return absl::FailedPreconditionError(rules_.options.token_file +
                                         ": the file of tokens is gone; nobody can sign in");
  }
  if (now == rules_.stamp) return absl::OkStatus();
  rules_.stamp = now;
  auto list = TokenList::Load(rules_.options.token_file);
  if (list.ok()) {
    rules_.tokens = *std::move(list);
    spdlog::info("{} read again: {} tokens", rules_.options.token_file, rules_.tokens.size());
  } else {
    spdlog::error("the tokens read before hold: {}", std::string(list.status().message()));
  }
  return absl::OkStatus();
}

absl::Status Login::Wrong(const Peer& peer, const absl::Status& why) {
  const MonoNs now = clock_.Mono();
  if (buckets_.size() >= kMaxPeers && !buckets_.contains(peer.address)) {
    buckets_.erase(std::min_element(buckets_.begin(), buckets_.end(), [](auto& a, auto& b) {
      return a.second.at.ns < b.second.at.ns;
    }));
  }
  Bucket& bucket = buckets_.try_emplace(peer.address, Bucket{kBurst, now}).first->second;
  const double refill =
      static_cast<double>(now.ns - bucket.at.ns) / static_cast<double>(kRefill.count);
  bucket = {std::min<double>(kBurst, bucket.left + refill), now};
  if (bucket.left < 1) {
    ++failures_.throttled;
    return absl::ResourceExhaustedError("too many wrong tokens from here; wait a minute");
  }
  bucket.left -= 1;
  ++failures_.unknown;
  spdlog::warn("login from {} failed: {}", peer.address, std::string(why.message()));
  return why;
}

absl::StatusOr<Person> Login::OfToken(const Credentials& who) {
  if (rules_.options.token_file.empty()) {
    return Wrong(who.peer, absl::UnauthenticatedError("no tokens are taken here"));
  }
  if (auto status = Freshen(); !status.ok()) return status;
  auto person = rules_.tokens.Who(who.token, clock_.Wall());
  if (!person.ok()) return Wrong(who.peer, person.status());
  return person;
}

Person Login::OfProxy(const std::string& user) const {
  const auto is = [&](const std::string& name) { return name == user || name == "*"; };
  const bool may_change = std::any_of(rules_.operators.begin(), rules_.operators.end(), is);
  return {user, may_change ? Role::kOperator : Role::kViewer};
}

// Nobody where the file is not set and the person not known: the caller says what is needed.
absl::StatusOr<Person> Login::Who(const Credentials& who) {
  if (!who.token.empty()) return OfToken(who);
  if (!who.proxy_user.empty() && !rules_.options.proxy_header.empty() &&
      rules_.proxies.Has(who.peer.address)) {
    return OfProxy(who.proxy_user);
  }
  return Person{
      "", rules_.options.open_reading || !rules_.options.on() ? Role::kViewer : Role::kNobody};
}

absl::StatusOr<Person> Login::Admit(const Credentials& who, Role needed) {
  service::MutexLock lock(mutex_);
  if (!rules_.options.on() && rules_.options.local_owner) {
    if (needed == Role::kViewer) return Person{"", Role::kViewer};
    lock.Unlock();  // the kernel's table can be long
    return LocalOwner(who.peer);
  }
  auto person = Who(who);
  if (!person.ok() || person->role >= needed) return person;
  if (person->name.empty()) {
    return absl::UnauthenticatedError(
        rules_.options.on()
            ? "sign in: a token is needed (FATHOM_TOKEN_FILE, Authorization: Bearer, or "
              "the page's /login)"
            : "nobody may change anything: no file of tokens is set");
  }
  ++failures_.role;
  return absl::PermissionDeniedError(person->name + " is a viewer and may not change anything");
}

std::string Login::proxy_header() const {
  const service::MutexLock lock(mutex_);
  return rules_.options.proxy_header;
}

Login::Failures Login::failures() const {
  const service::MutexLock lock(mutex_);
  return failures_;
}

}  // namespace fathom::collector
