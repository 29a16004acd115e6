/* SPDX-License-Identifier: MIT */
#include "svg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "html_cells.h"
#include "page_files.h"
#include "report_internal.h"
#include "rooftile/units.h"

/* ---- elements ---- */

/* A tenth of a pixel is more than anybody sees. */
static void number(struct text *out, const char *name, double value)
{
    const double tenths = round((isfinite(value) ? value : 0) * 10);
    text_addf(out, fmod(tenths, 10) == 0 ? " %s=\"%.0f\"" : " %s=\"%.1f\"", name, tenths / 10);
}

static void begin(struct svg *svg, const char *element, const char *class)
{
    text_addf(svg->out, "<%s class=\"%s\"", element, class);
}

static void end(struct svg *svg, const char *element, const struct svg_tip *tip)
{
    if (tip && tip->row)
        text_addf(svg->out, " data-c=\"%zu\"", tip->row);
    if (tip && tip->row && tip->cost > 0)
        text_addf(svg->out, " data-w=\"%.3g\"", tip->cost);
    if (tip && tip->row && tip->ceiling)
        html_attribute(svg->out, "data-b", tip->ceiling);
    if (!tip || tip->row || !tip->said) {
        text_add(svg->out, "/>\n");
        return;
    }
    text_add(svg->out, "><title>");
    text_add_xml(svg->out, tip->said);
    text_addf(svg->out, "</title></%s>\n", element);
}

void svg_open(struct svg *svg, struct text *out, double width, double height, const struct svg_head *head)
{
    *svg = (struct svg){.out = out, .width = width, .height = height};
    text_addf(out, "<svg%s class=\"picture\" role=\"img\" aria-labelledby=\"%s-title %s-desc\"",
              head->alone ? " xmlns=\"http://www.w3.org/2000/svg\"" : "", head->id, head->id);
    text_addf(out, " viewBox=\"0 0 %.0f %.0f\"", width, height);
    if (head->alone)
        text_addf(out, " width=\"%.0f\" height=\"%.0f\"", width, height);
    text_addf(out, ">\n<title id=\"%s-title\">", head->id);
    text_add_xml(out, head->title);
    text_addf(out, "</title>\n<desc id=\"%s-desc\">", head->id);
    text_add_xml(out, head->desc);
    text_add(out, "</desc>\n");
    if (head->alone) {
        text_add(out, "<style>");
        text_add(out, page_picture_css);
        text_add(out, "</style>\n<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n");
    }
}

void svg_close(struct svg *svg)
{
    text_add(svg->out, "</svg>\n");
}

void svg_line(struct svg *svg, const char *class, const double xy[static 4], const struct svg_tip *tip)
{
    static const char *const names[] = {"x1", "y1", "x2", "y2"};
    begin(svg, "line", class);
    for (size_t k = 0; k < COUNT_OF(names); k++)
        number(svg->out, names[k], xy[k]);
    end(svg, "line", tip);
}

void svg_polyline(struct svg *svg, const char *class, const double *xy, size_t count)
{
    begin(svg, "polyline", class);
    text_add(svg->out, " points=\"");
    for (size_t k = 0; k < count; k++)
        text_addf(svg->out, "%s%.1f,%.1f", k ? " " : "", xy[2 * k], xy[2 * k + 1]);
    text_add(svg->out, "\"");
    end(svg, "polyline", NULL);
}

void svg_rect(struct svg *svg, const char *class, const struct svg_box *box, const struct svg_tip *tip)
{
    begin(svg, "rect", class);
    number(svg->out, "x", box->left);
    number(svg->out, "y", box->top);
    number(svg->out, "width", fmax(box->right - box->left, 0));
    number(svg->out, "height", fmax(box->bottom - box->top, 0));
    end(svg, "rect", tip);
}

void svg_parts(struct svg *svg, const char *class, size_t look)
{
    text_addf(svg->out, "<path class=\"%s s%zu\" d=\"", class, look < CHART_SERIES ? look : CHART_SERIES - 1);
}

void svg_parts_end(struct svg *svg, const struct svg_tip *tip)
{
    text_add(svg->out, "\"");
    end(svg, "path", tip);
}

void svg_group(struct svg *svg, size_t series, const char *ceiling)
{
    text_addf(svg->out, "<g data-s=\"%zu\"", series);
    if (ceiling)
        html_attribute(svg->out, "data-l", ceiling);
    text_add(svg->out, ">\n");
}

void svg_key(struct svg *svg, size_t series)
{
    text_addf(svg->out, "<g data-k=\"%zu\">\n", series);
}

void svg_group_end(struct svg *svg)
{
    text_add(svg->out, "</g>\n");
}

void svg_part_mark(struct svg *svg, size_t look, double x, double y)
{
    static const char *const shapes[CHART_SERIES] = {
        "m0-4a4 4 0 1 0 .1 0z",                                /* circle */
        "m-3.7-3.7h7.4v7.4h-7.4z",                             /* square */
        "m0-5l4.7 8.4h-9.4z",                                  /* triangle */
        "m0-5.2l4.6 5.2l-4.6 5.2l-4.6-5.2z",                   /* diamond */
        "m0 5l4.7-8.4h-9.4z",                                  /* triangle, point down */
        "m-1.5-4.8h3v3.3h3.3v3h-3.3v3.3h-3v-3.3h-3.3v-3h3.3z", /* plus */
        "m-5-2.2h10v4.4h-10z",                                 /* bar */
        "m0-2.5a2.5 2.5 0 1 0 .1 0z",                          /* dot */
    };
    text_addf(svg->out, "M%.1f %.1f%s", x, y, shapes[look < CHART_SERIES ? look : CHART_SERIES - 1]);
}

void svg_part_line(struct svg *svg, double x1, double y1, double x2, double y2)
{
    text_addf(svg->out, "M%.1f %.1fL%.1f %.1f", x1, y1, x2, y2);
}

void svg_marks(struct svg *svg, size_t look)
{
    text_addf(svg->out, "<g class=\"mark s%zu\">\n", look < CHART_SERIES ? look : CHART_SERIES - 1);
}

void svg_mark(struct svg *svg, size_t look, double x, double y, const struct svg_tip *tip)
{
    text_add(svg->out, "<path d=\"");
    svg_part_mark(svg, look, x, y);
    svg_parts_end(svg, tip);
}

void svg_text(struct svg *svg, const char *class, enum svg_anchor anchor, double x, double y, const char *words)
{
    static const char *const anchors[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
    begin(svg, "text", class);
    number(svg->out, "x", x);
    number(svg->out, "y", y);
    text_addf(svg->out, "%s>", anchors[anchor]);
    text_add_xml(svg->out, words);
    text_add(svg->out, "</text>\n");
}

/* ---- labels ---- */

static const double label_height = 13;

/* Of the 12 pixel letters of picture.css, on the safe side. */
double svg_text_width(const char *words)
{
    return 6.6 * (double)text_columns(words);
}

void svg_take(struct svg *svg, const struct svg_box *box)
{
    if (svg->taken_count < SVG_MOST_BOXES)
        svg->taken[svg->taken_count++] = *box;
}

static bool is_free(const struct svg *svg, const struct svg_box *box)
{
    if (box->left < 2 || box->top < 2 || box->right > svg->width - 2 || box->bottom > svg->height - 2)
        return false;
    FOR_EACH(const struct svg_box, other, svg->taken, svg->taken_count)
        if (box->left < other->right && other->left < box->right && box->top < other->bottom &&
            other->top < box->bottom)
            return false;
    return true;
}

bool svg_label(struct svg *svg, const char *class, const char *words, const struct svg_place *places, size_t count)
{
    const double width = svg_text_width(words);
    FOR_EACH(const struct svg_place, at, places, count) {
        const double left = at->x - (at->anchor == SVG_MIDDLE ? width / 2 : at->anchor == SVG_END ? width : 0);
        const struct svg_box box = {left, at->y - label_height + 2, left + width, at->y + 3};
        if (!is_free(svg, &box))
            continue;
        svg_take(svg, &box);
        svg_text(svg, class, at->anchor, at->x, at->y, words);
        return true;
    }
    return false;
}

void svg_take_line(struct svg *svg, const double xy[static 4])
{
    if (svg->line_count < SVG_MOST_LINES)
        memcpy(svg->lines[svg->line_count++], xy, sizeof(svg->lines[0]));
}

static double distance(const double line[static 4], double x, double y)
{
    const double dx = line[2] - line[0], dy = line[3] - line[1], length = dx * dx + dy * dy;
    const double along = length > 0 ? ((x - line[0]) * dx + (y - line[1]) * dy) / length : 0,
                 at = fmax(0, fmin(1, along));
    return hypot(line[0] + at * dx - x, line[1] + at * dy - y);
}

/* Rotated words as a chain of small boxes. */
struct chain {
    struct svg_box boxes[32];
    size_t count;
};

static struct chain chain_along(double x, double y, double turn, double width)
{
    struct chain chain = {.count = (size_t)fmin(32, ceil(width / 10))};
    for (size_t k = 0; k < chain.count; k++) {
        const double along = ((double)k + 0.5) * width / (double)chain.count;
        const double at_x = x + along * cos(turn) + 4 * sin(turn), at_y = y + along * sin(turn) - 4 * cos(turn);
        chain.boxes[k] = (struct svg_box){at_x - 6, at_y - 6, at_x + 6, at_y + 6};
    }
    return chain;
}

static bool is_chain_free(const struct svg *svg, const struct chain *chain)
{
    FOR_EACH(const struct svg_box, box, chain->boxes, chain->count) {
        const double x = (box->left + box->right) / 2, y = (box->top + box->bottom) / 2;
        if (!is_free(svg, box) || box->right > svg->plot.right + 6 || box->left < svg->plot.left - 2)
            return false;
        for (size_t line = 0; line < svg->line_count; line++)
            if (distance(svg->lines[line], x, y) < 8)
                return false;
    }
    return true;
}

bool svg_label_along(struct svg *svg, const char *class, const char *words, const double xy[static 4])
{
    const double width = svg_text_width(words), turn = atan2(xy[3] - xy[1], xy[2] - xy[0]);
    const double length = hypot(xy[2] - xy[0], xy[3] - xy[1]), room = length - width - 8;
    for (int side = 0; side < 2; side++)
        for (double k = 6; k < room; k += 12) {
            const double along = turn == 0 ? room - k + 6 : k, off = side ? 13 : -6;
            const double x = xy[0] + along * cos(turn) - off * sin(turn),
                         y = xy[1] + along * sin(turn) + off * cos(turn);
            const struct chain chain = chain_along(x, y, turn, width);
            if (!is_chain_free(svg, &chain))
                continue;
            for (size_t box = 0; box < chain.count; box++)
                svg_take(svg, &chain.boxes[box]);
            begin(svg, "text", class);
            text_addf(svg->out, " transform=\"translate(%.1f %.1f) rotate(%.1f)\">", x, y, turn * 180 / M_PI);
            text_add_xml(svg->out, words);
            text_add(svg->out, "</text>\n");
            return true;
        }
    return false;
}

/* ---- axes ---- */

static double at(const struct chart_axis *axis, double value, double from, double to)
{
    if (axis->scale == CHART_NAMES)
        return from + (value + 0.5) / (double)axis->name_count * (to - from);
    const double low = (axis->scale == CHART_LOG) ? log10(axis->low) : axis->low,
                 high = (axis->scale == CHART_LOG) ? log10(axis->high) : axis->high;
    const double place = (axis->scale == CHART_LOG) ? log10(value) : value;
    return from + (place - low) / (high - low) * (to - from);
}

double svg_x(const struct svg *svg, double value)
{
    return at(&svg->x, value, svg->plot.left, svg->plot.right);
}

double svg_y(const struct svg *svg, double value)
{
    const bool names = svg->y.scale == CHART_NAMES; /* the first on top */
    return at(&svg->y, value, names ? svg->plot.top : svg->plot.bottom, names ? svg->plot.bottom : svg->plot.top);
}

/* From the first multiple of `step` (a factor, where the axis is logarithmic) on. */
static size_t walk(double *ticks, const struct chart_axis *axis, double base, double step)
{
    const double low = (axis->scale == CHART_LOG) ? log(axis->low) / log(base) : axis->low;
    const double high = (axis->scale == CHART_LOG) ? log(axis->high) / log(base) : axis->high;
    size_t count = 0;
    for (double k = ceil(low / step - 1e-9); k * step <= high + 1e-9 * fabs(high) && count < SVG_MOST_TICKS; k++)
        ticks[count++] = (axis->scale == CHART_LOG) ? pow(base, k * step) : k * step;
    return count;
}

/* 1, 2 and 5 of each decade. */
static size_t within_decades(double *ticks, const struct chart_axis *axis)
{
    size_t count = 0;
    for (double decade = pow(10, floor(log10(axis->low))); decade <= axis->high; decade *= 10)
        for (int k = 0; k < 3; k++) {
            const double tick = decade * (k == 0 ? 1 : k == 1 ? 2 : 5);
            if (tick >= axis->low * (1 - 1e-9) && tick <= axis->high * (1 + 1e-9) && count < SVG_MOST_TICKS)
                ticks[count++] = tick;
        }
    return count;
}

size_t svg_ticks(double ticks[static SVG_MOST_TICKS], const struct chart_axis *axis, size_t most)
{
    const bool binary = !strcmp(axis->unit, UNIT_BYTES) || !strcmp(axis->unit, UNIT_SIZE);
    const bool sound = isfinite(axis->low) && isfinite(axis->high) && axis->high > axis->low && most > 1;
    if (!sound || ((axis->scale == CHART_LOG) && axis->low <= 0))
        return 0;
    if ((axis->scale == CHART_LOG)) {
        const double base = binary ? 2 : 10, span = log(axis->high / axis->low) / log(base);
        const size_t fine = binary ? 0 : span < 2.5 ? within_decades(ticks, axis) : 0;
        return fine > 1 && fine <= most + 2 ? fine : walk(ticks, axis, base, fmax(1, ceil(span / (double)most)));
    }
    const double rough = (axis->high - axis->low) / (double)most, decade = pow(10, floor(log10(rough)));
    const double of = rough / decade, step = decade * (of > 5 ? 10 : of > 2 ? 5 : of > 1 ? 2 : 1);
    return walk(ticks, axis, 10, step);
}

void svg_tick_words(char out[static 32], double value, const char *unit)
{
    struct arena arena = {0};
    const char *words = quantity_words(value, unit, &arena);
    const size_t sign = strspn(words, "+-"), digits = sign + strspn(words + sign, "0123456789.");
    size_t kept = digits;
    if (memchr(words, '.', digits)) {
        while (kept && words[kept - 1] == '0')
            kept--;
        kept -= kept && words[kept - 1] == '.';
    }
    if (value == 0)
        snprintf(out, 32, "0");
    else
        snprintf(out, 32, "%.*s%s", (int)kept, words, words + digits);
    arena_release(&arena);
}

static void name_words(char out[static 64], const char *name, double room)
{
    const size_t most = (size_t)fmax(4, room / 7); /* wide letters, and the dots */
    const bool fits = svg_text_width(name) <= room;
    size_t length = 0;
    for (size_t columns = 0; name[length] && length < 56; length++) {
        columns += ((unsigned char)name[length] & 0xC0) != 0x80;
        if (!fits && columns == most - 1)
            break;
    }
    snprintf(out, 64, "%.*s%s", (int)length, name, name[length] ? "\u2026" : "");
}

static void x_upright(struct svg *svg)
{
    for (size_t k = 0; k < svg->x.name_count; k++) {
        char words[64];
        name_words(words, svg->x.names[k], svg->plot.top - 8);
        begin(svg, "text", "tick");
        text_addf(svg->out, " transform=\"translate(%.1f %.1f) rotate(-90)\">", svg_x(svg, (double)k) + 4,
                  svg->plot.top - 6);
        text_add_xml(svg->out, words);
        text_add(svg->out, "</text>\n");
    }
}

static void x_axis(struct svg *svg)
{
    double ticks[SVG_MOST_TICKS], last = -1e9;
    const double bottom = svg->plot.bottom, room = svg->plot.right - svg->plot.left;
    const bool names = svg->x.scale == CHART_NAMES;
    const size_t count = svg->upright ? 0
                         : names      ? svg->x.name_count
                                      : svg_ticks(ticks, &svg->x, (size_t)fmax(2, room / 80));
    for (size_t k = 0; k < count; k++) {
        char words[64];
        const double x = svg_x(svg, names ? (double)k : ticks[k]);
        if (names)
            name_words(words, svg->x.names[k], svg->y.scale == CHART_NAMES ? fmax(36, room / (double)count - 4) : room);
        else
            svg_tick_words(words, ticks[k], svg->x.unit);
        if (!names)
            svg_line(svg, "grid", (double[]){x, svg->plot.top, x, bottom}, NULL);
        if (x - svg_text_width(words) / 2 < last + 6)
            continue;
        svg_text(svg, "tick", SVG_MIDDLE, x, bottom + 18, words);
        last = x + svg_text_width(words) / 2;
    }
    if (!names)
        svg_line(svg, "axis", (double[]){svg->plot.left, bottom, svg->plot.right, bottom}, NULL);
    svg_text(svg, "axis-title", SVG_MIDDLE, (svg->plot.left + svg->plot.right) / 2, bottom + 38, svg->x.title);
}

static void y_names(struct svg *svg)
{
    for (size_t k = 0; k < svg->y.name_count; k++) {
        char words[64];
        name_words(words, svg->y.names[k], svg->plot.left - 14);
        svg_text(svg, "label", SVG_END, svg->plot.left - 10, svg_y(svg, (double)k) + 4, words);
    }
}

static void y_values(struct svg *svg)
{
    double ticks[SVG_MOST_TICKS];
    const size_t count = svg_ticks(ticks, &svg->y, (size_t)fmax(2, (svg->plot.bottom - svg->plot.top) / 44));
    for (size_t k = 0; k < count; k++) {
        char words[32];
        const double y = svg_y(svg, ticks[k]);
        svg_tick_words(words, ticks[k], svg->y.unit);
        svg_line(svg, "grid", (double[]){svg->plot.left, y, svg->plot.right, y}, NULL);
        svg_text(svg, "tick", SVG_END, svg->plot.left - 8, y + 4, words);
    }
}

void svg_axes(struct svg *svg)
{
    x_axis(svg);
    if (svg->upright)
        x_upright(svg);
    svg_text(svg, "axis-title", SVG_START, 4, svg->plot.top - 12, svg->y.title);
    if (svg->y.scale == CHART_NAMES)
        y_names(svg);
    else
        y_values(svg);
}
