// Files that belong to the user of a traced process, read without trusting what they are.
//
// Used by run_facts, code_mark and library_versions.
//
// Model: a path may lead to a pipe, a device, or a file that only the agent may read: what is not a
// regular file is not read, nothing is waited for, and callers take out of it only what looks like
// what they want.
//
// Thread-safety: pure. Errors: empty. Cost: three system calls and the bytes read.
#ifndef FATHOM_DAEMON_AGENT_SOURCE_PROCESS_PROCESS_FILES_H_
#define FATHOM_DAEMON_AGENT_SOURCE_PROCESS_PROCESS_FILES_H_

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <vector>

namespace fathom::agent {

// At most `most` bytes of it.
std::string ReadRegular(const std::string& path, std::size_t most);
// The same of a file that belongs to `user` or that everybody may read: not of one that only the
// agent may, to which a link of that user leads.
std::string ReadRegularAs(uid_t user, const std::string& path, std::size_t most);

// The program's script where the agent sees it; empty where the command line names none.
std::string ScriptOf(const std::string& folder, const std::vector<std::string>& command);

// The first 12 hex digits of the commit that is checked out where the program's script lies, or
// else where the process stands. `folder`: its folder in /proc; `command`: its command line.
std::string ReadRevision(const std::string& folder, const std::vector<std::string>& command);

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SOURCE_PROCESS_PROCESS_FILES_H_
