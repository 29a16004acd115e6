/* SPDX-License-Identifier: MIT
 *
 * What a page can do where scripts run; without it everything is there to be read. Nothing is fetched, nothing is
 * evaluated, and text only ever becomes text. */
"use strict";
(() => {
const root = document.documentElement;
const $ = id => document.getElementById(id);
function el(name, words, attributes) {
  const e = document.createElement(name);
  if (words) e.textContent = words;
  for (const key in attributes) key.startsWith("on") ? e.addEventListener(key.slice(2), attributes[key]) : e.setAttribute(key, attributes[key]);
  return e;
}
const store = { /* pages opened as files may have none */
  get: key => { try { return localStorage.getItem(key); } catch { return null; } },
  set: (key, value) => { try { localStorage.setItem(key, value); } catch { /* forgotten, then */ } },
};

/* ---- theme ---- */
const themes = ["auto", "light", "dark"];
let theme = themes.includes(store.get("rooftile-theme")) ? store.get("rooftile-theme") : "auto";
function show_theme() {
  if (theme === "auto") delete root.dataset.theme; else root.dataset.theme = theme;
}
show_theme();

/* ---- data ---- */
/* As page_data.c packs it. */
async function unpack(id) {
  const bytes = Uint8Array.from(atob($(id).textContent), c => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}
function save(name, type, content) {
  const a = el("a", "", { href: URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type })), download: name });
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 60000);
}
const idle = work => globalThis.requestIdleCallback ? requestIdleCallback(work) : setTimeout(work);
const stem = () => document.title.replace(/[^\w.-]+/g, "-").slice(0, 60) || "report";

function add_tools() {
  const tools = $("tools");
  const button = el("button", "", { type: "button", id: "theme" });
  const name = () => { button.textContent = "Theme: " + theme; };
  button.addEventListener("click", () => {
    theme = themes[(themes.indexOf(theme) + 1) % 3];
    store.set("rooftile-theme", theme);
    show_theme();
    name();
  });
  name();
  tools.append(button);
  if ($("data-json")) tools.append(el("button", "JSON", { type: "button", id: "save-json", title: "Save the data of this page as JSON",
    onclick: async () => save(stem() + ".json", "application/json", await unpack("data-json")) }));
}

/* ---- pictures as files ---- */
const kept = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "fill-opacity", "font-weight", "paint-order"];
function standalone(svg) {
  const copy = svg.cloneNode(true), box = svg.viewBox.baseVal, from = svg.querySelectorAll("*"), to = copy.querySelectorAll("*");
  from.forEach((e, k) => {
    const style = getComputedStyle(e);
    to[k].setAttribute("style", kept.map(key => key + ":" + style.getPropertyValue(key)).join(";"));
  });
  const paper = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [key, value] of [["width", "100%"], ["height", "100%"], ["fill", getComputedStyle(document.body).backgroundColor]]) paper.setAttribute(key, value);
  copy.insertBefore(paper, copy.children[2] || null);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", box.width);
  copy.setAttribute("height", box.height);
  copy.setAttribute("style", "font:12px sans-serif");
  return new XMLSerializer().serializeToString(copy);
}
function save_png(svg, name) {
  const image = new Image(), box = svg.viewBox.baseVal, scale = 2;
  image.onload = () => {
    const canvas = el("canvas", "", { width: box.width * scale, height: box.height * scale });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob(blob => save(name, "image/png", blob));
  };
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(standalone(svg));
}
function add_picture_tools(figure) {
  const name = figure.dataset.picture, shown = () => figure.querySelector("svg.picture");
  const tools = el("div", "", { class: "pictools" });
  tools.append(el("button", "SVG", { type: "button", title: "Save this picture as SVG", onclick: () => save(stem() + "-" + name + ".svg", "image/svg+xml", standalone(shown())) }),
    el("button", "PNG", { type: "button", title: "Save this picture as PNG", onclick: () => save_png(shown(), stem() + "-" + name + ".png") }));
  figure.insertBefore(tools, figure.querySelector("figcaption"));
}

/* ---- pictures that can be pointed at ---- */
const tip = el("div", "", { id: "tip", hidden: "" });
function show_tip(words, e) {
  tip.hidden = !words;
  tip.textContent = words;
  const box = e.target.getBoundingClientRect(), x = e.clientX ?? box.x, y = e.clientY ?? box.y;
  tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - tip.offsetWidth - 8)) + "px";
  tip.style.top = (y + tip.offsetHeight + 28 < innerHeight ? y + 16 : y - tip.offsetHeight - 12) + "px";
}
/* A case's row says what its mark is: the name, and what each column has. */
function row_words(row, heads) {
  return [words_of(row.cells[0]), ...[...row.cells].slice(1).map((cell, k) => cell.textContent.trim() && (heads[k + 1] ? heads[k + 1] + ": " : "") + cell.textContent.trim())].filter(Boolean).join("\n");
}
function point_at(figure, table) {
  const svg = figure.querySelector("svg.picture"), groups = [...svg.querySelectorAll("[data-s]")], only = new Set(), keys = [];
  const rows = table ? [...table.tBodies[0].rows].filter(row => row.id) : [], heads = table ? [...table.tHead.rows[0].cells].map(h => h.textContent) : [];
  const row_of = e => rows[e.dataset.c - 1], names = g => g.dataset.l ? g.dataset.l.split(", ") : [], is_line = k => groups.some(g => g.dataset.s === k && g.dataset.l !== undefined);
  const under = (mark, line) => names(line).includes(mark.dataset.b);
  svg.setAttribute("role", "group");
  for (const title of svg.querySelectorAll("[data-s] title")) { title.parentElement.dataset.said = title.textContent; title.remove(); }
  /* One series alone, or with Ctrl several: a ceiling's line and the cases under it belong together. */
  function show() {
    const lines = groups.filter(g => only.has(g.dataset.s) && is_line(g.dataset.s)), others = [...only].filter(k => !is_line(k));
    for (const g of groups) {
      const marks = [...g.querySelectorAll("[data-c]")], alone = !only.size || only.has(g.dataset.s);
      const related = is_line(g.dataset.s) ? !lines.length && groups.some(o => others.includes(o.dataset.s) && [...o.querySelectorAll("[data-c]")].some(m => under(m, g))) : !others.length && lines.length;
      g.classList.toggle("faint", !alone && !related);
      for (const mark of marks) mark.classList.toggle("faint", !alone && !!related && !lines.some(line => under(mark, line)));
    }
    for (const key of keys) key.setAttribute("aria-pressed", String(only.has(key.dataset.k)));
  }
  function choose(k, several) {
    const had = only.has(k) && (several || only.size === 1);
    if (!several) only.clear();
    if (had) only.delete(k); else if (k !== undefined) only.add(k);
    show();
  }
  for (const key of svg.querySelectorAll("[data-k],[data-l] text")) {
    key.dataset.k ??= key.closest("[data-s]").dataset.s;
    for (const [name, value] of [["role", "button"], ["tabindex", "0"], ["aria-pressed", "false"]]) key.setAttribute(name, value);
    key.addEventListener("click", e => choose(key.dataset.k, e.ctrlKey || e.metaKey));
    key.addEventListener("keydown", e => {
      if (e.key === "Enter" || e.key === " ") choose(key.dataset.k, e.ctrlKey || e.metaKey), e.preventDefault();
      if (e.key === "Escape") choose();
    });
    keys.push(key);
  }
  const told = e => e.target.dataset?.said || (row_of(e.target) ? row_words(row_of(e.target), heads) : "");
  svg.addEventListener("pointermove", e => show_tip(told(e), e));
  svg.addEventListener("pointerleave", e => show_tip("", e));
  svg.addEventListener("click", e => {
    const row = row_of(e.target), line = e.target.closest(".hit")?.closest("[data-s]");
    if (row) location.hash = encodeURIComponent(row.id); else if (line) choose(line.dataset.s, e.ctrlKey || e.metaKey);
  });
  const marks = [...svg.querySelectorAll("[data-w]")].sort((a, b) => b.dataset.w - a.dataset.w), sum = list => list.reduce((all, mark) => all + +mark.dataset.w, 0);
  if (marks.length < 4) return;
  const range = el("input", "", { type: "range", min: 1, max: marks.length, value: marks.length }), said = el("output", "all cases"), label = el("label", "longest", { class: "field heaviest" });
  range.addEventListener("input", () => {
    marks.forEach((mark, k) => mark.classList.toggle("gone", k >= range.value));
    said.textContent = +range.value === marks.length ? "all cases" : `the ${range.value} that take the longest, ${Math.round(100 * sum(marks.slice(0, range.value)) / sum(marks))} % of the time`;
  });
  label.append(range, said);
  figure.prepend(label);
}

/* ---- tables of cases: search, filters, sorting ---- */
const MOST = 100; /* rows a browser lays out quickly */
const rest = el("style", `table.cases tbody tr:nth-child(n+${MOST + 1}){display:none}`); /* until the tables' own filters hide them */
document.head.append(rest);
const words_of = cell => cell.title || cell.textContent; /* a long name is whole in its title */
function text_of(row) { return row.search ??= (row.textContent + " " + row.cells[0].title).toLowerCase(); }
function case_table(table) {
  const body = table.tBodies[0], rows = [...body.rows], filters = el("div", "", { class: "filters", role: "search" });
  const kernel_of = row => row.dataset.k ?? row.id.slice(5).split("/")[0], verdict_of = row => row.dataset.v ?? "ok"; /* as render_html.c leaves them away */
  const state = { words: "", kernel: "", tag: "", verdict: "", all: false };
  const said = el("output", "", { class: "dim", "aria-live": "polite" });
  const more = el("button", "Show all", { type: "button", onclick: () => { state.all = true; apply(); } });
  function wanted(row) {
    return (!state.kernel || kernel_of(row) === state.kernel) &&
      (!state.tag || (" " + (row.dataset.t || "") + " ").includes(" " + state.tag + " ")) &&
      (!state.verdict || (" " + verdict_of(row) + " ").includes(" " + state.verdict + " ")) &&
      (!state.words || state.words.split(/\s+/).every(word => text_of(row).includes(word)));
  }
  function apply() {
    let found = 0;
    for (const row of rows) {
      const fits = wanted(row);
      found += fits;
      const away = !fits || (!state.all && found > MOST);
      if (row.hidden !== away) row.hidden = away;
    }
    const hidden = !state.all && found > MOST;
    more.hidden = !hidden;
    said.textContent = found + " of " + rows.length + " cases" + (hidden ? ", the first " + MOST + " are shown" : "");
  }
  function choice(label, key, values) {
    if (values.length < 2) return;
    const select = el("select", "", { "data-filter": key, onchange: () => { state[key] = select.value; apply(); } });
    const place = value => key === "verdict" && !$(value) ? { value, id: value } : { value }; /* a flag's link leads to it */
    select.append(el("option", "all", { value: "" }), ...values.map(value => el("option", value, place(value))));
    const field = el("label", label, { class: "field" });
    field.append(select);
    filters.append(field);
  }
  const known = list => [...new Set(list)].filter(Boolean).sort();
  const search = el("input", "", { type: "search", placeholder: "Search cases", "aria-label": "Search cases", oninput: () => { state.words = search.value.trim().toLowerCase(); apply(); } });
  filters.append(search);
  choice("kernel", "kernel", known(rows.map(kernel_of)));
  choice("tag", "tag", known(rows.flatMap(r => (r.dataset.t || "").split(" "))));
  choice("verdict", "verdict", known(rows.flatMap(r => verdict_of(r).split(" "))));
  filters.append(el("button", "Copy as Markdown", { type: "button", id: table.id + "-copy", onclick: e => copy(table, rows, e.target) }), said, more);
  table.parentElement.before(filters);
  let before = false; /* paper has room for all that was chosen */
  addEventListener("beforeprint", () => { before = state.all; state.all = true; apply(); });
  addEventListener("afterprint", () => { state.all = before; apply(); });
  add_sorting(table, rows, body);
  apply();
  idle(() => rows.forEach(text_of)); /* so that the first search need not */
  return { rows, reveal(row) { Object.assign(state, { words: "", kernel: "", tag: "", verdict: "" }); filters.querySelectorAll("input,select").forEach(e => { e.value = ""; }); apply(); row.hidden = false; } };
}
/* "1.40 us", "<0.1 %", "64Ki", "+151 %" as numbers; null: something else. */
const steps = { n: 1e-9, u: 1e-6, m: 1e-3, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40 };
function number_of(words) {
  const [, n, step] = /^<?([+-]?[\d.]+(?:e[+-]?\d+)?) ?((?:[KMGT]i|[numkMGTP])?)/.exec(words) || [];
  return n === undefined || isNaN(n) ? null : n * (steps[step] || 1);
}
function add_sorting(table, rows, body) {
  const value = (row, column) => row.cells[column]?.classList.contains("n") ? number_of(row.cells[column].textContent) : null;
  [...(table.tHead?.rows[0].cells || [])].forEach((head, column) => {
    if (!head.textContent) return;
    const button = el("button", head.textContent, { type: "button" });
    head.textContent = "";
    head.append(button);
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending", sign = up ? 1 : -1;
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const key = rows.map(row => [value(row, column), row.cells[column]?.textContent || "", row]);
      key.sort(([a, s], [b, t]) => a !== null && b !== null ? sign * (a - b) : (a === null) - (b === null) || sign * s.localeCompare(t, "en", { numeric: true }));
      key.forEach(([, , row], k) => { rows[k] = row; });
      body.append(...rows);
      const first = table.parentElement.previousElementSibling?.querySelector("input");
      first?.dispatchEvent(new Event("input"));
    });
  });
}
const markdown = words => words.trim().replace(/\s+/g, " ").replace(/[\\`*_{}[\]<>()#+!|~]/g, "\\$&");
async function copy(table, rows, button) {
  const line = cells => "| " + cells.map(c => markdown(words_of(c))).join(" | ") + " |";
  const heads = [...table.tHead.rows[0].cells], text = [line(heads), "|" + heads.map(h => h.className === "n" ? "---:|" : "---|").join(""), ...rows.filter(r => !r.hidden).map(r => line([...r.cells]))].join("\n") + "\n";
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch { /* pages opened as files may not */
    save(stem() + ".md", "text/markdown", text);
    button.textContent = "Saved as Markdown";
  }
  setTimeout(() => { button.textContent = "Copy as Markdown"; }, 2000);
}

/* ---- permalinks ---- */
function go(tables) {
  let id = location.hash.slice(1);
  try { id = decodeURIComponent(id); } catch { /* as it is */ }
  for (const old of document.querySelectorAll("tr.here")) old.classList.remove("here");
  const flag = $(id)?.closest("select");
  if (flag) {
    flag.value = id;
    flag.dispatchEvent(new Event("change"));
    flag.scrollIntoView({ block: "center" });
  }
  const row = id.startsWith("case=") && $(id);
  if (!row) return;
  for (const table of tables) if (table.rows.includes(row)) table.reveal(row);
  row.closest("details")?.setAttribute("open", "");
  row.classList.add("here");
  row.scrollIntoView({ block: "center" });
}

document.addEventListener("DOMContentLoaded", () => {
  add_tools();
  for (const figure of document.querySelectorAll("figure[data-picture]")) {
    point_at(figure, [...document.querySelectorAll("table.cases")].find(t => t.tBodies[0]?.rows.length && figure.compareDocumentPosition(t) & 4));
    add_picture_tools(figure);
  }
  document.body.append(tip);
  const tables = [...document.querySelectorAll("table.cases")].filter(t => t.tBodies[0]?.rows.length).map(case_table);
  rest.remove();
  for (const link of document.querySelectorAll("a[data-flag]")) if ($(link.dataset.flag)) link.href = "#" + link.dataset.flag;
  document.addEventListener("click", e => {
    const head = e.target.closest?.("table.cases tbody th");
    if (head) location.hash = encodeURIComponent(head.parentElement.id);
  });
  addEventListener("hashchange", () => go(tables));
  go(tables);
  root.dataset.ready = "1";
});
})();
