// Where marks stand. Pixels are counted from the run's start.
const GUTTER = 108, AXIS = 24, STEP_HEIGHT = 42, LANE = 20, MAX_LANES = 6, GLYPH = 13, ROOM = 96;

// Marks that would touch get lanes of their own; when too many overlap, the lane that is free first takes one more.
function lanes(marks, extent) {
  const free = [];
  const lane = new Map();
  for (const mark of marks) {
    const [left, right] = extent(mark);
    let at = free.findIndex((until) => until <= left);
    if (at < 0) at = free.length < MAX_LANES ? free.length : free.indexOf(Math.min(...free));
    free[at] = right;
    lane.set(mark, at);
  }
  return { lane, count: Math.max(1, free.length) };
}

const retrieved = (mark) => mark.start + (mark.seconds ?? 0);
const barEnd = (mark) => (mark.seconds != null ? retrieved(mark) : mark.fate === "unsettled" ? mark.start : mark.end ?? mark.start);

// Where steps are this narrow, shape and colour have to do without the sign behind a bar.
const MIN_STEP = 16, SIGNS_FROM = 40;

function middleStep(runs) {
  const times = runs.flatMap((run) => run.steps.slice(1).map((mark, index) => mark.start - run.steps[index].start));
  return times.sort((one, other) => one - other)[times.length >> 1] || 0;
}

function layout(run, scale, glyph) {
  const speculations = lanes(run.speculations, (mark) => [mark.start * scale, Math.max(barEnd(mark) * scale, mark.start * scale + 3) + glyph + 1]);
  const calls = lanes(run.calls, (mark) => [mark.start * scale, (mark.end + (mark.hidden ?? 0)) * scale + 1]);
  const steps = lanes(run.steps, (mark) => [mark.start * scale, (mark.end ?? mark.start) * scale]);
  const rows = { steps: 4, ignored: 4 + steps.count * (STEP_HEIGHT + 4) };
  rows.speculations = rows.ignored + (run.ignored.length ? 16 : 2);
  rows.calls = rows.speculations + speculations.count * LANE + 6;
  rows.height = rows.calls + calls.count * (LANE + 2) + 8;
  return { scale, glyph, rows, steps, speculations, calls };
}

// Round distances for the axis: at least 90 pixels apart.
function tick(scale) {
  const least = 90 / scale;
  const power = 10 ** Math.floor(Math.log10(least));
  return power * [1, 2, 5, 10].find((factor) => power * factor >= least);
}

function clock(at, distance) {
  const digits = Math.max(0, -Math.floor(Math.log10(distance) + 1e-9));
  if (at < 120) return `${at.toFixed(digits)} s`;
  const rest = (at % 60).toFixed(digits);
  return `${Math.floor(at / 60)}:${rest.padStart(digits ? digits + 3 : 2, "0")}`;
}
