// The widget's few icons, as symbols that `icon` of dom.js refers to.

const SVG = "http://www.w3.org/2000/svg";
const PATHS = {
  up: "M7 11v9H4.500A1.500 1.500 0 0 1 3 18.500v-6A1.500 1.500 0 0 1 4.500 11zl4-8c1.700 0 2.800 1.200 2.600 2.900L13.200 9h5.200a2 2 0 0 1 2 2.400l-1.300 7a2 2 0 0 1-2 1.600H7",
  down: "M17 13V4h2.500A1.500 1.500 0 0 1 21 5.500v6a1.500 1.500 0 0 1-1.500 1.500zl-4 8c-1.700 0-2.800-1.200-2.600-2.900l.400-3.100H5.600a2 2 0 0 1-2-2.400l1.300-7a2 2 0 0 1 2-1.600H17",
  send: "M4 12 3 4.500 21 12 3 19.500zh8",
  close: "m6 6 12 12M18 6 6 18",
  again: "M3.500 12a8.500 8.500 0 1 0 2.700-6.200L3.500 8.300M3.500 3.800v4.500H8",
  copy: "M9 9h10v11H9zM5.500 15.500h-1V6.500a2 2 0 0 1 2-2h9v1",
};

export function sprite() {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "sprite");
  svg.setAttribute("aria-hidden", "true");
  for (const [name, drawn] of Object.entries(PATHS)) {
    const symbol = document.createElementNS(SVG, "symbol");
    const path = document.createElementNS(SVG, "path");
    symbol.setAttribute("id", `i-${name}`);
    symbol.setAttribute("viewBox", "0 0 24 24");
    path.setAttribute("d", drawn);
    symbol.append(path);
    svg.append(symbol);
  }
  return svg;
}
