// Who may read and who may change something over HTTP.
//
// Owned by the collector and by fathom-cordon; asked by their HTTP servers at every request.
//
// A person is known by a static token (Authorization: Bearer, or the cookie that the sign-in page
// sets), or by the header of a reverse proxy, which counts only from the addresses of that proxy.
// A token that came is decisive: a wrong one is never made good by a header. Where neither tokens
// nor a proxy are set, everybody who reaches the server reads, and only a process of the server's
// own user or of root on the same machine may change something (local_owner).
//
// The file of tokens is looked at when it has changed, so that a token taken out is void at once.
// While the file cannot be understood the tokens read before hold; while it is gone nobody's does.
//
// Wrong tokens are counted. From an address that has sent kBurst of them each further one is
// refused without a word in the log, one more being allowed every kRefill. A right one is always
// taken: guessing is hopeless by the length of tokens, and a script with an old token must not lock
// its neighbours out.
//
// Thread-safety: thread-safe. Errors: Unauthenticated (sign in), PermissionDenied (a viewer),
// ResourceExhausted (too many wrong tokens), FailedPrecondition (no file of tokens);
// of Check, Make and Use InvalidArgument (the settings).
// Cost: a stat and a SHA-256 a request; for a change by local_owner the kernel's table of TCP
// connections is read, while others go on.
#ifndef FATHOM_COLLECTOR_HTTP_LOGIN_H_
#define FATHOM_COLLECTOR_HTTP_LOGIN_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "collector/http/person.h"
#include "collector/http/token_list.h"
#include "collector/net/peer.h"
#include "collector/process/clock.h"
#include "daemon/service/mutex.h"

namespace fathom::collector {

struct LoginOptions {
  std::string token_file{};
  std::string proxy_header{};     // with the person's name: "X-Forwarded-User"
  std::string proxy_peers{};      // addresses and networks of the proxy, with commas
  std::string proxy_operators{};  // names, with commas; whoever else the proxy names is a viewer
  bool open_reading = false;      // reading needs no login
  bool local_owner = false;       // see above

  bool on() const { return !token_file.empty() || !proxy_header.empty(); }
};

// What a request says about whoever sent it.
struct Credentials {
  std::string token;       // of Authorization or cookie
  std::string proxy_user;  // value of proxy_header
  Peer peer;
};

class Login {
 public:
  static constexpr int kBurst = 10;
  static constexpr Nanos kRefill{6'000'000'000};
  static constexpr std::size_t kMaxPeers = 1024;

  struct Failures {
    std::uint64_t unknown = 0;    // nobody's, out of date, or no token where one is needed
    std::uint64_t role = 0;       // a viewer who wanted to change something
    std::uint64_t throttled = 0;  // see above
  };

  // Fails where the file of tokens or the addresses cannot be understood.
  static absl::Status Check(const LoginOptions& options);
  // The same, and somebody to ask.
  static absl::StatusOr<std::unique_ptr<Login>> Make(const LoginOptions& options,
                                                     const Clock& clock);

  // The person, if they may do what needs that role. Requires: needed is not kNobody.
  absl::StatusOr<Person> Admit(const Credentials& who, Role needed);
  // Takes other options, or the file anew. An error leaves everything as it was.
  absl::Status Use(const LoginOptions& options);

  std::string proxy_header() const;
  Failures failures() const;

 private:
  struct Bucket {
    double left = kBurst;
    MonoNs at;
  };
  struct Stamp {  // of the file that was read
    std::int64_t modified_ns = 0, inode = 0, size = -1;
    bool operator==(const Stamp&) const = default;
  };

  // What options say, with their files.
  struct Rules {
    LoginOptions options;
    TokenList tokens;
    Stamp stamp;
    Networks proxies;
    std::vector<std::string> operators;
  };

  Login(Rules rules, const Clock& clock) : clock_(clock), rules_(std::move(rules)) {}
  static absl::StatusOr<Rules> Read(const LoginOptions& options);
  absl::StatusOr<Person> Who(const Credentials& who) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<Person> OfToken(const Credentials& who) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Person OfProxy(const std::string& user) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Freshen() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Wrong(const Peer& peer, const absl::Status& why)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  static Stamp StampOf(const std::string& file);

  const Clock& clock_;
  mutable service::Mutex mutex_;
  Rules rules_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, Bucket> buckets_ ABSL_GUARDED_BY(mutex_);  // by address
  Failures failures_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_HTTP_LOGIN_H_
