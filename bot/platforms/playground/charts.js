// Small charts in SVG: bars, lines and a map. Every mark has its figures as text.

const NS = "http://www.w3.org/2000/svg";

export function svg(name, attributes = {}, ...children) {
  const node = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

function frame(width, height, label) {
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "chart", role: "group", "aria-label": label });
}

function named(node, text) {
  node.append(svg("title", {}, text));
  node.setAttribute("aria-label", text);
  node.setAttribute("role", "img");
  return node;
}

function round(value) {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1)));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value) || 1;
}

function dates(chart, days, x, bottom) {
  const every = Math.max(1, Math.ceil(days.length / 6));
  days.forEach((day, at) => {
    if (at % every === 0) chart.append(svg("text", { x: x(at), y: bottom + 14, "text-anchor": "middle" }, day.slice(5)));
  });
}

// Bars of parts on each other; `parts` is [[class, label]], `rows` [{day, <class>: number}].
export function stacked(rows, parts, width = 1080, height = 200) {
  const chart = frame(width, height, "Questions a day");
  const top = round(Math.max(...rows.map((row) => parts.reduce((sum, [key]) => sum + (row[key] || 0), 0)), 1));
  const left = 34, bottom = height - 20, step = (width - left) / rows.length;
  const y = (value) => bottom - (value / top) * (bottom - 10);
  for (const value of [0, top / 2, top]) {
    chart.append(svg("line", { x1: left, x2: width, y1: y(value), y2: y(value), class: value ? "axis" : "zero" }));
    if (Number.isInteger(value)) chart.append(svg("text", { x: left - 8, y: y(value) + 4, "text-anchor": "end" }, value));
  }
  rows.forEach((row, at) => {
    const told = parts.filter(([key]) => row[key]).map(([key, label]) => `${row[key]} ${label}`).join(", ");
    const day = named(svg("g", { class: "day", tabindex: "0" }), `${row.day}: ${told || "nothing"}`);
    let sum = 0;
    for (const [key] of parts) {
      const value = row[key] || 0;
      if (!value) continue;
      const bar = Math.min(step * 0.7, 40);
      day.append(svg("rect", { x: left + at * step + (step - bar) / 2, width: bar, y: y(sum + value), height: y(sum) - y(sum + value), class: key, rx: 2 }));
      sum += value;
    }
    if (sum) chart.append(day);
  });
  dates(chart, rows.map((row) => row.day), (at) => left + (at + 0.5) * step, bottom);
  return chart;
}

// Bars up and down from a line.
export function diverging(rows, width = 340, height = 170) {
  const chart = frame(width, height, "Votes a day");
  const top = round(Math.max(...rows.map((row) => Math.max(row.up, row.down)), 1));
  const middle = (height - 20) / 2, step = width / rows.length, bar = Math.min(step * 0.7, 22);
  rows.forEach((row, at) => {
    if (!row.up && !row.down) return;
    const day = named(svg("g", { class: "day", tabindex: "0" }), `${row.day}: ${row.up} good, ${row.down} bad`);
    const x = at * step + (step - bar) / 2, scale = (middle - 6) / top;
    if (row.up) day.append(svg("rect", { x, width: bar, y: middle - row.up * scale, height: row.up * scale, class: "up", rx: 2 }));
    if (row.down) day.append(svg("rect", { x, width: bar, y: middle, height: row.down * scale, class: "down", rx: 2 }));
    chart.append(day);
  });
  chart.append(svg("line", { x1: 0, x2: width, y1: middle, y2: middle, class: "zero" }));
  dates(chart, rows.map((row) => row.day), (at) => (at + 0.5) * step, height - 20);
  return chart;
}

// One or two lines over days; `series` is [[class, label, values]].
export function lines(days, series, unit, width = 340, height = 170) {
  const chart = frame(width, height, series.map(([, label]) => label).join(" and "));
  const top = round(Math.max(...series.flatMap(([, , values]) => values), 0.001) * 1000) / 1000;
  const left = 34, bottom = height - 20;
  const x = (at) => days.length < 2 ? (left + width) / 2 : left + 8 + (at / (days.length - 1)) * (width - left - 16);
  const y = (value) => bottom - (value / top) * (bottom - 10);
  for (const value of [0, top]) {
    chart.append(svg("line", { x1: left, x2: width, y1: y(value), y2: y(value), class: value ? "axis" : "zero" }));
    chart.append(svg("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, `${value}${unit}`));
  }
  series.forEach(([kind, label, values]) => {
    const points = values.map((value, at) => `${x(at)},${y(value)}`);
    chart.append(svg("polyline", { points: points.join(" "), class: `line ${kind}` }));
    const last = values.length - 1;
    chart.append(named(svg("circle", { cx: x(last), cy: y(values[last]), r: 3.5, class: kind ? "quote" : "reuse" }), `${label}, ${days[last]}: ${values[last]}${unit}`));
  });
  dates(chart, days, x, bottom);
  return chart;
}

// Topics as circles; `show` hears which one is pointed at.
export function map(topics, show, width = 1080, height = 320) {
  const chart = frame(width, height, "Topics");
  const most = Math.max(...topics.map((topic) => topic.size));
  for (const topic of topics) {
    const r = 7 + 17 * Math.sqrt(topic.size / most);
    const told = `${topic.label} (${topic.release === "*" ? "every release" : topic.release}, ${topic.size} remembered)`;
    const circle = svg("circle", { cx: 40 + (topic.x + 1) / 2 * (width - 80), cy: 36 + (1 - topic.y) / 2 * (height - 72), r, class: "topic", tabindex: "0" });
    named(circle, told);
    for (const event of ["mouseenter", "focus", "click"]) circle.addEventListener(event, () => show(told));
    chart.append(circle);
  }
  // names beside the largest topics, where no other name stands in the way
  const placed = [];
  for (const topic of [...topics].sort((one, other) => other.size - one.size).slice(0, 24)) {
    const text = topic.label.length > 34 ? `${topic.label.slice(0, 33)}…` : topic.label;
    const x = 40 + (topic.x + 1) / 2 * (width - 80), y = 36 + (1 - topic.y) / 2 * (height - 72);
    const r = 7 + 17 * Math.sqrt(topic.size / most), wide = text.length * 6.4;
    const left = x + r + 6 + wide < width ? x + r + 6 : x - r - 6 - wide;
    if (left < 0 || placed.some((box) => left < box.right && left + wide > box.left && Math.abs(y - box.y) < 16)) continue;
    placed.push({ left, right: left + wide, y });
    chart.append(svg("text", { x: left, y: y + 4, class: "label", "aria-hidden": "true" }, text));
  }
  return chart;
}
