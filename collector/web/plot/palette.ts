// The colours of the heat map: a diverging scale, wait (blue) – nothing – late (orange).
//
// Blue and orange keep apart under protanopia, deuteranopia and tritanopia, and each arm changes
// steadily in lightness, so that it also reads in grey. Mixed in OKLab (B. Ottosson, 2020) so that
// equal steps look equal. One table a theme: away from the background means more. The late arm goes
// further than the wait arm: a thousand waiting victims must not outshine the one they wait for.

export const STEPS = 256; // per arm

export interface Palette {
  late: Uint32Array; // ABGR as ImageData holds it on little-endian machines
  wait: Uint32Array;
  gap: number;
  absent: number;
  absentLine: number;
}

interface Stops {
  zero: string;
  late: string[];
  wait: string[];
  gap: string;
  absent: string;
  absentLine: string;
}

const STOPS: Record<"light" | "dark", Stops> = {
  light: {
    zero: "#eef0f2", late: ["#f6c49a", "#e07b23", "#a63f00", "#6e2200"], wait: ["#c9dcee", "#92bce2", "#5a97cf", "#2f6fad"],
    gap: "#ffffff", absent: "#ffffff", absentLine: "#c3cad1",
  },
  dark: {
    zero: "#20262e", late: ["#70400f", "#c2651a", "#ff9a4d", "#ffd9b3"], wait: ["#1f3a52", "#265780", "#2f75ae", "#4b97d6"],
    gap: "#161a20", absent: "#161a20", absentLine: "#434c57",
  },
};

type Triple = [number, number, number];

function channels(hex: string): Triple {
  const value = parseInt(hex.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

function toLinear(channel: number): number {
  const c = channel / 255;
  return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
}

function fromLinear(value: number): number {
  const c = value <= 0.0031308 ? 12.92 * value : 1.055 * value ** (1 / 2.4) - 0.055;
  return Math.round(Math.min(1, Math.max(0, c)) * 255);
}

function toOklab(hex: string): Triple {
  const [r, g, b] = channels(hex).map(toLinear) as Triple;
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

function fromOklab([L, a, b]: Triple): Triple {
  const l = (L + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (L - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (L - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    fromLinear(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    fromLinear(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    fromLinear(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  ];
}

function packed([r, g, b]: Triple): number {
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

function ramp(stops: string[]): Uint32Array {
  const lab = stops.map(toOklab);
  return Uint32Array.from({ length: STEPS }, (_, i) => {
    const at = (i / (STEPS - 1)) * (lab.length - 1);
    const k = Math.min(lab.length - 2, Math.floor(at));
    const from = lab[k]!;
    const to = lab[k + 1]!;
    return packed(fromOklab(from.map((value, c) => value + (to[c]! - value) * (at - k)) as Triple));
  });
}

const made = new Map<string, Palette>();

export function palette(theme: "light" | "dark"): Palette {
  const known = made.get(theme);
  if (known) return known;
  const stops = STOPS[theme];
  const built: Palette = {
    late: ramp([stops.zero, ...stops.late]),
    wait: ramp([stops.zero, ...stops.wait]),
    gap: packed(channels(stops.gap)),
    absent: packed(channels(stops.absent)),
    absentLine: packed(channels(stops.absentLine)),
  };
  made.set(theme, built);
  return built;
}
