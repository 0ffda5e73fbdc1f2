// The unix socket on which agents of this machine reach the collector: made, and taken away again.
//
// Used by LocalPort. Model: the socket is made under a name of its own and renamed into place once
// it listens, so that whoever sees it is let in. One that nobody answers at (left by kill -9) is
// replaced; one that answers is another collector's and stays. Its folder must be one in which only
// its owner, root or this user, may put something (daemon/service/agent_socket.h); it is made where
// it is missing. Only its user and root may connect, or with `everybody` all, to be asked by the
// kernel's word who they are.
//
// Thread-safety: thread-compatible. Ownership: owns descriptor and file; the destructor removes the
// file if it is still its own. Errors: Open says which path, why, and what to do.
#ifndef FATHOM_COLLECTOR_NET_LOCAL_LISTENER_H_
#define FATHOM_COLLECTOR_NET_LOCAL_LISTENER_H_

#include <absl/status/statusor.h>
#include <sys/types.h>

#include <memory>
#include <string>

namespace fathom::collector {

class LocalListener {
 public:
  static absl::StatusOr<std::unique_ptr<LocalListener>> Open(const std::string& path,
                                                             bool everybody);
  ~LocalListener();
  LocalListener(const LocalListener&) = delete;
  LocalListener& operator=(const LocalListener&) = delete;

  int fd() const { return fd_; }
  const std::string& path() const { return path_; }

 private:
  LocalListener(std::string path, int fd, ino_t file)
      : path_(std::move(path)), fd_(fd), file_(file) {}

  const std::string path_;
  const int fd_;
  const ino_t file_;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_NET_LOCAL_LISTENER_H_
