#include "collector/evaluate/look_schedule.h"

#include <algorithm>

namespace fathom::collector {
namespace {

Nanos Scaled(Nanos time, double factor) { return Nanos::FromSeconds(time.Seconds() * factor); }

}  // namespace

LookSchedule::LookSchedule(const LookPace& pace)
    : pace_(pace), reserve_(Nanos::FromSeconds(pace.reserve_s)), saved_(reserve_) {}

Nanos LookSchedule::Saved(MonoNs now) const {
  if (!ended_.known()) return saved_;
  return std::min(reserve_, saved_ + Scaled(now - ended_, pace_.share));
}

bool LookSchedule::Well(const LookReasons& reasons) const {
  const bool told = reasons.shows || reasons.slower || reasons.rows_are_in;
  return ended_.known() && !told && !findings_.uneasy && !findings_.verdict_waits;
}

MonoNs LookSchedule::Calm(const LookReasons& reasons) const {
  MonoNs due = reasons.news ? next_ : next_ + kIdle;
  if (Well(reasons)) due = std::max(due, began_ + reasons.calm_gap);
  const bool coming = reasons.newest > newest_ && reasons.whole <= whole_;
  return coming ? std::max(due, reasons.partial_since + gap_) : due;
}

MonoNs LookSchedule::Hurried(const LookReasons& reasons, MonoNs otherwise) const {
  const bool again = findings_.verdict_waits && !second_ && reasons.whole == reasons.newest;
  if (reasons.rows_are_in) return ended_;
  const bool fresh = (findings_.uneasy || reasons.slower) && reasons.whole > whole_;
  return fresh || again ? std::min(otherwise, began_ + kGap) : otherwise;
}

Nanos LookSchedule::Left(const LookReasons& reasons, MonoNs now) const {
  if (!ended_.known()) return Nanos(0);
  const MonoNs calm = Calm(reasons);
  return (Saved(now) > Nanos(0) ? Hurried(reasons, calm) : calm) - now;
}

void LookSchedule::Looked(const LookReasons& reasons, const LookFindings& findings, MonoNs begin,
                          MonoNs end, Nanos cost) {
  const Nanos reserve = std::max(reserve_, Scaled(cost, kLooksSaved));
  saved_ = Saved(end) + (reserve - reserve_) - cost;
  reserve_ = reserve;
  gap_ = std::max(kGap, Scaled(cost, 1 / pace_.share));
  began_ = begin;
  ended_ = end;
  next_ = begin + gap_;
  if (saved_ < Nanos(0)) next_ = std::max(next_, end + Scaled(-saved_, 1 / pace_.share));
  newest_ = reasons.newest;
  whole_ = reasons.whole;
  second_ = findings_.verdict_waits;
  findings_ = findings;
}

}  // namespace fathom::collector
