// Zoom, scrolling, and going from mark to mark.
const runs = JSON.parse(document.getElementById("runs").textContent);
const scroller = document.getElementById("scroller"), canvas = document.getElementById("canvas");
const details = document.getElementById("details");
const total = Math.max(0.01, ...runs.map((run) => run.seconds));
const LISTS = { step: "steps", speculation: "speculations", call: "calls", ignored: "ignored" };

for (const run of runs) {
  run.byId = new Map(run.speculations.map((mark) => [mark.id, mark]));
  run.marks = Object.entries(LISTS).flatMap(([kind, list]) => run[list].map((mark, index) => ({ kind, index, mark })));
  run.marks.sort((one, other) => startOf(one.mark) - startOf(other.mark));
}

const stepSeconds = Math.max(0.001, middleStep(runs) || total);
const all = () => Math.max(1, (scroller.clientWidth || 800) - GUTTER - ROOM) / total;
const most = () => Math.max(all(), Math.min(2e7 / total, 4000));
const least = () => Math.min(most(), Math.max(all(), MIN_STEP / stepSeconds));
// Single steps: the middle one is wide enough for its words.
const stepwise = () => Math.min(most(), all() * stepSeconds > 80 ? all() : Math.max(least(), 108 / stepSeconds));

let scale = stepwise(), showOverview = () => {}, chosen = null;
const views = runs.map((run) => {
  const section = document.createElement("section");
  section.setAttribute("aria-label", `Run ${run.id}`);
  const title = document.createElement("h3");
  title.textContent = `Run ${run.id} · ${run.steps.length} model calls, ${seconds(run.seconds)}`;
  const drawing = svg("svg", { role: "group", "aria-label": `Marks of run ${run.id}, in order of time` });
  section.append(title, drawing);
  return { run, section, drawing, box: null };
});
const axis = svg("svg", { height: AXIS, "aria-hidden": "true" });
canvas.append(axis, ...views.map((view) => view.section));

const visible = () => [scroller.scrollLeft / scale, (scroller.scrollLeft + scroller.clientWidth - GUTTER) / scale];

function draw() {
  const width = scroller.clientWidth, [from, until] = visible(), margin = 40 / scale;
  const x = (time) => GUTTER + (time - from) * scale;
  const isNear = (start, end) => end >= from - margin && start <= until + margin;
  const held = document.activeElement?.dataset?.mark && document.activeElement;
  const focus = held && { mark: held.dataset.mark, view: views.find((view) => view.drawing.contains(held)) };
  const distance = tick(scale), ticks = [];
  for (let at = Math.max(0, Math.ceil(from / distance)) * distance; at <= until; at += distance) ticks.push(at);
  axis.setAttribute("width", width);
  axis.replaceChildren();
  for (const at of ticks) svg("text", { class: "muted", x: x(at) + 3, y: 16 }, axis, clock(at, distance));
  svg("rect", { class: "gutter", x: 0, y: 0, width: GUTTER - 4, height: AXIS }, axis);
  for (const view of views) drawRun(view, { width, x, isNear, ticks });
  if (focus?.view) {
    const again = focus.view.drawing.querySelector(`[data-mark="${focus.mark}"]`);
    (again ?? scroller).focus({ preventScroll: true });
  }
  showOverview(from, until);
  document.getElementById("window").textContent = `${clock(Math.max(0, from), 0.1)} to ${clock(Math.min(until, total), 0.1)}`;
}

function drawRun({ run, drawing, box }, { width, x, isNear, ticks }) {
  drawing.setAttribute("width", width);
  drawing.setAttribute("height", box.rows.height);
  drawing.replaceChildren();
  for (const at of ticks) svg("path", { class: "grid", d: `M${x(at)} 0V${box.rows.height}` }, drawing);
  drawHanded(drawing, run, box, x, isNear);
  const nextInLane = new Map(), last = new Map();
  for (const call of run.calls) {
    const lane = box.calls.lane.get(call);
    if (last.has(lane)) nextInLane.set(last.get(lane), call.start);
    last.set(lane, call);
  }
  for (const { kind, index, mark } of run.marks) {
    const end = kind === "call" ? mark.end + (mark.hidden ?? 0) : endOf(mark);
    if (!isNear(startOf(mark), Math.max(end, kind === "speculation" ? barEnd(mark) : end))) continue;
    if (kind === "step") drawStep(drawing, index, mark, box, x);
    if (kind === "speculation") drawSpeculation(drawing, index, mark, box, x);
    if (kind === "call") drawCall(drawing, index, mark, box, x, nextInLane.has(mark) ? x(nextInLane.get(mark)) : x(total) + ROOM);
    if (kind === "ignored") drawIgnored(drawing, index, mark, box, x);
  }
  const again = chosen?.run === run && drawing.querySelector(`[data-mark="${chosen.key}"]`);
  again?.classList?.add("chosen");
  (again || drawing.querySelector("[data-mark]"))?.setAttribute("tabindex", "0");
  drawGutter(drawing, run, box);
}

function zoomTo(wanted, middle = null) {
  const [from, until] = visible();
  const centre = middle ?? (from + until) / 2;
  scale = Math.min(most(), Math.max(least(), wanted));
  for (const view of views) view.box = layout(view.run, scale, scale * stepSeconds < SIGNS_FROM ? 0 : GLYPH);
  canvas.style.width = `${Math.floor(GUTTER + total * scale + ROOM)}px`;
  scroller.scrollLeft = (centre - (scroller.clientWidth - GUTTER) / scale / 2) * scale;
  const whole = scale <= least() * 1.001;
  for (const id of ["zoom-out", "zoom-all"]) document.getElementById(id).disabled = whole;
  document.getElementById("zoom-step").disabled = scale === stepwise();
  draw();
}

function tell({ kind, mark }) {
  const said = words(kind, mark);
  const lines = [sentence(`Step ${said.step}: ${said.what}`, said.query, said.outcome), sentence(`at ${seconds(said.start)}`, said.why)];
  details.replaceChildren(...lines.map((line) => Object.assign(document.createElement("p"), { textContent: line })));
}

function choose(view, found) {
  const { kind, index, mark } = found;
  chosen = { run: view.run, key: `${kind}:${index}` };
  const [from, until] = visible();
  if (startOf(mark) < from || startOf(mark) > until) scroller.scrollLeft = (startOf(mark) - (until - from) / 3) * scale;
  tell(found);
  draw();
  view.drawing.querySelector(`[data-mark="${chosen.key}"]`)?.focus({ preventScroll: true });
}

const found = (view, element) => {
  const key = element?.closest?.("[data-mark]")?.dataset.mark;
  return view.run.marks.findIndex(({ kind, index }) => `${kind}:${index}` === key);
};
for (const view of views) {
  view.drawing.addEventListener("click", (event) => {
    const at = found(view, event.target);
    if (at >= 0) choose(view, view.run.marks[at]);
  });
  view.drawing.addEventListener("pointerover", (event) => {
    const at = found(view, event.target);
    if (at >= 0) tell(view.run.marks[at]);
  });
  view.drawing.addEventListener("keydown", (event) => {
    const at = found(view, event.target);
    const step = { ArrowRight: 1, ArrowLeft: -1, Enter: 0, " ": 0 }[event.key];
    const last = view.run.marks.length - 1;
    const to = event.key === "Home" ? 0 : event.key === "End" ? last : Math.min(last, Math.max(0, at + step));
    if (at < 0 || Number.isNaN(to)) return;
    event.preventDefault();
    event.stopPropagation();
    choose(view, view.run.marks[to]);
  });
}
document.getElementById("zoom-in").addEventListener("click", () => zoomTo(scale * 1.6));
document.getElementById("zoom-out").addEventListener("click", () => zoomTo(scale / 1.6));
document.getElementById("zoom-all").addEventListener("click", () => zoomTo(0));
document.getElementById("zoom-step").addEventListener("click", () => zoomTo(stepwise()));
scroller.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "+" || event.key === "=") zoomTo(scale * 1.6);
  if (event.key === "-") zoomTo(scale / 1.6);
});
let waiting = false;
scroller.addEventListener("scroll", () => {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; draw(); });
});

function fit() {
  const middle = scale > least() ? null : total / 2;
  showOverview = overview(runs, total, scroller.clientWidth, (at) => {
    const [from, until] = visible();
    scroller.scrollLeft = (at - (until - from) / 2) * scale;
    draw();
  });
  zoomTo(scale, middle);
}
if (!runs.some((run) => run.ignored.length)) document.querySelector(".if-ignored").hidden = true;
table(runs);
zoomTo(stepwise(), 0);
fit();
let width = scroller.clientWidth;
new ResizeObserver(() => {
  if (scroller.clientWidth === width) return;
  width = scroller.clientWidth;
  fit();
}).observe(scroller);
document.documentElement.dataset.height = document.documentElement.scrollHeight;
