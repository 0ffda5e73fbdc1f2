// A real PostgreSQL for a test, on a free port, its files in a folder of its own.
//
// Used by history_test. As root it runs as the user `postgres` of Debian's package, for it refuses
// to run as root. Ends with the object. Errors: `reason` says why there is none, as where it is not
// installed. Thread-safety: of one thread.
#ifndef FATHOM_TESTS_COLLECTOR_STORE_POSTGRES_SERVER_H_
#define FATHOM_TESTS_COLLECTOR_STORE_POSTGRES_SERVER_H_

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace fathom::collector {

class PostgresServer {
 public:
  PostgresServer() {
    if (access("/usr/lib/postgresql/15/bin/postgres", X_OK) != 0) {
      reason_ = "PostgreSQL 15 is not here; deploy/setup cluster installs it";
      return;
    }
    char name[] = "/tmp/fathom-sql-XXXXXX";
    folder_ = mkdtemp(name);
    // By its socket: its number is a name only.
    port_ = std::to_string(20000 + getpid() % 20000);
    if (geteuid() == 0 && std::system(("chown postgres: " + folder_).c_str()) != 0) {
      reason_ = "there is no user postgres";
      return;
    }
    if (Run("initdb -D " + Data() + " -U fathom -A trust --no-sync") != 0)
      reason_ = "initdb failed";
    Start();
  }
  ~PostgresServer() {
    Stop();
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  }
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  const std::string& reason() const { return reason_; }  // empty: it runs

  void Start() {
    if (!reason_.empty()) return;
    const std::string options = "-c listen_addresses= -c fsync=off -k " + folder_ + " -p " + port_;
    if (Run("pg_ctl -s -w -D " + Data() + " -o '" + options + "' -l " + folder_ + "/log start") !=
        0) {
      reason_ = "PostgreSQL does not start";
    }
  }
  void Stop() {
    if (!folder_.empty()) Run("pg_ctl -s -D " + Data() + " -m immediate stop");
  }
  // A fresh database.
  std::string Database() {
    const std::string name = "d" + std::to_string(++databases_);
    Sql("postgres", "CREATE DATABASE " + name);
    return Url(name);
  }
  std::string Url(const std::string& database) const {
    return "postgresql://fathom@/" + database + "?host=" + folder_ + "&port=" + port_;
  }
  bool Sql(const std::string& database, const std::string& text) {
    return Run("psql -q -h " + folder_ + " -p " + port_ + " -U fathom -d " + database + " -c \"" +
               text + "\"") == 0;
  }
  std::string newest() const { return "d" + std::to_string(databases_); }

 private:
  std::string Data() const { return folder_ + "/data"; }
  static int Run(const std::string& words) {
    const std::string as =
        geteuid() == 0 ? "setpriv --reuid postgres --regid postgres --init-groups -- " : "";
    return std::system(
        ("cd / && " + as + "/usr/lib/postgresql/15/bin/" + words + " > /dev/null 2>&1").c_str());
  }

  std::string folder_, port_, reason_;
  int databases_ = 0;
};

}  // namespace fathom::collector

#endif  // FATHOM_TESTS_COLLECTOR_STORE_POSTGRES_SERVER_H_
