// The key to the heat map's colours, with numbers.
import { palette } from "../../plot/palette";
import { seconds } from "../../text/quantity";
import { element } from "./element";
import { currentTheme } from "./theme";

const WIDTH_PX = 220;
const HEIGHT_PX = 10;

export class Legend {
  readonly node: HTMLElement;
  private readonly canvas = element("canvas", { width: WIDTH_PX, height: HEIGHT_PX, "aria-hidden": "true" });
  private readonly left = element("span", { class: "least" });
  private readonly right = element("span");
  private shown = "";

  constructor() {
    this.node = element("div", { class: "legend" },
      element("span", { class: "end wait" }, element("b", {}, "waited"), this.left), this.canvas,
      element("span", { class: "end late" }, this.right, element("b", {}, "came late")),
      element("span", { class: "end absent" }, element("i", { "aria-hidden": "true" }), "no report"));
  }

  show(scaleS: number): void {
    const theme = currentTheme();
    const key = `${scaleS} ${theme}`;
    if (key === this.shown) return;
    this.shown = key;
    this.left.textContent = `≥ ${seconds(scaleS)}`;
    this.right.textContent = `≥ ${seconds(scaleS)}`;
    const { late, wait } = palette(theme);
    const image = new ImageData(WIDTH_PX, HEIGHT_PX);
    const pixels = new Uint32Array(image.data.buffer);
    const half = WIDTH_PX / 2;
    for (let i = 0; i < pixels.length; i++) {
      const x = i % WIDTH_PX;
      const side = x < half ? wait : late;
      const share = Math.abs(x + 0.5 - half) / half;
      pixels[i] = side[Math.min(side.length - 1, Math.floor(share * side.length))]!;
    }
    this.canvas.getContext("2d")!.putImageData(image, 0, 0);
  }
}
