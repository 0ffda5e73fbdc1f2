// The settings of a login, equal in every program that has one.
//
// Used by the tables of fathom-collector (config/settings) and fathom-cordon (cordon/config).
// Header only. Thread-safety: pure function. Errors: none; Login::Check judges the values.
#ifndef FATHOM_COLLECTOR_CONFIG_LOGIN_SETTINGS_H_
#define FATHOM_COLLECTOR_CONFIG_LOGIN_SETTINGS_H_

#include <vector>

#include "collector/config/setting.h"
#include "collector/http/login.h"

namespace fathom::collector {

// Of the LoginOptions that are member `login` of Config.
template <typename Config>
std::vector<SettingOf<Config>> LoginSettings(LoginOptions Config::*login) {
  return {
      Reloads(MakeSetting("tokens", login, &LoginOptions::token_file,
                          "file of 'NAME viewer|operator sha256:HEX [YYYY-MM-DD]' lines")),
      Reloads(MakeSetting("proxy_header", login, &LoginOptions::proxy_header,
                          "in which a reverse proxy names the person")),
      Reloads(MakeSetting("proxy_peers", login, &LoginOptions::proxy_peers,
                          "its addresses or networks, with commas")),
      Reloads(MakeSetting("proxy_operators", login, &LoginOptions::proxy_operators,
                          "who of those may change something, with commas; *: all")),
      Reloads(MakeSetting("open_reading", login, &LoginOptions::open_reading,
                          "reading needs no login")),
  };
}

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_CONFIG_LOGIN_SETTINGS_H_
