// SPDX-License-Identifier: MIT
// Pages in a browser: node test_page.mjs MODULES CHROMIUM FOLDER, where FOLDER has the pages that test_page.py made. Prints what is
// wrong, a line each; the exit code is 1 then.
import { createRequire } from "node:module";
import { readFileSync, readdirSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [modules, chromium, folder] = process.argv.slice(2);
const require = createRequire(modules + "/");
const flags = ["--headless", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-sandbox"];
const browser = await require("playwright-core").chromium.launch({ executablePath: chromium, args: flags });
const axe = require.resolve("axe-core/axe.min.js");
const problems = [];
const check = (holds, what) => { if (!holds) problems.push(what); };

async function open(name, options = {}, hash = "", before = "") {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, ...options });
  if (before) await page.addInitScript(before);
  page.on("console", message => problems.push(`${name}: console: ${message.text()}`));
  page.on("pageerror", error => problems.push(`${name}: ${error.message}`));
  page.on("request", request => check(/^(file|data|blob):/.test(request.url()), `${name}: asks for ${request.url()}`));
  await page.goto(pathToFileURL(`${folder}/${name}.html`).href + hash);
  return page;
}
const sideways = page => page.evaluate(() => document.documentElement.scrollWidth > innerWidth);

// Words of charts that stand on others, or that the edge cuts.
const colliding = page => page.evaluate(() => [...document.querySelectorAll("figure.live .chart svg")].flatMap(svg => {
  const edge = svg.getBoundingClientRect(), upright = t => !/matrix\((?!1,0)/.test(t.getAttribute("transform") || "");
  const texts = [...svg.querySelectorAll("text")].filter(t => t.textContent.trim() && upright(t)).map(t => [t.textContent, t.getBoundingClientRect()]);
  const over = (p, q) => Math.min(p.right, q.right) - Math.max(p.left, q.left) > 2 && Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top) > 4;
  return texts.flatMap(([a, p], i) => [...(p.right > edge.right + 2 || p.left < edge.left - 2 ? [a] : []), ...texts.slice(i + 1).filter(([, q]) => over(p, q)).map(([b]) => `${a} on ${b}`)]);
}));
async function through(page) {
  for (let y = 0, high = await page.evaluate(() => document.documentElement.scrollHeight); y < high; y += 1200) {
    await page.evaluate(to => { scrollTo(0, to); return new Promise(requestAnimationFrame); }, y);
  }
  await page.evaluate(() => scrollTo(0, 0));
}

// axe is no part of the page, so its policy does not hold for this one.
async function everywhere(name) {
  const page = await open(name, { bypassCSP: true });
  if (await page.locator("#charts").count()) await page.waitForSelector("figure.live .chart svg");
  await through(page);
  await page.addScriptTag({ path: axe });
  for (const [width, colorScheme] of [[1440, "light"], [1024, "light"], [390, "dark"]]) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    check(!await sideways(page), `${name}: scrolls sideways at ${width}`);
    check(await page.evaluate(() => [...document.querySelectorAll("svg.picture .best")].every(b => +/\d+/.exec(getComputedStyle(b).stroke)[0] < 100)), `${name}: the frame of the best is as light as its cell`);
    const words = await colliding(page);
    check(!words.length, `${name}: at ${width}: ${words.slice(0, 3).join("; ")}`);
    check(await page.evaluate(() => [...document.querySelectorAll("svg.interval")].every(s => !s.checkVisibility() || s.getBoundingClientRect().right <= s.parentElement.getBoundingClientRect().right + 1)), `${name}: a bar over its neighbour at ${width}`);
    const dark = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    check((dark !== "rgb(255, 255, 255)") === (colorScheme === "dark"), `${name}: ${colorScheme} is ${dark}`);
    if (width !== 1024 && (width === 390 || name === "sim")) await accessible(page, `${name} at ${width}`);
  }
  check(await page.evaluate(() => [...document.querySelectorAll("button,select,input,summary,a[href]")].every(e => e.tabIndex >= 0)), `${name}: a control that no key reaches`);
  check(await page.evaluate(() => [...document.querySelectorAll("a[href^='#']")].every(a => document.getElementById(decodeURIComponent(a.hash.slice(1))))), `${name}: a link to nowhere`);
  await page.close();
  const still = await open(name, { javaScriptEnabled: false });
  check(await still.locator(name.startsWith("doc_") ? "tbody tr" : "table.cases tbody tr").count() > 0 && await still.locator("svg.picture title").count() > 0, `${name}: without a script`);
  const places = await still.locator("nav a").allTextContents();
  check(new Set(places).size === places.length, `${name}: places of one name: ${places}`);
  await still.close();
}

async function accessible(page, name) {
  const found = await page.evaluate(() => axe.run({ resultTypes: ["violations"] }));
  for (const v of found.violations.filter(v => ["serious", "critical"].includes(v.impact)))
    problems.push(`${name}: axe: ${v.id}: ${v.nodes.slice(0, 2).map(n => n.html.slice(0, 160)).join(" ")}`);
}

async function choosing(name) {
  const page = await open(name);
  await page.evaluate(() => document.querySelector("table.cases").closest("details")?.setAttribute("open", ""));
  const shown = () => page.locator("table.cases tbody tr:visible").count();
  const all = await shown();
  const kernel = await page.locator("select[data-filter=kernel] option").nth(1).getAttribute("value");
  await page.selectOption("select[data-filter=kernel]", kernel);
  const some = await shown();
  check(some > 0 && some < all, `${name}: filter by kernel: ${some} of ${all}`);
  check(await page.evaluate(k => [...document.querySelectorAll("table.cases tbody tr:not([hidden])")].every(r => r.id.startsWith(`case=${k}/`)), kernel), `${name}: other kernels`);
  await page.selectOption("select[data-filter=kernel]", "");
  await page.fill("input[type=search]", "no such case anywhere");
  check(await shown() === 0, `${name}: search`);
  await page.fill("input[type=search]", "");
  const time = page.locator("table.cases thead th", { hasText: /^(time|predicted)/ }).first();
  await time.locator("button").click();
  const values = await page.evaluate(() => [...document.querySelectorAll("table.cases tbody tr")].map(r => r.cells[1].textContent).filter(t => /^\d/.test(t)).map(t => parseFloat(t) * { ns: 1, us: 1e3, ms: 1e6, s: 1e9 }[t.split(" ")[1]]));
  check(values.every((v, k) => !k || v >= values[k - 1]) && await time.getAttribute("aria-sort") === "ascending", `${name}: sorting`);
  await page.locator("#theme").click();
  check(await page.evaluate(() => document.documentElement.dataset.theme) === "light", `${name}: theme`);
  for (const ending of ["json", "csv"]) { /* test_page.py compares them */
    const [data] = await Promise.all([page.waitForEvent("download"), page.locator("#save-" + ending).click()]);
    await data.saveAs(`${folder}/${name}.${ending}`);
  }
  const [svg] = await Promise.all([page.waitForEvent("download"), page.locator(".pictools button", { hasText: "SVG" }).first().click()]);
  check(svg.suggestedFilename().endsWith(".svg") && /<text[^>]*paint-order: ?stroke/.test(readFileSync(await svg.path(), "utf8")), `${name}: a picture as SVG, its labels over what surrounds them`);
  const [png] = await Promise.all([page.waitForEvent("download"), page.locator(".pictools button", { hasText: "PNG" }).first().click()]);
  check(png.suggestedFilename().endsWith(".png"), `${name}: a picture as PNG`);
  await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: { writeText: async text => { globalThis.copied = text; } } }));
  await page.locator("button", { hasText: "Copy as Markdown" }).first().click();
  const lines = (await page.evaluate(() => globalThis.copied)).split("\n");
  check(lines[0].startsWith("| case") && /^\|(---:?\|)+$/.test(lines[1]) && lines.length > await shown(), `${name}: copied ${lines[0]}`);
  await page.setViewportSize({ width: 700, height: 990 }); /* A4 within its margins */
  await page.emulateMedia({ media: "print" });
  check(await page.locator("table.cases tbody tr").first().evaluate(r => getComputedStyle(r).display) === "table-row" && !await sideways(page), `${name}: paper is no phone`);
  check(await page.locator("svg.on-screen").first().isVisible() && !await page.locator(".chart, .filters, .tools, .controls").evaluateAll(all => all.some(e => e.checkVisibility())), `${name}: on paper`);
  await page.close();
}

// Pictures as charts: drawn, named, isolated, narrowed to the heaviest; a pointer is told the evidence.
async function charts(name) {
  const page = await open(name);
  if (!await page.locator("#charts").count()) return console.log("this build has static pictures alone"), page.close();
  await page.waitForSelector("figure.live .chart svg");
  const figure = page.locator("figure[data-picture=roofline]");
  await figure.scrollIntoViewIfNeeded();
  const faint = () => figure.locator(".chart path[fill-opacity='0.1'], .chart path[opacity='0.1']").count();
  check(await figure.locator(".chart path").count() > 5 && !await figure.locator("svg.on-screen").isVisible(), `${name}: no chart`);
  check(await faint() === 0, `${name}: faint marks`);
  // All of its cases stand under L1: with that ceiling they stay, with another one they go, as do other ceilings with the kernel.
  const lines = () => figure.locator(".chart path[stroke-opacity='0.12'], .chart path[opacity='0.12']").count();
  for (const [key, marks] of [["L1", false], ["HBM", true], ["vector_f32, best", false]]) {
    const button = figure.locator("button.key", { hasText: key });
    await button.click();
    check(await button.getAttribute("aria-pressed") === "true" && await lines() > 2 && (await faint() > 0) === marks, `${name}: ${key} alone: ${await lines()} faint lines, ${await faint()} marks`);
    await button.click();
    check(await faint() === 0 && await lines() === 0, `${name}: all of them again`);
  }
  const first = figure.locator("button.key").first();
  await first.press("Enter");
  check(await first.getAttribute("aria-pressed") === "true", `${name}: Enter shows one alone`);
  await first.press("Escape");
  check(await first.getAttribute("aria-pressed") === "false" && await faint() === 0, `${name}: Escape shows all of them`);
  const keys = figure.locator("button.key"), alone = [];
  for (const [key, modifiers] of [[0, []], [1, ["Control"]], [1, ["Control"]], [0, []]]) {
    await keys.nth(key).click({ modifiers });
    alone.push(await figure.locator("button.key[aria-pressed=true]").count());
  }
  check(`${alone}` === "1,2,1,0", `${name}: with Ctrl several are shown: ${alone}`);
  const [x1, y1, x2, y2] = await figure.locator(".chart path[stroke-dasharray]").evaluateAll(all => all.map(p => p.getAttribute("d").match(/[\d.]+/g).map(Number)).find(([x1, y1, x2, y2]) => x2 - x1 > 50 && y1 - y2 > 20));
  const box = await figure.locator(".chart").boundingBox();
  await page.mouse.move(box.x + x1 + 0.3 * (x2 - x1), box.y + y1 + 0.3 * (y2 - y1));
  const ridge = figure.locator(".chart text", { hasText: /^meets vector_f32 at [\d.]+ FLOP\/B$/ }).first();
  await ridge.waitFor({ timeout: 5000 }).catch(() => check(false, `${name}: a memory level does not say where it meets the peak`));
  await page.mouse.move(0, 0);
  const marks = () => page.evaluate(() => document.querySelectorAll("figure[data-picture=roofline] .chart path").length), all = await marks();
  await figure.locator("[data-control=level]").selectOption("L1");
  const under = await marks();
  await figure.locator("[data-control=level]").selectOption("HBM");
  check(await marks() < under && under < all, `${name}: of a memory level: ${under}, ${await marks()} of ${all}`);
  await figure.locator("[data-control=level]").selectOption("");
  await figure.locator("[data-control=heaviest]").fill("1");
  check(/^the 1 that take the longest, \d+ % of the time$/.test(await figure.locator("output").textContent()), `${name}: ${await figure.locator("output").textContent()}`);
  check(await marks() < all, `${name}: the heaviest case: ${await marks()} of ${all} marks`);
  await page.close();
}

async function permalink(name) {
  const id = [...readFileSync(`${folder}/${name}.html`, "utf8").matchAll(/<tr id="(case=[^"]*)"/g)].at(-1)[1];
  const page = await open(name, {}, "#" + encodeURIComponent(id));
  check(await page.locator("tr.here").getAttribute("id") === id && await page.locator("tr.here").isVisible(), `${name}: permalink ${id}`);
  await page.close();
}

// A browser never lays out more rows than a person looks at, from the first paint on; without a script all of them are there.
async function many(name) {
  const visible = () => [...document.querySelectorAll("table.cases tbody tr")].filter(r => r.checkVisibility()).length;
  const still = await open(name, { javaScriptEnabled: false });
  check(await still.evaluate(visible) === 5000, `${name}: rows without a script`);
  const places = await still.locator("nav a").allTextContents();
  check(new Set(places).size === places.length, `${name}: places of one name: ${places}`);
  await still.close();
  const page = await open(name, {}, "", `addEventListener("DOMContentLoaded", () => { globalThis.first = (${visible})(); }, { capture: true })`);
  check(await page.evaluate("first") === 100 && await page.evaluate(visible) === 100, `${name}: rows at first: ${await page.evaluate("first")}, then ${await page.evaluate(visible)}`);
  const took = await page.evaluate(() => {
    const search = document.querySelector("input[type=search]"), times = [];
    for (const words of ["zzz", "7", ""]) {
      const start = performance.now();
      search.value = words;
      search.dispatchEvent(new Event("input"));
      document.body.offsetHeight;
      times.push(performance.now() - start);
    }
    return { rows: document.querySelectorAll("table.cases tbody tr").length, times };
  });
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  check(await page.evaluate(visible) === 5000, `${name}: rows on paper`);
  await page.evaluate(() => dispatchEvent(new Event("afterprint")));
  check(await page.evaluate(visible) === 100, `${name}: rows after printing`);
  await page.locator(".filters button", { hasText: "Show all" }).click();
  check(await page.evaluate(visible) === 5000, `${name}: all rows`);
  console.log(`${name}: ${took.rows} cases, filters answer in ${took.times.map(t => t.toFixed(0)).join(", ")} ms`);
  await page.close();
}

// What results call their cases, kernels, devices and nodes stays text, and does not stretch the page.
async function tame(name) {
  const page = await open(name);
  check(await page.evaluate(() => !globalThis.pwned && !document.querySelector("main script, main img, main iframe, [onerror]")), `${name}: a string became an element`);
  check(await page.locator("body").textContent().then(t => t.includes("<img src=x onerror=pwned=1>")), `${name}: the text is not there`);
  for (const width of [1440, 390]) {
    await page.setViewportSize({ width, height: 900 });
    check(!await sideways(page), `${name}: scrolls sideways at ${width}`);
  }
  check(!/[\u202a-\u202e\u2066-\u2069]/.test(await page.locator("body").innerText()), `${name}: text that turns what is beside it around`);
  check(await page.locator("a").evaluateAll(all => all.every(a => !/^javascript:/i.test(a.getAttribute("href")))), `${name}: a link that runs`);
  return page;
}

async function hostile(name) {
  const page = await tame(name);
  check(await page.locator("h1").evaluate(h => /isolate/.test(getComputedStyle(h.firstElementChild).unicodeBidi)), `${name}: a name can turn the verdict beside it around`);
  const long = page.locator("table.cases tbody th[title]");
  check(await long.evaluateAll(all => all.length === 1 && all[0].title === "start" + "x".repeat(9990) + "stop!" && /^start.*x \u2026 x.*stop!$/.test(all[0].textContent) && all[0].offsetHeight < 300), `${name}: a name of 10,000 characters`);
  await page.fill("input[type=search]", "x".repeat(5000));
  check(await page.locator("table.cases tbody tr:visible").count() === 1, `${name}: what is cut is not found`);
  await page.close();
}

for (const name of readdirSync(folder).filter(f => f.endsWith(".html")).map(f => f.slice(0, -5)).sort()) {
  if (name === "many") await many(name);
  else if (name === "hostile") await hostile(name);
  else if (name.startsWith("site_")) await (await tame(name)).close();
  else await everywhere(name);
}
for (const name of ["sim", "checkup"]) {
  await choosing(name);
  await permalink(name);
}
await charts("sim");
await browser.close();
for (const problem of problems) console.log(problem);
process.exit(problems.length ? 1 : 0);
