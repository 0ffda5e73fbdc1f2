#include "collector/cli/remedy/backend/process_files.h"

#include <fstream>
#include <set>
#include <sstream>

#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

namespace fs = std::filesystem;

std::string Contents(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

std::vector<std::string> Pieces(const std::string& text) {
  std::vector<std::string> pieces;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t to = std::min(text.find('\0', from), text.size());
    pieces.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  return pieces;
}

// The port of "0100007F:7148".
int PortOf(const std::string& address) {
  const std::size_t colon = address.find(':');
  if (colon == address.npos) return 0;
  return static_cast<int>(std::strtol(address.c_str() + colon + 1, nullptr, 16));
}

void ReadTable(const fs::path& file, const std::set<std::string>& mine,
               std::vector<SocketEnd>& ends) {
  std::istringstream lines(Contents(file));
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string slot, local, remote, state, queues, timer, resent, user, timeout, inode;
    words >> slot >> local >> remote >> state >> queues >> timer >> resent >> user >> timeout >>
        inode;
    if (mine.contains(inode))
      ends.push_back({state == "0A", state == "01", PortOf(local), PortOf(remote)});
  }
}

}  // namespace

ProcessAge ProcessFiles::Age() const {
  const std::string text = Contents(folder_ / "stat");
  const std::size_t name_end = text.rfind(')');
  if (name_end == text.npos) return {};
  std::istringstream fields(text.substr(name_end + 1));
  std::string state;
  ProcessAge age;
  fields >> state >> age.parent;
  std::string skipped;
  for (int field = 5; field <= 21; ++field) fields >> skipped;
  fields >> age.start;
  return state == "Z" || state == "X" || !fields ? ProcessAge() : age;
}

std::vector<std::string> ProcessFiles::Words() const {
  return Pieces(Contents(folder_ / "cmdline"));
}

std::string ProcessFiles::Variable(const std::string& name) const {
  const std::string start = name + "=";
  for (const std::string& variable : Pieces(Contents(folder_ / "environ"))) {
    if (variable.starts_with(start)) return variable.substr(start.size());
  }
  return "";
}

std::vector<SocketEnd> ProcessFiles::Sockets() const {
  std::set<std::string> mine;
  std::error_code error;
  fs::directory_iterator each(folder_ / "fd", error);
  for (; !error && each != fs::directory_iterator(); each.increment(error)) {
    std::error_code closed;
    const std::string target = fs::read_symlink(each->path(), closed);
    if (target.starts_with("socket:[")) mine.insert(target.substr(8, target.size() - 9));
  }
  std::vector<SocketEnd> ends;
  ReadTable(folder_ / "net/tcp", mine, ends);
  ReadTable(folder_ / "net/tcp6", mine, ends);
  return ends;
}

std::vector<std::int64_t> AllProcesses(const fs::path& proc) {
  std::vector<std::int64_t> pids;
  std::error_code error;
  fs::directory_iterator each(proc, error);
  for (; !error && each != fs::directory_iterator(); each.increment(error)) {
    std::int64_t pid = 0;
    if (ReadNumber(each->path().filename().string(), &pid)) pids.push_back(pid);
  }
  return pids;
}

}  // namespace fathom::cli
