// The commit that this program was built from, for --version and the first line of the log.
//
// Used by all four programs. The .cc is written by deploy/cmake/WriteCommit.cmake at each build.
// Thread-safety: a constant.
#ifndef FATHOM_DAEMON_SERVICE_BUILD_COMMIT_H_
#define FATHOM_DAEMON_SERVICE_BUILD_COMMIT_H_

namespace fathom::service {

// Twelve hex digits, with "-dirty" behind where files differed from it; "unknown" outside of a
// checkout.
extern const char* const kBuildCommit;

}  // namespace fathom::service

#endif  // FATHOM_DAEMON_SERVICE_BUILD_COMMIT_H_
