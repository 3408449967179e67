// What the community knows as a map: topics are circles, near ones are alike.

import { svg } from "./charts.js";

const NAMED = 10; // names that are shown at most on a wide screen
const SMALL = 600; // pixels below which there is room for half of them
const LETTERS = 36; // of a name that are shown
const WIDE = 6.5; // pixels of a letter, about
const MARGIN = 34;
const FILLED = 0.07; // share of the picture that circles cover, about

// `topics` is [{x, y, size, label, release}], coordinates within -1..1; `kind(release)` names its colour.
export function topicMap(topics, width, height, kind) {
  const most = Math.max(...topics.map((topic) => topic.size));
  // together the circles take a tenth of the picture, however many there are
  const least = Math.max(3.5, Math.min(9, Math.sqrt((FILLED * width * height) / (Math.PI * topics.length)) / 1.5));
  const radius = (topic) => least * (0.65 + 1.9 * Math.sqrt(topic.size / most));
  const x = stretched(topics.map((topic) => topic.x), MARGIN, width - MARGIN);
  const y = stretched(topics.map((topic) => -topic.y), MARGIN, height - MARGIN);
  const places = topics.map((topic, at) => ({ topic, x: x[at], y: y[at], r: radius(topic) }));
  apart(places, width, height);
  const drawn = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, class: "chart map", role: "group", "aria-label": "Topics of good answers" });
  const circles = [...places].sort((a, b) => b.r - a.r).map((place, at) => {
    const { topic } = place;
    const about = topic.release === "*" ? "every release" : topic.release;
    const circle = svg("circle", {
      cx: place.x.toFixed(1), cy: place.y.toFixed(1), r: place.r.toFixed(1), class: `topic stop ${kind(topic.release)}`, role: "img", tabindex: at ? "-1" : "0",
      "aria-label": `${topic.label} (${about}, ${topic.size} remembered)`,
    });
    circle.shown = () => ({ title: topic.label, parts: [["", "answers remembered", topic.size], [kind(topic.release), "release", about]], at: place.x / width, y: place.y - place.r });
    return circle;
  });
  drawn.append(...circles, ...names(places, width, height));
  return drawn;
}

// Use all of the room that there is.
function stretched(values, from, to) {
  const least = Math.min(...values), most = Math.max(...values);
  return values.map((value) => (most - least < 1e-9 ? (from + to) / 2 : from + ((value - least) / (most - least)) * (to - from)));
}

// Push circles that lie on each other a little apart, so that each can be seen and hit.
function apart(places, width, height) {
  for (let round = 0; round < 60; round += 1) {
    for (const [at, one] of places.entries()) {
      for (const other of places.slice(at + 1)) {
        const dx = other.x - one.x || 0.1, dy = other.y - one.y || 0.1, far = Math.hypot(dx, dy);
        const lack = (one.r + other.r + 3 - far) / 2;
        if (lack <= 0) continue;
        for (const [place, sign] of [[one, -1], [other, 1]]) {
          place.x = clamp(place.x + sign * lack * dx / far, place.r + 2, width - place.r - 2);
          place.y = clamp(place.y + sign * lack * dy / far, place.r + 2, height - place.r - 2);
        }
      }
    }
  }
}

const clamp = (value, low, high) => Math.max(low, Math.min(value, high));

// Names beside the largest circles; they may lie on small circles without a name, but on no other name.
function names(places, width, height) {
  const ranked = [...places].sort((a, b) => b.topic.size - a.topic.size || a.topic.label.length - b.topic.label.length);
  const boxes = [];
  const shown = [];
  for (const { topic, x, y, r } of ranked) {
    if (shown.length === (width < SMALL ? NAMED / 2 : NAMED)) break;
    const text = topic.label.length > LETTERS ? `${topic.label.slice(0, LETTERS - 1).trimEnd()}…` : topic.label;
    const wide = text.length * WIDE;
    const own = { left: x - r, right: x + r, top: y - r, bottom: y + r };
    const tries = [[x + r + 4, y], [x - r - 4 - wide, y], [x - wide / 2, y + r + 10], [x - wide / 2, y - r - 10]];
    const free = tries.map(([left, middle]) => ({ left, right: left + wide, top: middle - 9, bottom: middle + 9, middle }))
      .find((box) => box.left > 0 && box.right < width && box.top > 0 && box.bottom < height && !boxes.some((one) => meet(box, one)));
    if (!free || boxes.some((one) => meet(own, one))) continue;
    boxes.push(free, own);
    shown.push(svg("text", { x: free.left.toFixed(1), y: (free.middle + 4).toFixed(1), class: "label", "aria-hidden": "true" }, text));
  }
  return shown;
}

const meet = (one, other) => one.left < other.right && one.right > other.left && one.top < other.bottom && one.bottom > other.top;
