/* SPDX-License-Identifier: MIT */
#include "svg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "page_files.h"
#include "report_internal.h"
#include "rooftile/units.h"

/* ---- elements ---- */

/* Rounds to a tenth of a pixel, finer than the eye can see. */
static void number(struct text *out, const char *name, double value)
{
    const double tenths = round((isfinite(value) ? value : 0) * 10);
    text_addf(out, fmod(tenths, 10) == 0 ? " %s=\"%.0f\"" : " %s=\"%.1f\"", name, tenths / 10);
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
    svg->out = out;
    svg->width = width;
    svg->height = height;
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
    text_addf(svg->out, "<line class=\"%s\"", class);
    for (size_t k = 0; k < COUNT_OF(names); k++)
        number(svg->out, names[k], xy[k]);
    end(svg, "line", tip);
}

void svg_polyline(struct svg *svg, const char *class, const double *xy, size_t count)
{
    text_addf(svg->out, "<polyline class=\"%s\" points=\"", class);
    for (size_t k = 0; k < count; k++)
        text_addf(svg->out, "%s%.1f,%.1f", k ? " " : "", xy[2 * k], xy[2 * k + 1]);
    text_add(svg->out, "\"");
    end(svg, "polyline", NULL);
}

void svg_rect(struct svg *svg, const char *class, const struct svg_box *box, const struct svg_tip *tip)
{
    text_addf(svg->out, "<rect class=\"%s\"", class);
    number(svg->out, "x", box->left);
    number(svg->out, "y", box->top);
    number(svg->out, "width", fmax(box->right - box->left, 0));
    number(svg->out, "height", fmax(box->bottom - box->top, 0));
    end(svg, "rect", tip);
}

void svg_parts(struct svg *svg, size_t look)
{
    text_addf(svg->out, "<path class=\"mark s%zu\" d=\"", look < CHART_SERIES ? look : CHART_SERIES - 1);
}

void svg_parts_end(struct svg *svg, const struct svg_tip *tip)
{
    text_add(svg->out, "\"");
    end(svg, "path", tip);
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
    text_addf(svg->out, "<text class=\"%s\"", class);
    number(svg->out, "x", x);
    number(svg->out, "y", y);
    text_addf(svg->out, "%s>", anchors[anchor]);
    text_add_xml(svg->out, words);
    text_add(svg->out, "</text>\n");
}

static void turned_text(struct svg *svg, const char *class, double x, double y, double degrees, const char *words)
{
    text_addf(svg->out, "<text class=\"%s\" transform=\"translate(%.1f %.1f) rotate(%g)\">", class, x, y,
              round(degrees * 10) / 10 + 0.0); /* no -0 */
    text_add_xml(svg->out, words);
    text_add(svg->out, "</text>\n");
}

/* ---- labels ---- */

static const double label_height = 13;

/* An upper estimate for the 12 pixel font of picture.css. */
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

static bool is_near_line(const struct svg *svg, double x, double y)
{
    for (size_t k = 0; k < svg->line_count; k++) {
        const double *line = svg->lines[k], dx = line[2] - line[0], dy = line[3] - line[1];
        const double length = dx * dx + dy * dy,
                     along = length > 0 ? ((x - line[0]) * dx + (y - line[1]) * dy) / length : 0,
                     at = fmax(0, fmin(1, along));
        if (hypot(line[0] + at * dx - x, line[1] + at * dy - y) < 8)
            return true;
    }
    return false;
}

/* Rotated words as a chain of small boxes. */
struct chain {
    struct svg_box boxes[32];
    size_t count;
};

/* Returns false if the place is taken; `crossing`: lines do not take one. */
static bool chain_along(struct chain *chain, const struct svg *svg, double x, double y, double turn, double width,
                        bool crossing)
{
    chain->count = (size_t)fmin(32, ceil(width / 10));
    for (size_t k = 0; k < chain->count; k++) {
        const double along = ((double)k + 0.5) * width / (double)chain->count;
        const double at_x = x + along * cos(turn) + 4 * sin(turn), at_y = y + along * sin(turn) - 4 * cos(turn);
        chain->boxes[k] = (struct svg_box){at_x - 6, at_y - 6, at_x + 6, at_y + 6};
        if (!is_free(svg, &chain->boxes[k]) || at_x > svg->plot.right || at_x < svg->plot.left + 4 ||
            (!crossing && is_near_line(svg, at_x, at_y)))
            return false;
    }
    return true;
}

bool svg_label_along(struct svg *svg, const char *class, const char *words, const double xy[static 4])
{
    const double width = svg_text_width(words), turn = atan2(xy[3] - xy[1], xy[2] - xy[0]);
    const double length = hypot(xy[2] - xy[0], xy[3] - xy[1]), room = length - width - 8;
    /* A level line may be too short for its name, which may then cross others. */
    for (int attempt = 0; attempt < (turn == 0 ? 4 : 2); attempt++) {
        const bool crossing = attempt > 1;
        for (double k = 6; k < (crossing ? room + xy[0] - svg->plot.left : room); k += 12) {
            const double along = turn == 0 ? room - k + 6 : k, off = attempt % 2 ? 13 : -6;
            const double x = xy[0] + along * cos(turn) - off * sin(turn),
                         y = xy[1] + along * sin(turn) + off * cos(turn);
            struct chain chain;
            if (!chain_along(&chain, svg, x, y, turn, width, crossing))
                continue;
            for (size_t box = 0; box < chain.count; box++)
                svg_take(svg, &chain.boxes[box]);
            turned_text(svg, class, x, y, turn * 180 / M_PI, words);
            return true;
        }
    }
    return false;
}

/* ---- axes ---- */

static double at(const struct chart_axis *axis, double value, double from, double to)
{
    if (axis->scale == CHART_NAMES)
        return from + (value + 0.5) / (double)axis->name_count * (to - from);
    const double share = axis->scale == CHART_LOG
                             ? (log10(value) - log10(axis->low)) / (log10(axis->high) - log10(axis->low))
                             : (value - axis->low) / (axis->high - axis->low);
    return from + share * (to - from);
}

double svg_x(const struct svg *svg, double value)
{
    return at(&svg->x, value, svg->plot.left, svg->plot.right);
}

double svg_y(const struct svg *svg, double value)
{
    const bool names = svg->y.scale == CHART_NAMES; /* the first name is on top */
    return at(&svg->y, value, names ? svg->plot.top : svg->plot.bottom, names ? svg->plot.bottom : svg->plot.top);
}

/* Lists ticks from the first multiple of `step` (an exponent if the axis is logarithmic) on. */
static size_t walk(double *ticks, const struct chart_axis *axis, double base, double step)
{
    const double low = (axis->scale == CHART_LOG) ? log(axis->low) / log(base) : axis->low;
    const double high = (axis->scale == CHART_LOG) ? log(axis->high) / log(base) : axis->high;
    size_t count = 0;
    for (double k = ceil(low / step - 1e-9); k * step <= high + 1e-9 * fabs(high) && count < SVG_MOST_TICKS; k++)
        ticks[count++] = (axis->scale == CHART_LOG) ? pow(base, k * step) : k * step;
    return count;
}

/* Fits a name into this width; the middle of a longer name is omitted. */
static const char *name_in(const char *name, double room, struct arena *arena)
{
    return svg_text_width(name) <= room ? name : text_cut(arena, name, (size_t)fmax(4, room / 7), "\u2026");
}

size_t svg_ticks(double ticks[static SVG_MOST_TICKS], const struct chart_axis *axis, size_t most)
{
    const bool binary = !strcmp(axis->unit, UNIT_BYTES) || !strcmp(axis->unit, UNIT_SIZE);
    const bool sound = isfinite(axis->low) && isfinite(axis->high) && axis->high > axis->low && most > 1;
    if (!sound || (axis->scale == CHART_LOG && axis->low <= 0))
        return 0;
    if (axis->scale == CHART_LOG) {
        const double base = binary ? 2 : 10, span = log(axis->high / axis->low) / log(base);
        size_t fine = 0; /* 1, 2 and 5 of each decade */
        for (double decade = pow(10, floor(log10(axis->low))); !binary && span < 2.5 && decade <= axis->high;
             decade *= 10)
            for (int k = 0; k < 3; k++) {
                const double tick = decade * (k == 0 ? 1 : k == 1 ? 2 : 5);
                if (tick >= axis->low * (1 - 1e-9) && tick <= axis->high * (1 + 1e-9) && fine < SVG_MOST_TICKS)
                    ticks[fine++] = tick;
            }
        return fine > 1 && fine <= most + 2 ? fine : walk(ticks, axis, base, fmax(1, ceil(span / (double)most)));
    }
    const double rough = (axis->high - axis->low) / (double)most, decade = pow(10, floor(log10(rough)));
    const double of = rough / decade, step = decade * (of > 5 ? 10 : of > 2 ? 5 : of > 1 ? 2 : 1);
    return walk(ticks, axis, 10, step);
}

void svg_tick_words(char out[static 32], double value, const char *unit)
{
    SCOPED(arena_release) struct arena arena = {0};
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
}

static void x_axis(struct svg *svg)
{
    SCOPED(arena_release) struct arena arena = {0};
    double ticks[SVG_MOST_TICKS], last = -1e9;
    const double bottom = svg->plot.bottom, room = svg->plot.right - svg->plot.left;
    const bool names = svg->x.scale == CHART_NAMES;
    const size_t count = names ? svg->x.name_count : svg_ticks(ticks, &svg->x, (size_t)fmax(2, room / 80));
    const double each = svg->y.scale == CHART_NAMES ? fmax(36, room / (double)count - 4) : room;
    for (size_t k = 0; k < count; k++) {
        char tick[32];
        const double x = svg_x(svg, names ? (double)k : ticks[k]);
        if (svg->upright) {
            turned_text(svg, "tick", x + 4, svg->plot.top - 6, -90,
                        name_in(svg->x.names[k], svg->plot.top - 8, &arena));
            continue;
        }
        if (!names) {
            svg_tick_words(tick, ticks[k], svg->x.unit);
            svg_line(svg, "grid", (double[]){x, svg->plot.top, x, bottom}, NULL);
        }
        const char *words = names ? name_in(svg->x.names[k], each, &arena) : tick;
        if (x - svg_text_width(words) / 2 < last + 6)
            continue;
        svg_text(svg, "tick", SVG_MIDDLE, x, bottom + 18, words);
        last = x + svg_text_width(words) / 2;
    }
    if (!names)
        svg_line(svg, "axis", (double[]){svg->plot.left, bottom, svg->plot.right, bottom}, NULL);
    svg_text(svg, "axis-title", SVG_MIDDLE, (svg->plot.left + svg->plot.right) / 2, bottom + 38, svg->x.title);
}

void svg_axes(struct svg *svg)
{
    SCOPED(arena_release) struct arena arena = {0};
    const bool names = svg->y.scale == CHART_NAMES;
    double ticks[SVG_MOST_TICKS];
    const size_t count =
        names ? svg->y.name_count : svg_ticks(ticks, &svg->y, (size_t)fmax(2, (svg->plot.bottom - svg->plot.top) / 44));
    x_axis(svg);
    svg_text(svg, "axis-title", SVG_START, 4, svg->plot.top - 12, svg->y.title);
    for (size_t k = 0; k < count; k++) {
        char words[32];
        const double y = svg_y(svg, names ? (double)k : ticks[k]);
        if (names) {
            svg_text(svg, "label", SVG_END, svg->plot.left - 10, y + 4,
                     name_in(svg->y.names[k], svg->plot.left - 14, &arena));
            continue;
        }
        svg_tick_words(words, ticks[k], svg->y.unit);
        svg_line(svg, "grid", (double[]){svg->plot.left, y, svg->plot.right, y}, NULL);
        svg_text(svg, "tick", SVG_END, svg->plot.left - 8, y + 4, words);
    }
}
