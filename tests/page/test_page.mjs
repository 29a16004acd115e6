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

// Words of pictures that stand on others, or that the edge cuts.
const colliding = page => page.evaluate(() => [...document.querySelectorAll("figure svg.picture")].flatMap(svg => {
  const edge = svg.getBoundingClientRect(), upright = t => !/rotate\((?!0\.?0*\))/.test(t.getAttribute("transform") || "");
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
  check(await page.evaluate(k => [...document.querySelector("table.cases").querySelectorAll("tbody tr:not([hidden])")].every(r => r.id.startsWith(`case=${k}/`)), kernel), `${name}: other kernels`);
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
  const [data] = await Promise.all([page.waitForEvent("download"), page.locator("#save-json").click()]);
  await data.saveAs(`${folder}/${name}.json`); /* test_page.py compares it */
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
  check(await page.locator("figure svg.picture").first().isVisible() && !await page.locator(".heaviest, .filters, .tools, #tip").evaluateAll(all => all.some(e => e.checkVisibility())), `${name}: on paper`);
  await page.close();
}

// Pictures that can be pointed at: a mark tells what its case's row has, a ceiling where it meets the peak; one series alone, or several
// with Ctrl; the longest cases alone; a click leads to the case.
async function pointing(name) {
  const page = await open(name), figure = page.locator("figure[data-picture=roofline]"), said = page.locator("#tip");
  await figure.scrollIntoViewIfNeeded();
  const faint = what => figure.locator(what).evaluateAll(all => all.filter(e => e.closest(".faint")).length);
  const marks = await figure.locator("[data-c]").count(), lines = await figure.locator("[data-l] line.hit").count();
  check(marks > 3 && lines > 2 && await faint("[data-c]") === 0, `${name}: ${marks} marks, ${lines} lines`);
  await figure.locator("[data-c]").last().hover({ force: true });
  const words = (await said.textContent()).split("\n"), row = await figure.locator("[data-c]").last().getAttribute("data-c");
  const cells = await page.locator("table.cases tbody tr").nth(row - 1).locator("th,td").allTextContents();
  check(words[0].startsWith(cells[0].slice(0, 12)) && words.some(line => line.endsWith(": " + cells[1])) && words.some(line => /^bound: \w/.test(line)), `${name}: a mark says ${words}, its row ${cells}`);
  // With the ceiling of the largest case that one stays, with another one all go, as do other ceilings with the kernel.
  const own = await figure.locator("[data-b]").last().getAttribute("data-b");
  for (const [key, all] of [[own, false], ["HBM", true]]) {
    const label = figure.locator("[data-l] text", { hasText: new RegExp("^" + key) });
    await label.click();
    check(await label.getAttribute("aria-pressed") === "true" && await faint("[data-l] line.hit") === lines - 1 && (await faint("[data-c]") === marks) === all, `${name}: ${key} alone: ${await faint("[data-l] line.hit")} faint lines, ${await faint("[data-c]")} of ${marks} marks`);
    await label.click();
    check(await faint("[data-c], line.hit") === 0, `${name}: all of them again`);
  }
  const first = figure.locator("[data-k]").filter({ has: page.locator("path") }).first();
  await first.press("Enter");
  check(await first.getAttribute("aria-pressed") === "true" && await faint("line.hit") > 0 && await faint("[data-c]") < marks, `${name}: Enter shows one alone`);
  await first.press("Escape");
  check(await first.getAttribute("aria-pressed") === "false" && await faint("[data-c]") === 0, `${name}: Escape shows all of them`);
  const keys = figure.locator("g[data-k], [data-l] text"), alone = [];
  for (const [key, modifiers] of [[0, []], [1, ["Control"]], [1, ["Control"]], [0, []]]) {
    await keys.nth(key).click({ modifiers });
    alone.push(await figure.locator("[aria-pressed=true]").count());
  }
  check(`${alone}` === "1,2,1,0", `${name}: with Ctrl several are shown: ${alone}`);
  await figure.locator("[data-l=HBM] line.hit").dispatchEvent("pointermove");
  check(/meets vector_f32 at [\d.]+ FLOP\/B/.test(await said.textContent()), `${name}: a memory level does not say where it meets the peak: ${await said.textContent()}`);
  await figure.locator("input[type=range]").fill("1");
  check(/^the 1 that take the longest, \d+ % of the time$/.test(await figure.locator("output").textContent()) && await figure.locator("[data-c].gone").count() === marks - 1, `${name}: ${await figure.locator("output").textContent()}`);
  await figure.locator("[data-c]:not(.gone)").click({ force: true });
  check(await page.locator("tr.here").isVisible(), `${name}: a mark leads to its case`);
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
for (const name of ["sim", "suites"]) {
  await choosing(name);
  await permalink(name);
}
await pointing("sim");
await browser.close();
for (const problem of problems) console.log(problem);
process.exit(problems.length ? 1 : 0);
