// Threadlore's widget: the one script that a documentation site includes. It shows a button; everything else is
// loaded once somebody presses it. No cookie, no library, nothing of the site is touched.
//
//   <script src="https://bot.example.org/widget.js" data-product="Kettle" async></script>
//
// data-product, data-release, data-label, data-language, data-color, data-position (right, left),
// data-theme (auto, light, dark), data-shortcut ("/", "ctrl+k").

(() => {
  const script = document.currentScript ?? document.querySelector('script[src*="/widget.js"]');
  const NAME = "threadlore-widget";
  if (!script || document.querySelector(NAME)) return;
  const base = new URL("widget/", script.src);
  const given = { ...script.dataset };
  const language = given.language ?? document.documentElement.lang ?? "";
  const told = (error) => console.warn(
    `Threadlore's widget is not shown: ${base.origin} does not answer ${location.origin}. `
    + `Is the bot running, and does its WIDGET_ORIGINS name this site? (${error.message ?? error})`);

  async function begin() {
    const asked = { credentials: "omit", referrerPolicy: "no-referrer" };
    const [hello, style] = await Promise.all([
      fetch(new URL(`api/hello?language=${encodeURIComponent(language)}`, base), asked),
      fetch(new URL("widget.css", base), asked),
    ]);
    if (!hello.ok || !style.ok) throw new Error(`status ${hello.status}`);
    show(await hello.json(), await style.text());
  }

  function show({ label, product }, style) {
    const host = document.createElement(NAME);
    const root = host.attachShadow({ mode: "open" });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(style);
    root.adoptedStyleSheets = [sheet];
    host.setAttribute("position", given.position === "left" ? "left" : "right");
    const button = document.createElement("button");
    button.type = "button";
    button.className = "launcher";
    button.setAttribute("aria-haspopup", "dialog");
    button.setAttribute("aria-expanded", "false");
    button.append(mark(), Object.assign(document.createElement("span"), { textContent: given.label || label }));
    root.append(button);
    document.body.append(host);
    dress(host, button);
    // what is typed here is nobody else's shortcut
    for (const kind of ["keydown", "keyup", "keypress"]) root.addEventListener(kind, (event) => event.stopPropagation());

    let panel = null;
    const open = async (focus = true) => {
      try {
        panel ??= import(new URL("panel.js", base)).then(({ makePanel }) =>
          makePanel({ root, button, base, given, language, product }));
        (await panel).open(focus);
      } catch (error) {
        panel = null;
        told(error);
      }
    };
    button.addEventListener("click", async () => {
      if (button.getAttribute("aria-expanded") === "true") (await panel)?.close();
      else open();
    });
    if (given.shortcut) document.addEventListener("keydown", (event) => pressed(event, given.shortcut) && (event.preventDefault(), open()));
    if (kept().open && matchMedia("(min-width: 601px)").matches) open(false);
  }

  function kept() {
    try {
      return JSON.parse(sessionStorage.getItem(NAME)) ?? {};
    } catch { // a browser may keep nothing
      return {};
    }
  }

  function pressed(event, wanted) {
    const keys = wanted.toLowerCase().split("+");
    const held = keys.includes("ctrl") ? event.ctrlKey || event.metaKey : !event.ctrlKey && !event.metaKey && !event.altKey;
    const written = event.target.closest?.("input, textarea, select, [contenteditable]");
    return held && event.key.toLowerCase() === keys.at(-1) && !(written && keys.length === 1);
  }

  function mark() {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const path = document.createElementNS(svg.namespaceURI, "path");
    path.setAttribute("d", "M20 15.5a2 2 0 0 1-2 2h-7l-4.500 3v-3H6a2 2 0 0 1-2-2V6a2 2 0 0 1 2-2h12a2 2 0 0 1 2 2zM8.500 9h7M8.500 12.700h4.500");
    svg.setAttribute("viewBox", "0 0 24 24");
    svg.setAttribute("class", "icon");
    svg.setAttribute("aria-hidden", "true");
    svg.append(path);
    return svg;
  }

  // Light or dark as the page is just now, and the colour that the site chose.
  function dress(host, button) {
    if (given.color && CSS.supports("color", given.color)) {
      host.style.setProperty("--site", given.color);
      const light = brightness(getComputedStyle(button).backgroundColor);
      host.style.setProperty("--site-ink", light > 0.3 ? "#10171a" : "#fff");
    }
    const system = matchMedia("(prefers-color-scheme: dark)");
    const look = () => {
      const named = ["light", "dark"].includes(given.theme) && given.theme;
      host.setAttribute("theme", named || (isDark(system.matches) ? "dark" : "light"));
    };
    look();
    system.addEventListener("change", look);
    const watch = new MutationObserver(look);
    for (const element of [document.documentElement, document.body]) watch.observe(element, { attributes: true });
    addEventListener("load", look);
  }

  // What people read decides: some themes have a dark frame around light pages.
  function isDark(otherwise) {
    let element = document.querySelector("main, [role='main'], article") ?? document.body;
    for (; element; element = element.parentElement) {
      const light = brightness(getComputedStyle(element).backgroundColor);
      if (light !== null) return light < 0.35;
    }
    return getComputedStyle(document.documentElement).colorScheme.includes("dark") && otherwise;
  }

  function brightness(colour) {
    const [red, green, blue, alpha = 1] = (colour.match(/[\d.]+/g) ?? []).map(Number);
    if (blue === undefined || alpha < 0.5 || !colour.startsWith("rgb")) return null;
    const [r, g, b] = [red, green, blue].map((part) => ((part / 255) ** 2.2));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  }

  const soon = () => begin().catch(told);
  if (document.body) soon();
  else addEventListener("DOMContentLoaded", soon);
})();
