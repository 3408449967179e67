// What the page's address says: #/person/channel/thread. (#/m/message is a link to a message.)

export function read() {
  const [, person = "", place = "", root = ""] = location.hash.split("/").map(decoded);
  return { person: person || localStorage.getItem("person") || "ada", channel: place || "help", thread: root };
}

export const address = (...parts) => `#/${parts.filter(Boolean).map(encodeURIComponent).join("/")}`;

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // a % that somebody typed
  }
}
