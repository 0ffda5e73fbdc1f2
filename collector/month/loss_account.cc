#include "collector/month/loss_account.h"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

namespace fathom::collector {
namespace {

constexpr Nanos kWeek{7LL * 86'400 * 1'000'000'000};
constexpr double kHour = 3600;

using Key = std::tuple<WallNs, std::string, std::string, std::string, std::string, std::string>;
using Rows = std::map<Key, LossRow>;  // week, team, job, cause, node, owner

struct Stretch {
  WallNs begin, end;
};

std::vector<Stretch> WeeksOf(WallNs since, WallNs until) {
  std::vector<Stretch> weeks;
  for (WallNs end = until; end > since; end = end - kWeek) {
    weeks.push_back({std::max(since, end - kWeek), end});
  }
  std::reverse(weeks.begin(), weeks.end());
  return weeks;
}

double SharedSeconds(const Stretch& a, const Stretch& b) {
  return std::max(0.0, (std::min(a.end, b.end) - std::max(a.begin, b.begin)).Seconds());
}

LossRow& RowOf(Rows& rows, LossRow key) {
  const Key at{key.week, key.team, key.job, key.cause, key.node, key.owner};
  return rows.try_emplace(at, std::move(key)).first->second;
}

// The newest run of a job tells whose it is.
std::map<std::string, std::string> TeamsOf(const std::vector<RunTime>& runs) {
  std::map<std::string, std::pair<WallNs, std::string>> newest;
  for (const RunTime& run : runs) {
    auto& known = newest[run.job];
    if (run.last_seen >= known.first) known = {run.last_seen, run.team};
  }
  std::map<std::string, std::string> teams;
  for (auto& [job, of] : newest) teams[job] = std::move(of.second);
  return teams;
}

void AddUsed(const RunTime& run, const std::vector<Stretch>& weeks, Rows& rows) {
  for (const Stretch& week : weeks) {
    const double seconds = SharedSeconds({run.started, run.last_seen}, week);
    if (seconds <= 0) continue;
    RowOf(rows, {week.begin, run.team, run.job, "", "", "", 0, 0, {}}).used_h +=
        seconds * run.ranks / kHour;
  }
}

Stretch LifeOf(const Episode& episode, WallNs until) {
  const WallNs onset = episode.verdict.since_time;
  const WallNs begin = onset.known() ? std::min(onset, episode.opened) : episode.opened;
  return {begin, episode.open() ? until : episode.closed};
}

// Gives add(week, hours) the cost of the verdict, spread over its life.
void Spread(const Episode& episode, const std::vector<Stretch>& weeks, WallNs until,
            const std::function<void(const Stretch&, double)>& add) {
  const Stretch life = LifeOf(episode, until);
  const double lasted = (life.end - life.begin).Seconds();
  const double cost = episode.verdict.cost.gpu_hours;
  for (const Stretch& week : weeks) {
    // One that was opened and closed at once, or whose clock was set back, lies in one moment.
    const bool moment = lasted <= 0 && life.begin >= week.begin && life.begin < week.end;
    const double share = lasted > 0 ? SharedSeconds(life, week) / lasted : moment ? 1 : 0;
    if (share > 0) add(week, cost * share);
  }
}

std::string TeamOf(const std::map<std::string, std::string>& teams, const std::string& job) {
  const auto at = teams.find(job);
  return at == teams.end() ? "" : at->second;
}

void AddRecovery(const ToldRecovery& recovery, const std::string& team,
                 const std::vector<Stretch>& weeks, Rows& rows) {
  for (const Stretch& week : weeks) {
    const double hours = RecoveryHours(recovery, week.begin, week.end);
    if (hours <= 0) continue;
    RowOf(rows, {week.begin,
                 team,
                 recovery.job,
                 kRecoveryCause,
                 std::string(ToString(diagnosis::Owner::kOperations)),
                 recovery.node,
                 0,
                 0,
                 {}})
        .lost_h += hours;
  }
}

// A job cannot lose more than it used.
void Bound(Rows& rows) {
  std::map<std::pair<WallNs, std::string>, std::pair<double, double>> sums;  // used, lost
  for (const auto& [key, row] : rows) {
    auto& [used, lost] = sums[{row.week, row.job}];
    used += row.used_h;
    lost += row.lost_h;
  }
  for (auto& [key, row] : rows) {
    const auto& [used, lost] = sums[{row.week, row.job}];
    if (used > 0 && lost > used) row.lost_h *= used / lost;
  }
}

using KeyOf = std::function<std::string(const LossRow&)>;

// Rows whose key is empty are left out.
std::vector<LossSum> SumsBy(const std::vector<LossRow>& rows, const KeyOf& key_of) {
  struct Sum {
    LossSum sum;
    std::set<std::string> verdicts, jobs;
  };
  std::map<std::string, Sum> sums;
  for (const LossRow& row : rows) {
    const std::string key = key_of(row);
    if (key.empty()) continue;
    Sum& to = sums[key];
    to.sum.key = key;
    to.sum.week = row.week;
    if (!row.owner.empty()) to.sum.owner = row.owner;
    to.sum.used_h += row.used_h;
    to.sum.lost_h += row.lost_h;
    to.verdicts.insert(row.verdicts.begin(), row.verdicts.end());
    to.jobs.insert(row.job);
  }
  std::vector<LossSum> out;
  for (auto& [key, each] : sums) {
    each.sum.verdicts = each.verdicts.size();
    each.sum.jobs = each.jobs.size();
    out.push_back(std::move(each.sum));
  }
  std::stable_sort(out.begin(), out.end(), [](const LossSum& a, const LossSum& b) {
    return std::tie(b.lost_h, b.used_h) < std::tie(a.lost_h, a.used_h);
  });
  return out;
}

void FillSums(LossAccount& account) {
  account.by_cause = SumsBy(account.rows, [](const LossRow& row) { return row.cause; });
  account.by_node = SumsBy(account.rows, [](const LossRow& row) { return row.node; });
  account.by_job = SumsBy(account.rows, [](const LossRow& row) { return row.job; });
  account.by_team = SumsBy(
      account.rows, [](const LossRow& row) { return row.team.empty() ? "(no team)" : row.team; });
  account.by_week =
      SumsBy(account.rows, [](const LossRow& row) { return std::to_string(row.week.ns); });
  std::sort(account.by_week.begin(), account.by_week.end(),
            [](const LossSum& a, const LossSum& b) { return a.week < b.week; });
  account.jobs = account.by_job.size();
}

}  // namespace

LossAccount LossesOf(const std::vector<RunTime>& runs, const std::vector<Episode>& verdicts,
                     const std::vector<ToldRecovery>& recoveries, WallNs since, WallNs until) {
  LossAccount account;
  account.since = since;
  account.until = until;
  const std::vector<Stretch> weeks = WeeksOf(since, until);
  const auto teams = TeamsOf(runs);
  Rows rows;
  for (const RunTime& run : runs) {
    AddUsed(run, weeks, rows);
    account.runs += SharedSeconds({run.started, run.last_seen}, {since, until}) > 0;
  }
  for (const Episode& each : verdicts) {
    if (each.superseded || !(each.verdict.cost.gpu_hours > 0)) continue;
    Spread(each, weeks, until, [&](const Stretch& week, double hours) {
      if (!diagnosis::Convicts(each.verdict)) {
        account.leads_h += hours;
        return;
      }
      LossRow& row = RowOf(rows, {week.begin,
                                  TeamOf(teams, each.job),
                                  each.job,
                                  std::string(ToString(each.verdict.cause)),
                                  std::string(ToString(each.verdict.owner)),
                                  each.verdict.entity.node,
                                  0,
                                  0,
                                  {}});
      row.lost_h += hours;
      row.verdicts.insert(each.id);
    });
  }
  for (const ToldRecovery& each : recoveries)
    AddRecovery(each, TeamOf(teams, each.job), weeks, rows);
  account.recoveries = RecoveryLossesOf(recoveries, since, until);
  Bound(rows);
  for (auto& [key, row] : rows) {
    account.used_h += row.used_h;
    account.lost_h += row.lost_h;
    account.rows.push_back(std::move(row));
  }
  FillSums(account);
  return account;
}

}  // namespace fathom::collector
