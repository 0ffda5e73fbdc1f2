// What the hardware of a job's nodes says, decoded, and which of it is worth a strip.
import { boolean, number, numbers, object, objects, list, text, type Json } from "../api/json";

export interface Point {
  ms: number; // Unix time by the clock of the node
  value: number;
}

export interface Series {
  metric: string;
  unit: string;
  counter: boolean;
  note: string;
  points: Point[]; // where the value changed
}

export interface Device {
  node: string;
  kind: string;
  name: string;
  ranks: number[]; // that drive the GPU, or whose process it is
  series: Series[];
}

export interface HardwareSource {
  node: string;
  name: string;
  state: string;
  reason: string;
}

export interface Hardware {
  devices: Device[];
  sources: HardwareSource[];
  newestMs: number;
}

// One metric of one kind of device: the lines of all devices, the culprit's marked.
export interface Strip {
  title: string;
  unit: string;
  lines: { label: string; culprit: boolean; points: Point[] }[];
}

function decodePoints(value: unknown): Point[] {
  return list(value).map((item) => ({ ms: number(list(item)[0]), value: number(list(item)[1]) }));
}

function decodeSeries(item: Json): Series {
  return {
    metric: text(item.metric), unit: text(item.unit), counter: boolean(item.counter), note: text(item.note),
    points: decodePoints(item.points),
  };
}

export function decodeHardware(value: unknown): Hardware {
  const nodes = objects(object(value).nodes);
  return {
    devices: nodes.flatMap((node) => objects(node.devices).map((device) => ({
      node: text(node.node), kind: text(device.kind), name: text(device.name), ranks: numbers(device.ranks),
      series: objects(device.series).map(decodeSeries),
    }))),
    sources: nodes.flatMap((node) => objects(node.sources).map((source) => ({
      node: text(node.node), name: text(source.name), state: text(source.state), reason: text(source.reason),
    }))),
    newestMs: Math.max(0, ...nodes.map((node) => number(node.newest_ms))),
  };
}

// In the order in which they are shown; counters only where one rose.
const SHOWN: [kind: string, metric: string, title: string][] = [
  ["gpu", "sm_clock", "SM clock"], ["gpu", "memory_clock", "memory clock of the GPU"], ["gpu", "temperature", "temperature of the GPU"],
  ["gpu", "power", "power of the GPU"], ["gpu", "other_processes", "processes of others on the GPU"], ["gpu", "xid_errors", "Xid errors"],
  ["gpu", "ecc_uncorrected", "uncorrected memory errors"], ["gpu", "pcie_width", "PCIe lanes"], ["gpu", "nvlinks_up", "NVLinks up"],
  ["process", "held_back", "held back by the CPU limit"],
  ["rdma", "link_downed", "RDMA link losses"], ["rdma", "symbol_errors", "RDMA symbol errors"],
  ["network", "carrier_changes", "carrier changes"], ["network", "link_errors", "network errors"],
  ["memory", "pressure_memory", "waits for memory"], ["memory", "pressure_io", "waits for storage"],
  ["memory", "swapped_pages", "pages swapped"], ["disk", "disk_busy", "disk busy"],
  ["cpu", "pressure_cpu", "waits for a core"], ["cpu", "cpu_clock", "clock of the processors"], ["cpu", "cpu_throttles", "thermal events of the processors"],
];
const STEADY = ["sm_clock", "temperature", "power", "pressure_memory", "pressure_io", "pressure_cpu"]; // shown also where nothing moves

function isCulprit(device: Device, ranks: Set<number>, nodes: Set<string>): boolean {
  return device.kind === "gpu" || device.kind === "process" ? device.ranks.some((rank) => ranks.has(rank)) : nodes.has(device.node);
}

export function strips(hardware: Hardware, ranks: Set<number>, nodes: Set<string>): Strip[] {
  const made: Strip[] = [];
  for (const [kind, metric, title] of SHOWN) {
    const lines: Strip["lines"] = [];
    let unit = "";
    for (const device of hardware.devices) {
      const series = device.kind === kind ? device.series.find((one) => one.metric === metric) : undefined;
      if (!series || series.points.length === 0) continue;
      unit = series.unit;
      const first = series.counter ? series.points[0]!.value : 0; // a counter is told as its rise
      lines.push({
        label: `${device.node} ${device.name}`, culprit: isCulprit(device, ranks, nodes),
        points: series.points.map(({ ms, value }) => ({ ms, value: value - first })),
      });
    }
    const moves = lines.some((line) => line.points.some((point) => point.value !== line.points[0]!.value));
    if (lines.length > 0 && (moves || STEADY.includes(metric))) made.push({ title, unit, lines });
  }
  return made;
}
