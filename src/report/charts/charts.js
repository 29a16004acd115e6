/* SPDX-License-Identifier: MIT
 *
 * The charts of a page as things to point at, with Apache ECharts: what src/report/chart_json.c describes, in the colours that the page
 * has. scripts/build_charts makes one file of this and the parts of ECharts that it names. Text only ever becomes text: tooltips
 * are drawn, not markup. */
import { init, use } from "echarts/core";
import { CustomChart, ScatterChart } from "echarts/charts";
import { DataZoomInsideComponent, GridComponent, TooltipComponent } from "echarts/components";
import { LabelLayout } from "echarts/features";
import { SVGRenderer } from "echarts/renderers";

use([CustomChart, ScatterChart, DataZoomInsideComponent, GridComponent, TooltipComponent, LabelLayout, SVGRenderer]);

/* ---- units, as src/base/units.c writes them ---- */
const prefixed = (v, steps, base) => {
  let k = 0;
  while (k + 1 < steps.length && Math.abs(v) >= base * 0.9995) { v /= base; k++; }
  return [+v.toPrecision(3), steps[k]];
};
const bare = v => String(+v.toPrecision(3));
const percent = v => (Math.abs(v) < 0.0995 ? +(v * 100).toFixed(1) : Math.round(v * 100)) + " %";
const units = {
  "ns": v => prefixed(v, ["ns", "us", "ms", "s"], 1000).join(" "),
  "B": v => prefixed(v, ["B", "KiB", "MiB", "GiB", "TiB"], 1024).join(" "),
  "size": v => v >= 1024 && Number.isInteger(v) && v % 1024 === 0 ? prefixed(v, ["", "Ki", "Mi", "Gi"], 1024).join("") : prefixed(v, ["", "k", "M", "G"], 1000).join(""),
  "FLOP/B": v => prefixed(v, ["", "k", "M", "G"], 1000).join(""),
  "%": v => percent(v),
  "change": v => (v > 0 ? "+" : "") + percent(v),
};
function words(v, unit) {
  if (v === 0) return "0";
  if (units[unit]) return units[unit](v);
  if (unit && /[/]s$|^Hz$/.test(unit)) { const [n, p] = prefixed(v, ["", "k", "M", "G", "T", "P"], 1000); return `${n} ${p}${unit}`; }
  return bare(v) + (unit && unit !== "1" && unit !== "count" ? " " + unit : "");
}

/* Where an axis has its ticks while all of it is seen: at powers, or at 1, 2 and 5 of each; zoomed in, ECharts chooses. */
function ticks({ low, high, scale, unit }, most) {
  if (scale !== "log") return undefined;
  const base = unit === "B" || unit === "size" ? 2 : 10, span = Math.log(high / low) / Math.log(base), step = Math.max(1, Math.ceil(span / most)), found = [];
  const first = Math.log(low) / Math.log(base), fine = base === 10 && span * 3 <= most ? [1, 2, 5] : [1];
  for (let k = Math.floor(first / step) * step; base ** k <= high; k += step) for (const f of fine) if (f * base ** k >= low && f * base ** k <= high) found.push(f * base ** k);
  return found.length > 1 ? found : undefined;
}

/* ---- looks: the style sheet's ---- */
const SHADES = 8;
function looks(figure) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg"), path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  svg.setAttribute("class", "picture");
  svg.append(path);
  figure.append(svg);
  const read = (name, key) => { path.setAttribute("class", name); return getComputedStyle(path)[key]; };
  const found = {
    series: [...Array(10).keys()].map(k => read("s" + k, "fill")), hollow: read("bar s9", "stroke"),
    shades: [...Array(SHADES).keys()].map(k => read("h" + k, "fill")), dark: read("on-dark", "fill"), light: read("on-light", "fill"),
    label: read("label", "fill"), tick: read("tick", "fill"), grid: read("grid", "stroke"), axis: read("axis", "stroke"), paper: read("mark", "stroke"),
    ceiling: read("ceiling", "stroke"), vendor: read("vendor", "stroke"),
  };
  svg.remove();
  return found;
}
const font = 'system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif';
const symbols = ["circle", "rect", "triangle", "diamond", "path://M0 0H10L5 9z", "path://M3 0h4v3h3v4h-3v3h-4v-3h-3v-4h3z", "path://M0 3h10v4h-10z", "circle"];
const symbol = look => symbols[Math.min(look, symbols.length - 1)];
const is_line = kind => kind === "line" || kind === "dashed" || kind === "boundary";
/* Braces would begin a style of ECharts' rich text. */
const plain = text => text.replace(/\{/g, "{\u200b").split("\n").map(line => line.length > 100 ? line.slice(0, 99) + "\u2026" : line).join("\n");

/* ---- a chart on a page ---- */
class Live {
  constructor(figure, chart) {
    Object.assign(this, { figure, chart, only: [], group: "", level: "", heaviest: Infinity, values: false, zoomed: false, taken: [] });
    const points = chart.series.flatMap(s => is_line(s.kind) ? [] : s.points);
    this.costs = points.map(p => p.cost || 0).filter(Boolean).sort((a, b) => b - a);
    this.levels = [...new Set(chart.series.flatMap(s => is_line(s.kind) ? s.points : []).filter(p => !p.group).map(p => p.ceiling).filter(Boolean))];
    this.groups = [...new Set(points.map(p => p.group).filter(Boolean))];
    this.box = document.createElement("div");
    this.box.className = "chart";
    this.box.setAttribute("role", "img");
    this.box.setAttribute("aria-label", chart.title + ". " + chart.desc);
    this.picked = document.createElement("p");
    this.picked.className = "picked dim";
    this.picked.setAttribute("aria-live", "polite");
    this.controls = document.createElement("div");
    this.controls.className = "controls";
    const across = document.createElement("p"); /* over the chart, where no room of an axis can cut it */
    across.className = "across dim";
    across.textContent = this.cells ? [["down", chart.y.title], ["across", chart.x.title]].filter(([, title]) => title).map(([way, title]) => `${title} ${way}`).join(", ") : chart.y.title || "";
    figure.prepend(this.controls, across, this.box, this.picked);
    figure.classList.add("live");
    this.add_controls();
    this.box.style.height = this.height() + "px";
    this.view = init(this.box, null, { renderer: "svg" });
    this.view.on("click", e => this.pick(e));
    this.view.getZr().on("click", e => { if (!e.target) this.isolate(); });
    this.view.getZr().on("dblclick", () => this.view.dispatchAction({ type: "dataZoom", batch: [{ dataZoomIndex: 0, start: 0, end: 100 }, { dataZoomIndex: 1, start: 0, end: 100 }] }));
    this.view.on("datazoom", () => {
      const zoomed = this.view.getOption().dataZoom.some(z => z.end - z.start < 99.9);
      if (zoomed !== this.zoomed) { this.zoomed = zoomed; this.draw(); }
    });
    this.draw();
    new ResizeObserver(() => {
      if (this.view.getWidth() === this.box.clientWidth) return;
      this.box.style.height = this.height() + "px";
      this.view.resize();
      this.draw();
    }).observe(this.box);
  }
  get cells() { return this.chart.x.scale === "names" && this.chart.y.scale === "names"; }
  /* Of rows on a phone names stand above what is drawn. */
  get above() { return this.narrow && this.chart.y.scale === "names" && !this.cells; }
  get narrow() { return this.box.clientWidth < 600; }
  /* Of a heat map: what names of its rows take, and a column; few columns stay narrow. */
  name_room() { return Math.min(this.box.clientWidth * 0.4, 12 + 6.6 * Math.max(...this.chart.y.names.map(n => n.length))); }
  cell_width() { return Math.min(130, (this.box.clientWidth - this.name_room() - 40) / this.chart.x.names.length); }
  /* What names of columns take where they stand upright: few of them, without room beside each other. */
  upright() {
    const names = this.chart.x.names, longest = 8 + 6.6 * Math.max(...names.map(n => n.length)), room = this.cell_width() - 8;
    return this.cells && names.length <= 12 && longest >= room && room <= 90 ? Math.min(200, longest) : 0;
  }
  /* Long names of few columns are broken, or stand upright; of rows on a phone they have two lines. */
  name_labels(axis, y, room, cells) {
    const longest = 6.6 * Math.max(...axis.names.map(n => n.length)), few = cells && axis.names.length <= 12;
    if (y) return { rotate: 0, width: room, overflow: this.narrow ? "break" : "truncate", lineHeight: 13, interval: 0, hideOverlap: false, formatter: n => { const most = Math.floor(room / 6.6) * 2 - 4; return this.narrow && n.length > most ? n.slice(0, most) + "\u2026" : n; } };
    if (!few || longest < room) return { rotate: 0, width: cells ? room : undefined, overflow: "truncate", interval: "auto", hideOverlap: true };
    return this.upright() ? { rotate: 90, width: this.upright(), overflow: "truncate", interval: 0, hideOverlap: false } : { rotate: 0, width: room, overflow: "break", lineHeight: 14, interval: 0, hideOverlap: false };
  }
  height() {
    const { x, y } = this.chart, rows = y.names.length;
    return y.scale !== "names" ? (this.narrow ? 330 : 430) : rows * (x.scale === "names" ? 34 : this.narrow ? 44 : 28) + 66 + this.upright();
  }

  /* -- what is chosen -- */
  add_controls() {
    const { chart } = this, el = (name, text, attributes = {}) => {
      const e = document.createElement(name);
      if (text) e.textContent = text;
      for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
      return e;
    };
    const field = (text, input) => { const label = el("label", text, { class: "field" }); label.append(input); this.controls.append(label); };
    const choice = (title, key, values) => {
      if (values.length < 2) return;
      const select = el("select", "", { "data-control": key });
      select.append(el("option", "all", { value: "" }), ...values.map(v => el("option", v, { value: v })));
      select.addEventListener("change", () => { this[key] = select.value; this.draw(); });
      field(title, select);
    };
    choice(chart.group_title || "group", "group", this.groups);
    choice("memory level", "level", this.levels);
    if (this.costs.length > 3) {
      const range = el("input", "", { type: "range", min: 1, max: this.costs.length, value: this.costs.length, "data-control": "heaviest" }), said = el("output", "all cases");
      const sum = costs => costs.reduce((a, b) => a + b);
      range.addEventListener("input", () => {
        this.heaviest = +range.value;
        said.textContent = this.heaviest === this.costs.length ? "all cases" : `the ${range.value} that take the longest, ${percent(sum(this.costs.slice(0, this.heaviest)) / sum(this.costs))} of the time`;
        this.draw();
      });
      field("heaviest", range);
      this.controls.lastChild.append(said);
    }
    if (chart.series.some(s => s.points.some(p => p.more))) {
      const select = el("select", "", { "data-control": "values" });
      select.append(el("option", "share of the best", { value: "" }), el("option", "rate", { value: "1" }));
      select.addEventListener("change", () => { this.values = !!select.value; this.draw(); });
      field("show", select);
    }
    this.keys = chart.series.map((series, k) => {
      if (!series.name || !series.points.length || series.kind === "cell") return null;
      const button = el("button", "", { type: "button", "aria-pressed": "false", class: "key" });
      button.append(this.key_mark(series), document.createTextNode(series.name.length > 60 ? series.name.slice(0, 59) + "\u2026" : series.name));
      button.addEventListener("click", e => this.isolate(k, e));
      return button;
    });
    const keys = el("div", "", { class: "keys", role: "group", "aria-label": "Show one alone, with Ctrl several", title: "Shows one alone, with Ctrl several" });
    keys.append(...this.keys.filter(Boolean));
    keys.addEventListener("keydown", e => { if (e.key === "Escape") this.isolate(); });
    if (this.keys.filter(Boolean).length > 1) this.controls.append(keys);
  }
  key_mark(series) {
    const make = (name, attributes) => { const e = document.createElementNS("http://www.w3.org/2000/svg", name); for (const key in attributes) e.setAttribute(key, attributes[key]); return e; };
    const svg = make("svg", { class: "picture keymark", viewBox: "0 0 18 12", "aria-hidden": "true" });
    if (is_line(series.kind)) svg.append(make("line", { class: { line: "ceiling", dashed: "vendor", boundary: "boundary" }[series.kind], x1: 0, y1: 6, x2: 18, y2: 6 }));
    else if (series.kind === "bar") svg.append(make("rect", { class: "bar s" + series.look, width: 16, height: 12, x: 1 }));
    else if (series.kind === "band") svg.append(make("rect", { class: "corridor", width: 16, height: 12, x: 1 }));
    else {
      if (series.kind !== "marks") svg.append(make("line", { class: "curve s" + series.look, x1: 0, y1: 6, x2: 18, y2: 6 }));
      const shapes = ["m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z", "m-3.7-3.7h7.4v7.4h-7.4z", "m0-5l4.7 8.4h-9.4z", "m0-5.2l4.6 5.2l-4.6 5.2l-4.6-5.2z", "m0 5l4.7-8.4h-9.4z", "m-1.5-4.8h3v3.3h3.3v3h-3.3v3.3h-3v-3.3h-3.3v-3h3.3z", "m-5-2.2h10v4.4h-10z", "m-2.5 0a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0-5 0z"];
      svg.append(make("path", { class: "mark s" + series.look, d: "M9 6" + shapes[Math.min(series.look, 7)] }));
    }
    return svg;
  }
  /* One series alone, or beside those that are; none: all of them. */
  isolate(k, { ctrlKey, metaKey } = {}) {
    const others = ctrlKey || metaKey ? this.only.filter(at => at !== k) : [];
    this.only = k === undefined || (this.only.includes(k) && (others.length || this.only.length === 1)) ? others : [...others, k];
    this.keys.forEach((button, at) => button?.setAttribute("aria-pressed", String(this.only.includes(at))));
    this.draw();
  }
  pick(e) {
    const series = this.chart.series[+e.seriesId.split(" ")[0]], point = series?.points[e.data?.at];
    if (!series) return;
    const at = this.chart.series.indexOf(series);
    if (series.kind !== "cell" && series.kind !== "bar" && this.keys[at]) this.isolate(at, e.event.event);
    this.picked.textContent = "";
    if (!point?.said) return;
    this.picked.append(point.said.split("\n").map(plain).join(" \u00b7 ") + " ");
    if (point.id && document.getElementById("case=" + point.id)) {
      const link = document.createElement("a");
      link.href = "#" + encodeURIComponent("case=" + point.id);
      link.textContent = "to the case";
      this.picked.append(link);
    }
  }
  /* A ceiling's line and the cases under it belong together. */
  under(line, p) { return !!p.ceiling && (line.points[0].ceiling || "").split(", ").includes(p.ceiling); }
  faint(series, k, p) {
    const only = this.only.map(at => this.chart.series[at]);
    if (!only.length || this.only.includes(k)) return false;
    if (only.some(o => is_line(o.kind) === is_line(series.kind))) return true;
    return !only.some(o => is_line(o.kind) ? p && this.under(o, p) : o.points.some(q => this.under(series, q)));
  }
  shown(series) {
    const least = this.heaviest < this.costs.length ? this.costs[this.heaviest - 1] : 0;
    return series.points.map((p, at) => ({ ...p, at })).filter(p => (!this.group || !p.group || p.group === this.group) && (!this.level || p.ceiling === this.level || !this.levels.includes(p.ceiling)) && (is_line(series.kind) || !p.cost || p.cost >= least));
  }

  /* -- how it is drawn -- */
  axis(axis, y) {
    const c = this.look, names = axis.scale === "names", cells = this.cells, room = y ? this.name_room() : this.cell_width() - 8;
    const common = {
      name: y || this.cells ? "" : axis.title || "", nameLocation: "middle", nameGap: 30, nameTextStyle: { color: c.tick, fontFamily: font },
      axisLine: { show: !y && !names, onZero: false, lineStyle: { color: c.axis } }, axisTick: { show: false }, splitLine: { show: !names, lineStyle: { color: c.grid } },
      axisLabel: { color: names && y ? c.label : c.tick, fontFamily: font, fontSize: 12, hideOverlap: true },
    };
    if (names) return { ...common, type: "category", data: axis.names, inverse: y, position: y ? undefined : cells ? "top" : "bottom", axisLabel: { ...common.axisLabel, ...this.name_labels(axis, y, room, cells), show: !y || !this.above } };
    const binary = axis.unit === "B" || axis.unit === "size";
    const customValues = this.zoomed ? undefined : ticks(axis, y ? 7 : this.narrow ? 4 : 10);
    return { ...common, type: axis.scale === "log" ? "log" : "value", logBase: binary ? 2 : 10, min: axis.low, max: axis.high, splitNumber: y ? 6 : this.narrow ? 3 : 8, axisTick: { show: false, customValues },
      axisLabel: { ...common.axisLabel, customValues, showMinLabel: axis.scale === "log" || axis.low === 0 ? undefined : false, showMaxLabel: axis.scale === "log" ? undefined : false, formatter: v => words(v, axis.unit) } };
  }
  /* Words along a line, above or below it, where no other line and no other words are. */
  along(text, own, style, api) {
    if (!this.lines) this.taken.push(...this.chart.series.flatMap(s => is_line(s.kind) ? [] : this.shown(s).map(p => api.coord([p.x, p.y]))));
    this.lines ??= this.chart.series.filter(s => is_line(s.kind)).map(s => s.points.flatMap(p => api.coord([p.x, p.y])));
    const [x1, y1, x2, y2] = own, length = Math.hypot(x2 - x1, y2 - y1), turn = Math.atan2(y2 - y1, x2 - x1), width = text.length * 6.4;
    const near = ([a, b, c, d], px, py) => { const l = (c - a) ** 2 + (d - b) ** 2, f = l ? Math.max(0, Math.min(1, ((px - a) * (c - a) + (py - b) * (d - b)) / l)) : 0; return Math.hypot(a + f * (c - a) - px, b + f * (d - b) - py) < 7; };
    const others = this.lines.filter(l => l.some((v, k) => Math.abs(v - own[k]) > 0.5));
    for (const off of [-10, 11])
      for (let k = 14; k < length - width - 4; k += 14) {
        const at = turn === 0 ? length - width - k : k, cos = Math.cos(turn), sin = Math.sin(turn), x = x1 + at * cos - off * sin, y = y1 + at * sin + off * cos;
        const spots = [...Array(Math.ceil(width / 10) + 1).keys()].map(b => [x + b * 10 * cos, y + b * 10 * sin]);
        if (spots.some(([px, py]) => py < 8 || this.taken.some(t => Math.abs(t[0] - px) < 12 && Math.abs(t[1] - py) < 13) || others.some(l => near(l, px, py)))) continue;
        this.taken.push(...spots);
        return [{ type: "text", x, y, rotation: -turn, silent: true, style: { text, textVerticalAlign: "middle", ...style } }];
      }
    return [];
  }
  /* ECharts rounds values of an axis of names; ours stand between them too. */
  coord(api, value) {
    const at = api.coord(value), size = api.size([1, 1]), first = api.coord([0, 0]);
    return [this.chart.x, this.chart.y].map((axis, k) => axis.scale === "names" ? first[k] + value[k] * size[k] : at[k]);
  }
  text(text, x, y, fill, align = "left") { return { type: "text", silent: true, style: { text, x, y, fill, font: "12px " + font, textAlign: align, textVerticalAlign: "middle" } }; }
  shape(series, points, faint) {
    const c = this.look, color = c.series[series.look], opacity = faint ? 0.12 : 1, along_x = this.chart.y.scale === "names";
    const at = (api, p, v) => api.coord(along_x ? [v, p.y] : [p.x, v]);
    return (params, raw) => {
      const p = points[params.dataIndex], children = [], api = { coord: v => this.coord(raw, v), size: v => raw.size(v) };
      if (!p) return null;
      if (is_line(series.kind)) {
        if (params.dataIndex || points.length < 2) return null;
        const from = api.coord([points[0].x, points[0].y]), to = api.coord([points[1].x, points[1].y]), stroke = series.kind === "line" ? c.ceiling : c.vendor;
        const dash = { dashed: [6, 4], boundary: [2, 4] }[series.kind];
        const label = { fill: c.tick, font: "12px " + font, stroke: c.paper, lineWidth: 3, opacity };
        children.push({ type: "line", shape: { x1: from[0], y1: from[1], x2: to[0], y2: to[1] }, style: { stroke, lineWidth: series.kind === "boundary" ? 1 : 1.6, lineDash: dash, opacity } });
        if (series.kind === "boundary") {
          const width = 6.6 * series.name.length, left = to[0] - api.coord([this.chart.x.low, points[0].y])[0] > 8 + width, x = to[0] + (left ? -5 - width : 5);
          const top = Math.min(from[1], to[1]), y = [9, 23, 37, 51].find(at => !this.taken.some(t => Math.abs(t[1] - top - at) < 13 && t[0] > x - 6 && t[0] < x + width + 6)) ?? 9;
          if (series.name) { this.taken.push([x, top + y], [x + width / 2, top + y], [x + width, top + y]); children.push(this.text(series.name, x, top + y, c.tick)); }
        }
        else if (series.name) children.push(...this.along(series.name, [...from, ...to], label, api));
      } else if (series.kind === "curve" || series.kind === "band") {
        if (params.dataIndex) return null;
        const known = points.filter(q => q.y !== undefined), band = series.kind === "band";
        const edge = band ? [...points.map(q => api.coord([q.x, q.high])), ...points.slice().reverse().map(q => api.coord([q.x, q.low]))] : known.map(q => api.coord([q.x, q.y]));
        children.push({ type: band ? "polygon" : "polyline", silent: true, shape: { points: edge }, style: band ? { fill: color, opacity: faint ? 0.03 : 0.09 } : { stroke: color, fill: "none", lineWidth: 1.8, opacity } });
      } else if (series.kind === "interval") {
        if (p.low === undefined) return null;
        const from = at(api, p, p.low), to = at(api, p, p.high);
        children.push({ type: "line", shape: { x1: from[0], y1: from[1], x2: to[0], y2: to[1] }, style: { stroke: color, lineWidth: 2.4, opacity: opacity * 0.55 } });
        if (p.words && along_x) children.push(this.text(p.words, this.box.clientWidth - 6, from[1], c.label, "right"));
      } else if (series.kind === "bar") {
        const from = api.coord([p.low, p.y]), to = api.coord([p.high, p.y]), hollow = series.look === 9;
        children.push({ type: "rect", shape: { x: from[0], y: from[1] - 8, width: Math.max(to[0] - from[0], 0.5), height: 16 }, style: { fill: color, opacity, ...(hollow ? { stroke: c.hollow, lineDash: [3, 3] } : {}) } });
        if (p.words) children.push(this.text(p.words, to[0] + 8, to[1], c.label));
      } else if (series.kind === "cell") {
        const [x, y] = api.coord([p.x, p.y]), [width, height] = api.size([1, 1]), shade = Math.min(SHADES - 1, Math.floor((1 - p.share) * 1.2 * SHADES));
        children.push({ type: "rect", shape: { x: x - width / 2 + 1, y: y - height / 2 + 1, width: width - 2, height: height - 2 }, style: { fill: c.shades[shade] } });
        if (p.share >= 1) children.push({ type: "rect", silent: true, shape: { x: x - width / 2 + 3.5, y: y - height / 2 + 3.5, width: width - 7, height: height - 7 }, style: { fill: "none", stroke: c.light, lineWidth: 1.2 } });
        const text = (this.values ? p.more : p.words) || "";
        if (text.length * 6.6 + 6 < width) children.push(this.text(text, x, y, shade > 3 ? c.dark : c.light, "center"));
      }
      return { type: "group", children };
    };
  }
  /* Words right of a mark would reach over the edge. */
  reaches(x, text) {
    const { low, high, scale } = this.chart.x, left = scale === "log" ? Math.log(high / x) / Math.log(high / low) : (high - x) / (high - low);
    const plot = this.box.clientWidth - 24 - (this.above ? 0 : this.chart.y.scale === "names" ? this.name_room() : 70);
    return left * plot < 6.8 * text.length;
  }
  series(series, k) {
    const points = this.shown(series), faint = this.faint(series, k), all = [];
    const data = points.map(p => ({ value: [p.x, p.y], at: p.at }));
    const z = { band: 1, line: 2, dashed: 2, boundary: 2 }[series.kind] || 3;
    if (series.kind !== "marks") all.push({ id: k + " shape", type: "custom", clip: series.kind !== "bar" && series.kind !== "interval", z, data, renderItem: this.shape(series, points, faint), name: series.name, silent: series.kind === "band" });
    if (series.kind === "marks" || series.kind === "curve" || series.kind === "interval")
      all.push({
        id: k + " marks", type: "scatter", name: series.name, z: faint ? 3 : 4, symbol: symbol(series.look), symbolSize: series.look === 7 ? 6 : 9, 
        data: data.map((d, at) => ({ ...d, itemStyle: { opacity: this.faint(series, k, points[at]) ? 0.1 : 1 }, label: { show: !!points[at].words && series.kind === "marks", position: this.reaches(d.value[0], points[at].words || "") ? "left" : "right", formatter: () => points[at].words || "" } })),
        itemStyle: { color: this.look.series[series.look], borderColor: this.look.paper, borderWidth: 0.9 },
        label: { color: this.look.label, fontFamily: font, fontSize: 12 }, labelLayout: { hideOverlap: true }, emphasis: { scale: 1.5 }, large: false,
      });
    return all;
  }
  tooltip(e) {
    const series = this.chart.series[+e.seriesId.split(" ")[0]], point = series?.points[e.data?.at];
    return plain(point?.said || series?.name || "");
  }
  draw() {
    const { chart } = this, c = this.look = looks(this.figure), names = chart.y.scale === "names";
    const widest = chart.series.some(s => (s.kind === "bar" || (s.kind === "interval" && names)) && s.points.some(p => p.words)) ? Math.max(...chart.series.flatMap(s => s.points.map(p => (p.words || "").length))) * 6.8 + 16 : 16;
    this.taken = [];
    this.lines = null;
    const above = { id: "names", type: "custom", silent: true, z: 5, clip: false, data: chart.y.names.map((_, k) => [chart.x.low, k]), renderItem: (params, api) => {
      const name = this.text(chart.y.names[params.dataIndex], 8, this.coord(api, [chart.x.low, params.dataIndex])[1] - 17, c.label);
      return Object.assign(name.style, { width: this.box.clientWidth - 16, overflow: "truncate" }), name;
    } };
    this.view.setOption({
      animation: false, textStyle: { fontFamily: font },
      grid: { left: 8, right: this.cells ? Math.max(16, this.box.clientWidth - this.name_room() - 24 - this.cell_width() * chart.x.names.length) : widest, top: this.cells ? 4 : 12, bottom: !chart.x.title || this.cells ? 12 : 36, containLabel: true },
      xAxis: this.axis(chart.x, false), yAxis: this.axis(chart.y, true),
      dataZoom: ["xAxisIndex", "yAxisIndex"].map(key => ({ type: "inside", [key]: 0, zoomOnMouseWheel: "ctrl", moveOnMouseMove: true, moveOnMouseWheel: false, preventDefaultMouseMove: false, filterMode: "none", disabled: names })),
      tooltip: { trigger: "item", renderMode: "richText", confine: true, formatter: e => this.tooltip(e), backgroundColor: c.paper, borderColor: c.axis, padding: [8, 10], textStyle: { color: c.label, fontFamily: font, fontSize: 12, lineHeight: 17 } },
      series: [...chart.series.flatMap((s, k) => this.series(s, k)), ...(this.above ? [above] : [])],
    }, { replaceMerge: ["series"] });
  }
}

/* Pictures become charts as they come into view. */
globalThis.rooftile_charts = charts => {
  const live = [], seen = new IntersectionObserver(entries => {
    for (const entry of entries.filter(e => e.isIntersecting)) {
      seen.unobserve(entry.target);
      live.push(new Live(entry.target, charts.find(chart => chart.name === entry.target.dataset.picture)));
    }
  }, { rootMargin: "600px" });
  for (const figure of document.querySelectorAll("figure[data-picture]")) if (charts.some(chart => chart.name === figure.dataset.picture)) seen.observe(figure);
  const redraw = () => live.forEach(chart => chart.draw());
  addEventListener("rooftile-theme", redraw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
};
