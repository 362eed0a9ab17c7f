// The whole of a long run in one strip: above the line what search calls hid and waited, below it what was lost.
const STRIP = 46, FROM_STEPS = 40;

function overview(runs, total, width, go) {
  const holder = document.getElementById("overview");
  holder.replaceChildren();
  const strips = [];
  for (const run of runs.filter((each) => each.steps.length >= FROM_STEPS)) {
    const scale = (width - GUTTER - 8) / total;
    const buckets = Math.max(1, Math.floor((run.seconds * scale) / 4));
    const sums = Array.from({ length: buckets }, () => ({ waited: 0, hidden: 0, lost: 0 }));
    const at = (time) => sums[Math.max(0, Math.min(buckets - 1, Math.floor((time / (run.seconds || 1)) * buckets)))];
    for (const call of run.calls) {
      at(call.start).waited += call.waited ?? 0;
      at(call.start).hidden += call.hidden ?? 0;
    }
    for (const each of run.speculations) if (!["served", "unsettled", "fetched"].includes(each.fate)) at(each.start).lost += 1;
    const most = Math.max(1e-9, ...sums.map((sum) => sum.waited + sum.hidden));
    const mostLost = Math.max(1, ...sums.map((sum) => sum.lost));
    const all = (name) => sums.reduce((whole, sum) => whole + sum[name], 0);
    const words = `Whole of ${run.id}: hidden ${seconds(all("hidden"))}, waited ${seconds(all("waited"))}, ${all("lost")} speculations not served`;
    const strip = svg("svg", { width, height: STRIP, role: "img", "aria-label": words });
    const base = 30;
    svg("text", { class: "muted", x: 10, y: 20 }, strip, runs.length > 1 ? run.id.slice(0, 14) : "whole run");
    svg("text", { class: "muted", x: 10, y: 42 }, strip, "lost guesses");
    sums.forEach((sum, index) => {
      const x = GUTTER + index * 4, hidden = (26 * sum.hidden) / most, waited = (26 * sum.waited) / most;
      if (hidden) svg("rect", { class: "fate served", "stroke-width": 0, x, y: base - hidden, width: 2.5, height: hidden }, strip);
      if (waited) svg("rect", { class: "waited", "stroke-width": 0, x, y: base - hidden - waited, width: 2.5, height: waited }, strip);
      if (sum.lost) svg("rect", { class: "lost", x, y: base + 2, width: 2.5, height: (12 * sum.lost) / mostLost }, strip);
    });
    const viewport = svg("rect", { class: "viewport", x: GUTTER, y: 1, width: 4, height: STRIP - 2 }, strip);
    strip.addEventListener("click", (event) => go((event.clientX - strip.getBoundingClientRect().left - GUTTER) / scale));
    holder.append(strip);
    strips.push((from, until) => {
      viewport.setAttribute("x", GUTTER + from * scale);
      viewport.setAttribute("width", Math.max(4, (Math.min(until, total) - from) * scale));
    });
  }
  return (from, until) => strips.forEach((show) => show(from, until));
}
