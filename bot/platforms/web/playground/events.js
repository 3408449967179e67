// The stream of changes, and how far somebody has heard it.

const KINDS = ["posted", "edited", "reaction", "direct", "modes", "deleted", "progress", "releases", "reset"];

const place = (mark) => { const [run, number] = mark.split("-"); return [run, Number(number)]; };

// Whether there may be something between two marks, which two runs of the server never share.
export function isBehind(mark, other) {
  const [[run, number], [otherRun, otherNumber]] = [place(mark), place(other)];
  return run !== otherRun || number < otherNumber;
}
export const isOfAnotherRun = (mark, other) => place(mark)[0] !== place(other)[0];

// Open it from a mark on; `tell` hears {kind, mark, data}, {kind: "open"} and {kind: "error", isClosed}.
export function open(person, mark, tell) {
  const source = new EventSource(`/api/events?person=${encodeURIComponent(person)}&since=${encodeURIComponent(mark)}`);
  for (const kind of KINDS) {
    source.addEventListener(kind, (event) => tell({ kind, mark: event.lastEventId, data: JSON.parse(event.data) }));
  }
  source.onopen = () => tell({ kind: "open" });
  source.onerror = () => tell({ kind: "error", isClosed: source.readyState === EventSource.CLOSED });
  return source;
}
