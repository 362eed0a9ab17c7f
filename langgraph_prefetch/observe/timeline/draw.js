// One run's visible part as SVG. Text is only ever set as text.
const svg = (name, attributes = {}, parent = null, text = null) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== null) element.textContent = text;
  parent?.append(element);
  return element;
};

const GLYPHS = { served: "M0 5 3 8 8 1", wasted: "M1 1 8 8M8 1 1 8", cancelled: "M1 8 8 1", failed: "M4 0V6M4 8V9" };

function group(parent, kind, index, mark) {
  return svg("g", { role: "button", tabindex: "-1", "data-mark": `${kind}:${index}`, "aria-label": label(kind, mark) }, parent);
}

function ring(parent, x, y, width, height) {
  svg("rect", { class: "ring", x: x - 2, y: y - 2, width: width + 4, height: height + 4, rx: 3 }, parent);
}

// Single pieces make no hills: where there are few, each slice is drawn as high as those around it on average.
function hills(slices) {
  const first = slices.findIndex(Boolean), end = slices.findLastIndex(Boolean) + 1;
  const pieces = slices.reduce((sum, count) => sum + count, 0);
  const reach = Math.min(3, Math.floor((2.5 * (end - first)) / pieces));
  return slices.map((count, at) => {
    if (at < first || at >= end) return 0;
    const near = slices.slice(Math.max(first, at - reach), Math.min(end, at + reach + 1));
    return near.reduce((sum, each) => sum + each, 0) / near.length;
  });
}

function streamPath(mark, x, y, width, height) {
  const counts = hills(mark.slices);
  const most = Math.max(...counts);
  const part = width / counts.length;
  const points = counts.map((count, at) => `H${(x + at * part).toFixed(1)}V${(y + height * (1 - count / most)).toFixed(1)}`);
  return `M${x} ${y + height}${points.join("")}H${x + width}V${y + height}z`;
}

function drawStep(parent, index, mark, box, x) {
  const left = x(mark.start), width = Math.max(1.5, x(mark.end ?? mark.start) - left - 1);
  const top = box.rows.steps + box.steps.lane.get(mark) * (STEP_HEIGHT + 4);
  const g = group(parent, "step", index, mark);
  svg("rect", { class: mark.pieces ? "step" : "step silent", x: left, y: top, width, height: STEP_HEIGHT, rx: 2 }, g);
  if (mark.slices) svg("path", { class: "stream", d: streamPath(mark, left, top + 17, width, STEP_HEIGHT - 18) }, g);
  if (mark.call_at != null && mark.end != null) {
    const from = x(mark.call_at);
    svg("rect", { class: "calling", x: from, y: top + 17, width: Math.max(1, left + width - from), height: STEP_HEIGHT - 18 }, g);
  }
  const number = `${mark.step}`;
  const long = mark.pieces ? `${number} · ${mark.pieces} pieces` : `${number} · not streamed`;
  const room = (width - 8) / 6.9;
  if (room >= number.length) svg("text", { x: left + 4, y: top + 13 }, g, room >= long.length ? long : number);
  ring(g, left, top, width, STEP_HEIGHT);
}

function drawSpeculation(parent, index, mark, box, x) {
  const left = x(mark.start), width = Math.max(3, x(barEnd(mark)) - left);
  const top = box.rows.speculations + box.speculations.lane.get(mark) * LANE;
  const g = group(parent, "speculation", index, mark);
  const settled = x(mark.end ?? mark.start);
  if (mark.fate === "served" && settled > left + width + GLYPH) svg("path", { class: "held", d: `M${left + width + GLYPH} ${top + 8}H${settled}` }, g);
  svg("rect", { class: `fate ${mark.fate}`, x: left, y: top + 2, width, height: 12 }, g);
  for (const at of mark.joined ?? []) svg("path", { class: "joined", d: `M${Math.min(x(at), left + width - 1)} ${top + 2}v12` }, g);
  if (GLYPHS[mark.fate] && box.glyph) svg("path", { class: "glyph", d: GLYPHS[mark.fate], transform: `translate(${left + width + 3} ${top + 4})` }, g);
  ring(g, left, top + 2, width + Math.max(0, box.glyph - 2), 12);
}

function drawCall(parent, index, mark, box, x, next) {
  const left = x(mark.start), waited = x(mark.end) - left, hidden = (mark.hidden ?? 0) * box.scale;
  const top = box.rows.calls + box.calls.lane.get(mark) * (LANE + 2);
  const g = group(parent, "call", index, mark);
  svg("rect", { class: "waited", x: left, y: top + 2, width: Math.max(2, waited), height: 14 }, g);
  if (hidden > 1) svg("rect", { class: "hidden", x: left + Math.max(2, waited), y: top + 2, width: hidden, height: 14 }, g);
  const width = Math.max(2, waited) + hidden;
  const text = mark.source && !mark.late ? `hidden ${seconds(mark.hidden)}` : `waited ${seconds(mark.waited)}`;
  const said = mark.failed ? `${text}, failed` : text;
  if ((next - left) - width > said.length * 6.6 + 8) svg("text", { x: left + width + 5, y: top + 13 }, g, said);
  ring(g, left, top + 2, width, 14);
}

function drawHanded(parent, run, box, x, isNear) {
  const byId = run.byId;
  for (const call of run.calls) {
    const speculation = call.source && byId.get(call.speculation);
    if (!speculation || !isNear(speculation.start, call.end)) continue;
    const from = box.rows.speculations + box.speculations.lane.get(speculation) * LANE + 14;
    const to = box.rows.calls + box.calls.lane.get(call) * (LANE + 2) + 2;
    const at = x(call.start) + 1;
    svg("path", { class: "handed", d: `M${at} ${from - 6}V${to}` }, parent);
  }
}

function drawIgnored(parent, index, mark, box, x) {
  const at = x(mark.at), top = box.rows.ignored + 7;
  const g = group(parent, "ignored", index, mark);
  svg("path", { class: "ignored", d: `M${at} ${top - 5}l5 5-5 5-5-5z` }, g);
  ring(g, at - 5, top - 5, 10, 10);
}

function drawGutter(parent, run, box) {
  const text = (words, y) => svg("text", { class: "muted", x: 10, y }, parent, words);
  svg("rect", { class: "gutter", x: 0, y: 0, width: GUTTER - 4, height: box.rows.height }, parent);
  text("model calls", box.rows.steps + 26);
  if (run.ignored.length) text("not started", box.rows.ignored + 11);
  text("speculations", box.rows.speculations + 13);
  text("search calls", box.rows.calls + 13);
}
