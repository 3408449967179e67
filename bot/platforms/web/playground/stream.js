// A worker that all windows of a browser share, with one stream of changes for each person who is played in any of
// them: a browser has six connections to a server, for all windows together.

import { isBehind, open } from "./events.js";

const streams = new Map(); // by person: {source, mark, ports}

// Windows pass over what they have heard, so for one that is behind everybody may be told again.
function join(port, { person, mark }) {
  const stream = streams.get(person) ?? { source: null, mark, ports: new Set() };
  streams.set(person, stream);
  stream.ports.add(port);
  port.postMessage({ kind: "joined" });
  const isUsable = stream.source && stream.source.readyState !== EventSource.CLOSED;
  if (isUsable && !isBehind(mark, stream.mark)) {
    if (stream.source.readyState === EventSource.OPEN) port.postMessage({ kind: "open" });
    return;
  }
  stream.source?.close();
  stream.mark = mark;
  stream.source = open(person, mark, (message) => {
    if (message.mark) stream.mark = message.mark;
    for (const one of stream.ports) one.postMessage(message);
  });
}

function leave(port) {
  for (const [person, stream] of streams) {
    if (!stream.ports.delete(port) || stream.ports.size) continue;
    stream.source.close();
    streams.delete(person);
  }
}

addEventListener("connect", ({ ports: [port] }) => {
  port.onmessage = ({ data }) => {
    leave(port);
    if (data.person) join(port, data);
    else port.close(); // its window opens another one when it is looked at again
  };
  port.onclose = () => leave(port); // of a window that went without a word
});
