// A command to be typed elsewhere, with a button that copies it.
import { button, element } from "./element";

const SAID_MS = 2000;

async function copy(text: string, from: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Without a secure context there is no clipboard: select it, so that one keystroke copies.
    const range = document.createRange();
    range.selectNodeContents(from);
    getSelection()?.removeAllRanges();
    getSelection()?.addRange(range);
    return false;
  }
}

// `keep` names it among its neighbours, so that focus survives a rebuild (Slot).
export function commandLine(text: string, keep = ""): HTMLElement {
  const command = element("code", { tabindex: 0, "data-keep": `command${keep}` }, text);
  const said = element("span", { class: "unseen", role: "status" });
  const copier = button("Copy", () => {
    void copy(text, command).then((copied) => {
      copier.textContent = copied ? "Copied" : "Selected";
      said.textContent = copied ? "Command copied" : "Command selected; press Ctrl+C";
      setTimeout(() => (copier.textContent = "Copy"), SAID_MS);
    });
  }, { class: "copy", "data-keep": `copy${keep}` });
  return element("div", { class: "command" }, command, copier, said);
}
