// Deep links: #/ , #/job/NAME , #/verdict/ID , #/nodes , #/node/NAME , #/losses , #/actions. What follows a "?"
// is for look.ts.
import type { Route } from "./page_state";

export function parseRoute(hash: string): Route {
  const [view, name] = hash.replace(/^#\/?/, "").replace(/\?.*$/s, "").split("/");
  if (view === "nodes") return { view: "nodes" };
  if (view === "losses") return { view: "losses" };
  if (view === "actions") return { view: "actions" };
  if (name) {
    try {
      const decoded = decodeURIComponent(name);
      if (view === "job") return { view: "job", job: decoded };
      if (view === "node") return { view: "node", node: decoded };
      if (view === "verdict") return { view: "verdict", id: decoded };
    } catch {
      // A broken escape in a pasted link: the start page is the answer to it.
    }
  }
  return { view: "home" };
}

// Signing in, and back to where the reader is now.
export function loginLink(): string {
  return `login?at=${encodeURIComponent(location.hash)}`;
}

export function jobLink(name: string): string {
  return `#/job/${encodeURIComponent(name)}`;
}

export function nodeLink(name: string): string {
  return `#/node/${encodeURIComponent(name)}`;
}

export function verdictLink(id: string): string {
  return `#/verdict/${encodeURIComponent(id)}`;
}
