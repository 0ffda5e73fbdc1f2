// Jobs with a known fault, as the collector's API would tell of them. Deterministic: the same
// scenario gives the same bytes, whatever the clock; `now` comes from the caller.
export const BASE_S = 0.201;

function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

// One iteration of all ranks, in µs. A culprit comes `delayUs` late and the others wait for it.
function iterationOf(scenario, index) {
  const next = random(index * 7919 + scenario.ranks);
  const slow = scenario.fault !== null && index >= scenario.onset && index < (scenario.recovered ?? Infinity);
  const delay = slow ? Math.round(scenario.delayUs * (0.92 + 0.16 * next())) : 0;
  const row = { late: [], wait: [], cpu: [], blocked: [], duration: 0, irregular: slow ? 1 : 0 };
  for (let rank = 0; rank < scenario.ranks; rank++) {
    const noise = Math.round(3000 * next());
    const guilty = slow && scenario.culprits.includes(rank);
    row.late.push(guilty ? delay : Math.round(noise / 3));
    row.wait.push(guilty ? Math.round(noise / 4) : delay + noise);
    row.cpu.push(Math.round(BASE_S * 8e5 + noise));
    row.blocked.push(guilty ? 2000 : delay + 9000 + noise);
  }
  row.duration = Math.round(BASE_S * 1e6 * (0.985 + 0.03 * next())) + delay;
  if (!slow && index % 97 === 40) {
    row.duration = Math.round(row.duration * 1.4);
    row.irregular = 1;
  }
  return row;
}

export class Scenario {
  constructor(options) {
    Object.assign(this, {
      name: "train", ranks: 4, nodes: 1, culprits: [2], fault: "host_slow", onset: 204, delayUs: 212_000,
      last: 380, state: null, slow: true, signals: null, silent: [], abstained: [], recovered: null, ended: false,
    }, options);
    this.verdicts = this.fault && this.convicted !== false ? [verdictOf(this)] : [];
  }

  get beginMs() {
    return this.startMs ?? Date.UTC(2026, 10, 21, 2, 58, 30);
  }

  // Moves the whole job in time, so that its last iteration was at `unixMs`.
  endAt(unixMs) {
    this.startMs = this.beginMs + unixMs - this.timeMs(this.last);
    for (const verdict of [...this.verdicts, ...(this.history ?? [])]) {
      for (const point of [verdict.since, verdict.until]) if (point) point.time_unix_ns = `${this.timeMs(Number(point.iteration))}000000`;
    }
  }

  timeMs(index) {
    const slow = this.fault ? Math.max(0, index - this.onset) : 0;
    return Math.round(this.beginMs + index * BASE_S * 1e3 + slow * this.delayUs / 1e3);
  }

  node(rank) {
    return `${this.prefix ?? "gpu"}-${String(Math.floor(rank / Math.ceil(this.ranks / this.nodes)) + 1).padStart(2, "0")}`;
  }

  job() {
    const slow = this.fault !== null && !this.recovered;
    const state = this.state ?? (this.ended ? "ended" : slow ? "slow" : "running");
    return {
      name: this.name, ranks: this.ranks, world_size: this.ranks, nodes: this.nodes, state, iteration: this.last,
      iteration_s: slow ? BASE_S + this.delayUs / 1e6 : BASE_S, baseline_s: BASE_S,
      slowdown: slow ? 1 + this.delayUs / 1e6 / BASE_S : 1, verdicts: this.active().length,
      sentence: this.active()[0]?.sentence ?? (slow ? `An iteration takes 2.05 times as long as before (0.413 s); looking for the reason.`
        : `Nothing holds the job back: ${BASE_S} s an iteration.`),
      last_seen_unix_ns: this.timeMs(this.last) * 1e6,
    };
  }

  active() {
    return this.verdicts.filter((verdict) => !verdict.until);
  }

  detail() {
    return {
      ...this.job(),
      groups: this.groups(),
      rank_info: [...Array(this.ranks).keys()].map((rank) => ({ rank, node: this.node(rank), pid: 4200 + rank, state: "running" })),
    };
  }

  // The world, and with `grid` = {pp, dp, tp} the groups of each dimension; tensor-parallel ranks are
  // neighbours, pipeline stages lie furthest apart.
  groups() {
    const world = { id: "1", name: "default_pg", description: "world", kind: "world", ranks: [...Array(this.ranks).keys()] };
    if (!this.grid) return [world];
    const { pp, dp, tp } = this.grid;
    const rank = (p, d, t) => (p * dp + d) * tp + t;
    const range = (n) => [...Array(n).keys()];
    const group = (kind, name, ranks) => ({ id: `${kind}-${ranks[0]}`, name, description: "", kind, ranks });
    return [world,
      ...range(pp).flatMap((p) => range(dp).map((d) => group("tensor", `tp ${p}.${d}`, range(tp).map((t) => rank(p, d, t))))),
      ...range(pp).flatMap((p) => range(tp).map((t) => group("data", `dp ${p}.${t}`, range(dp).map((d) => rank(p, d, t))))),
      ...range(dp).flatMap((d) => range(tp).map((t) => group("pipeline", `pp ${d}.${t}`, range(pp).map((p) => rank(p, d, t))))),
    ];
  }

  // A culprit comes late in each communicator it is in, the other members wait there.
  communicators() {
    const fault = this.active().length > 0 ? this.delayUs : 0;
    return {
      job: this.name, first: this.last - 21, last: this.last - 2, iterations: 20, links: this.links ?? [],
      groups: this.groups().map((group) => {
        const hit = group.ranks.some((rank) => this.culprits.includes(rank));
        const quiet = (this.quiet ?? []).includes(group.id);
        return {
          ...group, members_known: true, ops: quiet ? 0 : group.kind === "world" ? 1 : 12,
          late_us: group.ranks.map((rank) => (quiet ? null : this.culprits.includes(rank) ? fault : 300)),
          wait_us: group.ranks.map((rank) => (quiet ? null : hit && !this.culprits.includes(rank) ? fault : 900)),
        };
      }),
    };
  }

  // The iteration asked for, or two that are worth a picture: before the fault and in it.
  pictures(iterations, rank) {
    const worth = [[Math.max(0, this.onset + 4), "slow"], [Math.max(0, this.onset - 3), "before"], [this.last - 2, "newest"]];
    const chosen = iterations.length === 0 ? worth : iterations.map((index) => [index, "chosen"]);
    const ranks = [...new Set([...(rank === null ? [] : [rank]), ...this.culprits, ...Array(Math.min(8, this.ranks)).keys()])].sort((a, b) => a - b);
    const one = ([index, why]) => {
      const slow = index >= this.onset && this.fault ? this.delayUs : 0;
      const line = (r) => {
        const late = this.culprits.includes(r) ? slow : 0;
        const begin = 120_000 + late;
        return { rank: r, cut: false, stretches: [], ops: [[0, 0, begin, 160_000 + slow, slow - late, 8 << 20, 0], [1, 0, 165_000 + slow, 190_000 + slow, 0, 4096, 0]] };
      };
      return { index, why, duration_us: BASE_S * 1e6 + slow, aligned: this.nodes > 1, whole: ranks.length === this.ranks, ranks: ranks.map(line) };
    };
    const kept = [...Array(40).keys()].map((i) => this.last - 41 + i);
    return { job: this.name, asked: 0, kept, wanted: chosen.map(([index, why]) => ({ index, why })), pictures: { kinds: ["all_reduce", "broadcast"], groups: ["world"], iterations: chosen.map(one) } };
  }

  iterations(after, limit) {
    const first = Math.max(0, after + 1, this.last - limit + 1);
    const answer = {
      job: this.name, first, iterations: [], begin_unix_ms: [], duration_us: [], irregular: [],
      onset: this.fault && !this.recovered ? this.onset : null, ranks: [...Array(this.ranks).keys()], late_us: [], wait_us: [], cpu_us: [], blocked_us: [],
    };
    for (let index = first; index <= this.last; index++) {
      const row = iterationOf(this, index);
      const hide = (values) => values.map((value, rank) => (this.silent.includes(rank) && index > this.last - 60 ? null : value));
      answer.iterations.push(index);
      answer.begin_unix_ms.push(this.timeMs(index));
      answer.duration_us.push(row.duration);
      answer.irregular.push(row.irregular);
      answer.late_us.push(hide(row.late));
      answer.wait_us.push(hide(row.wait));
      answer.cpu_us.push(hide(row.cpu));
      answer.blocked_us.push(hide(row.blocked));
    }
    return answer;
  }

  health() {
    return {
      ranks: [...Array(this.ranks).keys()].map((rank) => ({
        rank, node: this.node(rank), ...(this.gpus ? { gpu: { number: rank % 8, bus_id: busId(rank), uuid: "" } } : {}), pid: 4200 + rank, state: this.silent.includes(rank) ? "stopped" : "running",
        last_event_age_s: this.silent.includes(rank) ? 24.5 : 0.2, records_total: 1000 + this.last * 24,
        records_lost: rank === this.losing ? 120 : 0, records_torn: 0, records_invalid: 0, tracer_drops: {},
      })),
      agents: [...Array(this.nodes).keys()].map((i) => ({ node: this.node(i * Math.ceil(this.ranks / this.nodes)), connected: true, last_seen_unix_ns: this.timeMs(this.last) * 1e6, version: "0.1.0" })),
      signals: this.signals ?? [
        { name: "collective times", state: "on", hides: "" },
        { name: "thread cpu time", state: "on", hides: "" },
        { name: "process state", state: "on", hides: "" },
        { name: "gpu kernels", state: "off", hides: "which kernel is slow" },
        { name: "link counters", state: "off", hides: "a slow link behind slow communication" },
      ],
    };
  }

  // As protobuf prints it: 64-bit integers are strings.
  report() {
    const irregular = this.fault ? this.last - this.onset + 1 : 3;
    return {
      schema: "fathom.v1.Report",
      job: { name: this.name, ranks: this.ranks, nodes: this.nodes, source: "live", groups: [] },
      iterations: { count: String(this.last + 1), median_s: BASE_S, irregular: Array.from({ length: Math.min(irregular, 50) }, (_, i) => ({ index: String(this.onset + i), duration_s: 0.413, kind: "degradation" })) },
      verdicts: this.active(), ranks: [], abstained: this.abstained, ...(this.ledger ? { job_ledger: this.ledger } : {}),
      step: { sentence: "An iteration takes 200 ms: computing 91 %.", advice: "Only faster kernels would help.", missing: "" },
      coverage: { signals: this.health().signals, ranks_missing: [], records_dropped: "0" },
    };
  }
}

const busId = (rank) => `0000:${(0x1b + 16 * (rank % 8)).toString(16).toUpperCase()}:00.0`;

function verdictOf(s) {
  const others = [...Array(s.ranks).keys()].filter((rank) => !s.culprits.includes(rank));
  const [rank] = s.culprits;
  const delay = s.delayUs / 1e6;
  const lost = (s.last - s.onset) * delay * s.ranks / 3600;
  return {
    id: `${s.name}-v1`, job: s.name, grade: s.grade ?? "established", cause: s.fault, class: "noncommunication_slow", role: "culprit",
    entity: { type: "rank", ranks: s.culprits, node: s.node(rank), ...(s.gpus ? { gpu: busId(rank) } : {}) },
    sentence: s.sentence ?? `Rank ${rank} on ${s.node(rank)} holds the job back: its host code takes ${Math.round(s.delayUs / 1e3)} ms longer than its peers' in every iteration.`,
    since: { iteration: String(s.onset), time_unix_ns: `${s.timeMs(s.onset)}000000` },
    cost: { slowdown: 1 + delay / BASE_S, seconds_per_iteration: delay, gpu_hours: lost },
    owner: "algorithm", victims: others,
    evidence: [
      { statement: `Rank ${rank} reaches the all-reduce later than the median of its peers`, value: delay, unit: "s", reference: 0.003, source: "collective times" },
      { statement: "Irregular iterations in which it came last", value: 176, unit: "iterations", reference: 177, source: "collective times" },
      { statement: `CPU time of rank ${rank}'s training thread, against its peers`, value: 0.161, unit: "s", reference: 0.16, source: "thread cpu time" },
    ],
    counter_evidence: [
      { statement: "Run-queue wait of the thread is as it was", value: 0.4, unit: "ms", reference: 0.4, source: "scheduler" },
    ],
    would_change: ["Another rank being late in the communicators that rank waits in", "The same delay on all ranks of the node (then it is the host)"],
    action: { text: "Look at what the training thread does between backward and the optimizer step.", command: `fathom explain ${s.name}-v1 --stacks --rank ${rank}` },
  };
}

export function closedVerdict(s, id, agoIterations) {
  const since = s.last - agoIterations;
  return {
    ...verdictOf({ ...s, fault: "gc", culprits: [1], onset: since, delayUs: 90_000, fault_: 0, node: s.node.bind(s), timeMs: s.timeMs.bind(s) }),
    id, cause: "gc", grade: "supported", sentence: "Rank 1 paused for Python garbage collection in 6 of 40 iterations.",
    until: { iteration: String(since + 40), time_unix_ns: `${s.timeMs(since + 40)}000000` }, closed_because: "recovered",
  };
}

// What fathom-cordon would say of the verdict of `s`, in this phase.
export function ledgerOf(s, phase, more = {}) {
  const [verdict] = s.verdicts;
  const key = { node: verdict.entity.node, entity: `rank ${s.culprits[0]}`, cause: verdict.cause, verdict: verdict.id, job: s.name, mode: "approve" };
  const action = { ...key, id: "a0123456789ab", phase, actor: "fathom-cordon", text: "", changed_unix_ns: s.timeMs(s.last) * 1e6, evidence: verdict.sentence, ...more.action };
  const { action: _, hindrance = "", ...ledger } = more;
  return {
    state: "on", why: "", where: "http://127.0.0.1:7073", known_unix_ns: s.timeMs(s.last) * 1e6, backend: "slurm", paused: "", tripped: "", held: 0,
    last_look_unix_ns: 0, problems: [], you: { name: "", changes: "off" }, actions: [action], plan: [{ ...key, action: action.id, phase, hindrance, evidence: verdict.sentence }], ...ledger,
  };
}

export function scenarios() {
  const four = new Scenario({ name: "llama-ft-4", losing: 3, abstained: [{ question: "whether the network is slow as well", missing: "link counters of gpu-01" }] });
  four.history = [closedVerdict(four, "llama-ft-4-v0", 320)];
  const thousand = new Scenario({ name: "moe-pretrain-1000", prefix: "h100", ranks: 1000, nodes: 125, culprits: [617], onset: 300, last: 420, delayUs: 84_000, grade: "supported", fault: "compute_slow" });
  const healthy = new Scenario({ name: "healthy-8", prefix: "l40", ranks: 8, nodes: 1, fault: null, culprits: [] });
  const hung = new Scenario({ name: "hung-16", prefix: "a100", ranks: 16, nodes: 2, culprits: [11], fault: "process_stopped", state: "hung", silent: [11], onset: 375, last: 380,
    sentence: "Rank 11 on a100-02 is stopped (SIGSTOP), and 15 ranks wait for it.", grade: "established" });
  const puzzled = new Scenario({ name: "puzzled-8", ranks: 8, fault: "unknown", culprits: [], convicted: false,
    abstained: [{ question: "who holds the job back", missing: "rows of rank 5: its agent is away" }] });
  const grid = new Scenario({ name: "grid-32", prefix: "b200", ranks: 32, nodes: 4, grid: { pp: 4, dp: 4, tp: 2 }, culprits: [13], fault: "compute_slow", onset: 320, quiet: ["pipeline-3"] });
  return [four, thousand, healthy, hung, puzzled, grid];
}
