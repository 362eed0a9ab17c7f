// What each mark says: in the details, in the table, and to a screen reader.
const seconds = (value) => `${(value ?? 0).toFixed(2)} s`;
const share = (value) => `${Math.round(100 * (value ?? 0))} %`;
const SOURCES = { reasoning: "a guess from reasoning", sealed: "closed arguments", reuse: "an earlier call", near: "passages around the thought" };
const source = (name) => SOURCES[name] ?? name;
const quoted = (mark) => (mark.query ? `“${mark.query}”` : "");
const sentence = (...parts) => parts.filter(Boolean).join(", ");

const WORDS = {
  step(mark) {
    const streamed = mark.pieces ? `${mark.pieces} pieces streamed` : "nothing streamed";
    const writing = mark.call_at == null ? "" : `tool call written from ${seconds(mark.call_at)}`;
    return { what: "model call", outcome: mark.end == null ? "its end was not recorded" : streamed, why: writing };
  },
  speculation(mark) {
    if (mark.is_model_call) return { what: "next model call, in private", outcome: `${mark.fate === "served" ? "adopted" : mark.fate}${mark.reason ? `: ${mark.reason}` : ""}`, why: `on results that were ${mark.source}, P ${share(mark.probability)}` };
    const from = `started by ${source(mark.source)} (${mark.cue}), P ${share(mark.probability)}`;
    const ran = mark.seconds == null ? "" : `retrieval took ${seconds(mark.seconds)}`;
    const joined = mark.joined ? `asked for again ${mark.joined.length === 1 ? "once" : `${mark.joined.length} times`}` : "";
    const reason = mark.reason ? `: ${mark.reason}` : "";
    if (mark.fate === "fetched") return { what: `passages for near misses, ${mark.tool}`, outcome: mark.reason, why: `around the ${mark.cue}` };
    return { what: `speculation, ${mark.tool}`, outcome: `${mark.fate}${reason}`, why: sentence(from, ran, joined) };
  },
  call(mark) {
    const by = mark.source ? `served by ${source(mark.source)}${mark.late ? ", late" : ""}` : `not served: ${mark.reason}`;
    const times = `waited ${seconds(mark.waited)}, hidden ${seconds(mark.hidden)} of ${seconds(mark.hideable)} hideable`;
    const retrieval = `retrieval took ${seconds(mark.retrieval)}`;
    const lead = mark.lead ? `started ${seconds(mark.lead)} before the call` : "";
    return { what: `search call, ${mark.tool}`, outcome: sentence(by, mark.failed && "the tool failed"), why: sentence(times, retrieval, lead) };
  },
  ignored(mark) {
    return { what: mark.tool === "next model call" ? mark.tool : `signal, ${mark.tool}`, outcome: `started nothing: ${mark.reason}`, why: source(mark.source) };
  },
};

const startOf = (mark) => mark.start ?? mark.at;
const endOf = (mark) => mark.end ?? startOf(mark);

function words(kind, mark) {
  const said = WORDS[kind](mark);
  return { ...said, step: mark.step ?? 0, start: startOf(mark), seconds: endOf(mark) - startOf(mark), query: quoted(mark) };
}

function label(kind, mark) {
  const { what, outcome, why, step, start, query } = words(kind, mark);
  return `Step ${step}: ${sentence(what, query)}; ${outcome}; at ${seconds(start)}${why ? `; ${why}` : ""}`;
}
