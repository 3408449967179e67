// Charts over days, in SVG: bars, bars up and down, lines. Each day is one stop for pointer and arrow keys.

const NS = "http://www.w3.org/2000/svg";
const LEFT = 38; // room for the numbers at the side
const BELOW = 22; // room for the dates
const ABOVE = 10;
const STEPS = [1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10];
const short = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", timeZone: "UTC" });
const long = new Intl.DateTimeFormat(undefined, { weekday: "long", day: "numeric", month: "long", timeZone: "UTC" });

export function svg(name, attributes = {}, ...children) {
  const node = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

export const dayName = (day) => long.format(new Date(`${day}T00:00Z`));

// The least round number that is not below any of the values.
function top(values, least) {
  const most = Math.max(...values, least);
  const power = 10 ** Math.floor(Math.log10(most));
  return STEPS.map((step) => +(step * power).toPrecision(3)).find((step) => step >= most);
}

// One chart: `marks(x, y, wide)` returns what is drawn; `told(row)` returns [[class, label, value]] of a day.
function chart({ label, rows, width, height, low = 0, high, unit = "", ticks, marks, told, name = (row) => dayName(row.day), tick = (row) => short.format(new Date(`${row.day}T00:00Z`)) }) {
  const bottom = height - BELOW;
  const step = (width - LEFT) / rows.length;
  const x = (at) => LEFT + (at + 0.5) * step;
  const y = (value) => bottom - ((value - low) / (high - low)) * (bottom - ABOVE);
  const drawn = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, class: "chart", role: "group", "aria-label": label });
  for (const value of ticks) {
    drawn.append(
      svg("line", { x1: LEFT, x2: width, y1: y(value), y2: y(value), class: value === Math.max(low, 0) ? "zero" : "axis" }),
      svg("text", { x: LEFT - 8, y: y(value) + 4, "text-anchor": "end", "aria-hidden": "true" }, `${Math.abs(value).toLocaleString()}${value === high ? unit : ""}`));
  }
  const every = Math.max(1, Math.ceil(rows.length / Math.max(2, Math.floor((width - LEFT) / 90))));
  const shade = svg("rect", { y: ABOVE, width: step, height: bottom - ABOVE, class: "shade", visibility: "hidden" });
  drawn.append(shade, svg("g", { "aria-hidden": "true" }, ...marks(x, y, step)));
  rows.forEach((row, at) => {
    if ((rows.length - 1 - at) % every === 0) {
      const anchor = at === rows.length - 1 && step < 40 ? "end" : "middle";
      drawn.append(svg("text", { x: anchor === "end" ? width : x(at), y: bottom + 17, "text-anchor": anchor, "aria-hidden": "true" }, tick(row)));
    }
    const parts = told(row);
    const said = parts.length ? parts.map(([, name, value]) => `${value} ${name}`).join(", ") : "nothing";
    const stop = svg("rect", { x: LEFT + at * step, y: 0, width: step, height, class: "stop", role: "img", tabindex: at === rows.length - 1 ? "0" : "-1", "aria-label": `${name(row)}: ${said}` });
    stop.shown = () => {
      shade.setAttribute("x", LEFT + at * step);
      shade.setAttribute("visibility", "visible");
      return { title: name(row), parts, at: x(at) / width };
    };
    stop.hidden_ = () => shade.setAttribute("visibility", "hidden");
    drawn.append(stop);
  });
  return drawn;
}

const half = (value) => (Number.isInteger(value / 2) || value < 2 ? [0, +(value / 2).toPrecision(3), value] : [0, value]);

// Bars of parts on each other; `parts` is [[key, label]], `rows` [{day, <key>: number}].
// `name` says what a row is where it is no day.
export function stacked(label, rows, parts, width, height = 230, name = undefined) {
  const high = top(rows.map((row) => parts.reduce((sum, [key]) => sum + (row[key] || 0), 0)), 4);
  const marks = (x, y, step) => rows.flatMap((row, at) => {
    const wide = Math.min(step * 0.72, 34);
    const made = [];
    let sum = 0;
    for (const [key] of parts) {
      const value = row[key] || 0;
      if (!value) continue;
      made.push(svg("rect", { x: x(at) - wide / 2, width: wide, y: y(sum + value), height: Math.max(y(sum) - y(sum + value) - 1, 1), class: key, rx: 1.5 }));
      sum += value;
    }
    return made;
  });
  const told = (row) => parts.filter(([key]) => row[key]).map(([key, name]) => [key, name, row[key]]);
  return chart({ label, rows, width, height, high, ticks: half(high), marks, told, name, tick: name });
}

// Bars up and down from a line; `parts` is the part above and the part below.
export function diverging(label, rows, [above, below], width, height = 190) {
  const high = top(rows.map((row) => row[above[0]]), 2);
  const low = -top(rows.map((row) => row[below[0]]), 2);
  const marks = (x, y, step) => rows.flatMap((row, at) => {
    const wide = Math.min(step * 0.72, 22);
    const bar = ([key], from, to) => row[key] > 0 && svg("rect", { x: x(at) - wide / 2, width: wide, y: from, height: Math.max(to - from, 1), class: key, rx: 1.5 });
    return [bar(above, y(row[above[0]]), y(0) - 0.5), bar(below, y(0) + 0.5, y(-row[below[0]]))].filter(Boolean);
  });
  const told = (row) => [above, below].filter(([key]) => row[key]).map(([key, name]) => [key, name, row[key]]);
  return chart({ label, rows, width, height, low, high, ticks: [low, 0, high], marks, told });
}

// Lines over days, null where there is nothing; `series` is [[class, label, key]]. `filled` puts an area
// under the first line, or between the first two.
export function lines(label, rows, series, { unit = "", filled = true, least = 1 } = {}, width, height = 190) {
  const known = (key) => rows.map((row, at) => [at, row[key]]).filter(([, value]) => value !== null && value !== undefined);
  const high = top(series.flatMap(([, , key]) => known(key).map(([, value]) => value)), least);
  const marks = (x, y) => {
    const path = (points) => points.map(([at, value]) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
    const made = [];
    const first = known(series[0][2]);
    if (filled && first.length > 1) {
      const other = series[1] ? known(series[1][2]).toReversed() : [[first.at(-1)[0], 0], [first[0][0], 0]];
      made.push(svg("polygon", { points: path([...first, ...other]), class: `area ${series[0][0]}` }));
    }
    for (const [kind, , key] of series) {
      const points = known(key);
      if (points.length > 1) made.push(svg("polyline", { points: path(points), class: `line ${kind}` }));
      if (points.length) made.push(svg("circle", { cx: x(points.at(-1)[0]), cy: y(points.at(-1)[1]), r: 3.5, class: `end ${kind}` }));
    }
    return made;
  };
  const told = (row) => series.filter(([, , key]) => row[key] !== null && row[key] !== undefined).map(([kind, name, key]) => [kind, name, `${row[key].toLocaleString()}${unit}`]);
  return chart({ label, rows, width, height, high, unit, ticks: half(high), marks, told });
}

// A line without axes, for a tile.
export function spark(values, width = 120, height = 34) {
  const most = Math.max(...values, 1e-9);
  if (values.length < 2) return svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "spark", "aria-hidden": "true" }); // one day is no line
  const points = values.map((value, at) => `${((at / (values.length - 1)) * width).toFixed(1)},${(height - 2 - (value / most) * (height - 5)).toFixed(1)}`);
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", class: "spark", "aria-hidden": "true" },
    svg("polygon", { points: `0,${height} ${points.join(" ")} ${width},${height}`, class: "area" }),
    svg("polyline", { points: points.join(" "), class: "line" }));
}

// A ring of shares; `parts` is [[class, label, value]].
export function ring(label, parts, middle, size = 168) {
  const whole = parts.reduce((sum, [, , value]) => sum + value, 0);
  const radius = size / 2 - 13;
  const round = 2 * Math.PI * radius;
  let sum = 0;
  const arcs = parts.filter(([, , value]) => value).map(([kind, , value]) => {
    const long_ = (value / whole) * round;
    const arc = svg("circle", {
      cx: size / 2, cy: size / 2, r: radius, class: `arc ${kind}`, "stroke-dasharray": `${Math.max(long_ - 2, 1)} ${round}`,
      "stroke-dashoffset": -sum, transform: `rotate(-90 ${size / 2} ${size / 2})`,
    });
    sum += long_;
    return arc;
  });
  const said = parts.map(([, name, value]) => `${Math.round(100 * value / Math.max(whole, 1))}% ${name}`).join(", ");
  return svg("svg", { viewBox: `0 0 ${size} ${size}`, class: "ring", role: "img", "aria-label": `${label}: ${said}` },
    svg("circle", { cx: size / 2, cy: size / 2, r: radius, class: "arc none" }), ...arcs,
    svg("text", { x: size / 2, y: size / 2 + 3, "text-anchor": "middle", class: "middle" }, middle[0]),
    svg("text", { x: size / 2, y: size / 2 + 21, "text-anchor": "middle" }, middle[1]));
}
