// Light and dark: the system's choice unless the reader chose; the choice is remembered.
import { button } from "./element";

const KEY = "fathom.theme";
type Theme = "light" | "dark";

const darkSystem = window.matchMedia("(prefers-color-scheme: dark)");

function chosen(): Theme | null {
  try {
    const kept = localStorage.getItem(KEY);
    return kept === "light" || kept === "dark" ? kept : null;
  } catch {
    return null;
  }
}

export function currentTheme(): Theme {
  return chosen() ?? (darkSystem.matches ? "dark" : "light");
}

export function applyTheme(): void {
  document.documentElement.dataset.theme = currentTheme();
}

function choose(theme: Theme): void {
  const followsSystem = theme === (darkSystem.matches ? "dark" : "light");
  try {
    if (followsSystem) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, theme);
  } catch {
    // Without storage the choice lasts as long as the page.
  }
  document.documentElement.dataset.theme = theme;
}

export function themeButton(onChange: () => void): HTMLButtonElement {
  const label = (): string => (document.documentElement.dataset.theme === "dark" ? "Light" : "Dark");
  const node = button(label(), () => {
    choose(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
    tell();
  }, { class: "quiet theme" });
  const tell = (): void => {
    node.textContent = label();
    node.setAttribute("aria-label", `Switch to the ${label().toLowerCase()} theme`);
    onChange();
  };
  darkSystem.addEventListener("change", () => {
    applyTheme();
    tell();
  });
  node.setAttribute("aria-label", `Switch to the ${label().toLowerCase()} theme`);
  return node;
}

export function color(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
