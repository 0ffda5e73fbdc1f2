// Numbers with their units, short and the same everywhere on the page.

const grouped = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

export function count(value: number): string {
  return grouped.format(value);
}

// Three significant digits, never in exponent form.
export function decimal(value: number): string {
  const size = Math.abs(value);
  if (size >= 1000) return grouped.format(value);
  if (size >= 100) return value.toFixed(0);
  const digits = size >= 10 ? 1 : size >= 1 || size === 0 ? 2 : size >= 0.1 ? 2 : 3;
  return value.toFixed(digits).replace(/\.?0+$/, "") || "0";
}

export function seconds(value: number): string {
  const size = Math.abs(value);
  if (size === 0) return "0 ms";
  if (size < 1e-3) return `${Math.round(value * 1e6)} µs`;
  if (size < 0.01) return `${(value * 1e3).toFixed(1)} ms`;
  if (size < 0.9995) return `${Math.round(value * 1e3)} ms`;
  if (size < 10) return `${value.toFixed(2)} s`;
  if (size < 60) return `${value.toFixed(1)} s`;
  return span(value);
}

// A stretch of time in its two largest units.
export function span(value: number): string {
  const s = Math.max(0, Math.round(value));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  return `${Math.floor(s / 86400)} d ${Math.floor((s % 86400) / 3600)} h`;
}

export function times(value: number): string {
  return `${value.toFixed(2)}×`;
}

export function bytes(value: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let at = 0;
  for (; value >= 1024 && at < units.length - 1; at++) value /= 1024;
  return `${decimal(value)} ${units[at]}`;
}

export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

// Evidence carries its unit as text; times are scaled, everything else is written as it comes.
export function measured(value: number, unit: string): string {
  if (unit === "s") return seconds(value);
  if (unit === "ms") return seconds(value / 1e3);
  if (unit === "us" || unit === "µs") return seconds(value / 1e6);
  if (unit === "ns") return seconds(value / 1e9);
  if (unit === "ratio") return decimal(value);
  if (unit === "x" || unit === "×" || unit === "times") return times(value);
  return unit === "" || unit === "1" ? decimal(value) : `${decimal(value)} ${unit}`;
}
