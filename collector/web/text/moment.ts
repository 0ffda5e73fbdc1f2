// Clock times as the reader's own clock shows them; the exact UTC time goes into tooltips.
import { span } from "./quantity";

function two(value: number): string {
  return String(value).padStart(2, "0");
}

export function clock(unixMs: number): string {
  const t = new Date(unixMs);
  return `${two(t.getHours())}:${two(t.getMinutes())}:${two(t.getSeconds())}`;
}

// With the date where it is not today's.
export function moment(unixMs: number, nowMs: number): string {
  const t = new Date(unixMs);
  if (t.toDateString() === new Date(nowMs).toDateString()) return clock(unixMs);
  return `${t.getFullYear()}-${two(t.getMonth() + 1)}-${two(t.getDate())} ${clock(unixMs)}`;
}

export function ago(unixMs: number, nowMs: number): string {
  const s = (nowMs - unixMs) / 1e3;
  return s < 2 ? "just now" : `${span(s)} ago`;
}

export function utc(unixMs: number): string {
  return new Date(unixMs).toISOString().replace("T", " ").replace(/\.\d+Z$/, " UTC");
}
