/* SPDX-License-Identifier: MIT */
#include "svg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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

static void end(struct svg *svg, const char *element, const char *said)
{
    if (!said) {
        text_add(svg->out, "/>\n");
        return;
    }
    text_add(svg->out, "><title>");
    text_add_xml(svg->out, said);
    text_addf(svg->out, "</title></%s>\n", element);
}

void svg_open(struct svg *svg, struct text *out, double width, double height, const struct svg_head *head)
{
    *svg = (struct svg){.out = out, .width = width, .height = height};
    text_addf(out, "<svg%s class=\"picture%s%s\" role=\"img\" aria-labelledby=\"%s-title %s-desc\"",
              head->alone ? " xmlns=\"http://www.w3.org/2000/svg\"" : "", *head->class ? " " : "", head->class,
              head->id, head->id);
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

void svg_line(struct svg *svg, const char *class, double x1, double y1, double x2, double y2)
{
    begin(svg, "line", class);
    number(svg->out, "x1", x1);
    number(svg->out, "y1", y1);
    number(svg->out, "x2", x2);
    number(svg->out, "y2", y2);
    end(svg, "line", NULL);
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

void svg_rect(struct svg *svg, const char *class, const struct svg_box *box, const char *said)
{
    begin(svg, "rect", class);
    number(svg->out, "x", box->left);
    number(svg->out, "y", box->top);
    number(svg->out, "width", fmax(box->right - box->left, 0));
    number(svg->out, "height", fmax(box->bottom - box->top, 0));
    end(svg, "rect", said);
}

void svg_mark(struct svg *svg, size_t series, double x, double y, const char *said)
{
    static const char *const shapes[SVG_SERIES] = {
        "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",                  /* circle */
        "m-3.7-3.7h7.4v7.4h-7.4z",                             /* square */
        "m0-5l4.7 8.4h-9.4z",                                  /* triangle */
        "m0-5.2l4.6 5.2l-4.6 5.2l-4.6-5.2z",                   /* diamond */
        "m0 5l4.7-8.4h-9.4z",                                  /* triangle, point down */
        "m-1.5-4.8h3v3.3h3.3v3h-3.3v3.3h-3v-3.3h-3.3v-3h3.3z", /* plus */
        "m-5-2.2h10v4.4h-10z",                                 /* bar */
        "m-2.5 0a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0-5 0z",        /* dot */
    };
    const size_t at = series < SVG_SERIES ? series : SVG_SERIES - 1;
    text_addf(svg->out, "<path class=\"mark s%zu\" d=\"M%.1f %.1f%s\"", at, x, y, shapes[at]);
    end(svg, "path", said);
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

void svg_turned(struct svg *svg, const char *class, double x, double y, double degrees, const char *words)
{
    begin(svg, "text", class);
    text_addf(svg->out, " transform=\"translate(%.1f %.1f) rotate(%.1f)\">", x, y, degrees);
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
    for (size_t k = 0; k < svg->taken_count; k++) {
        const struct svg_box *other = &svg->taken[k];
        if (box->left < other->right && other->left < box->right && box->top < other->bottom &&
            other->top < box->bottom)
            return false;
    }
    return true;
}

bool svg_label(struct svg *svg, const char *class, const char *words, const struct svg_place *places, size_t count)
{
    const double width = svg_text_width(words);
    for (size_t k = 0; k < count; k++) {
        const struct svg_place *at = &places[k];
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

/* ---- legends ---- */

static const double legend_row = 20, legend_mark = 22;

static double legend_column(const char *const *names, size_t count)
{
    double widest = 0;
    for (size_t k = 0; k < count; k++)
        widest = fmax(widest, svg_text_width(names[k]));
    return widest + legend_mark + 16;
}

static size_t legend_columns(double width, const char *const *names, size_t count)
{
    const double columns = fmax(1, floor(width / legend_column(names, count)));
    return columns < (double)count ? (size_t)columns : count ? count : 1;
}

double svg_legend_height(double width, const char *const *names, size_t count)
{
    const size_t columns = legend_columns(width, names, count);
    return (double)((count + columns - 1) / columns) * legend_row;
}

void svg_legend(struct svg *svg, double top, const char *const *names, size_t count, bool lines)
{
    const double left = svg->plot.left < svg->width / 5 ? svg->plot.left : 8, width = svg->width - left;
    const size_t columns = legend_columns(width, names, count);
    const double column = fmin(legend_column(names, count), width / (double)columns);
    for (size_t k = 0; k < count; k++) {
        const double x = left + column * (double)(k % columns), y = top + legend_row * (double)(k / columns) + 12;
        char class[16];
        snprintf(class, sizeof(class), "curve s%zu", k < SVG_SERIES ? k : (size_t)SVG_SERIES - 1);
        if (lines)
            svg_line(svg, class, x - 2, y - 4, x + 16, y - 4);
        svg_mark(svg, k, x + 7, y - 4, NULL);
        svg_text(svg, "label", SVG_START, x + legend_mark, y, names[k]);
    }
}

/* ---- axes ---- */

static double at(const struct svg_axis *axis, double value, double from, double to)
{
    const double low = axis->log ? log10(axis->low) : axis->low, high = axis->log ? log10(axis->high) : axis->high;
    const double place = axis->log ? log10(value) : value;
    return from + (place - low) / (high - low) * (to - from);
}

double svg_x(const struct svg *svg, double value)
{
    return at(&svg->x, value, svg->plot.left, svg->plot.right);
}

double svg_y(const struct svg *svg, double value)
{
    return at(&svg->y, value, svg->plot.bottom, svg->plot.top);
}

/* From the first multiple of `step` (a factor, where the axis is logarithmic) on. */
static size_t walk(double *ticks, const struct svg_axis *axis, double base, double step)
{
    const double low = axis->log ? log(axis->low) / log(base) : axis->low;
    const double high = axis->log ? log(axis->high) / log(base) : axis->high;
    size_t count = 0;
    for (double k = ceil(low / step - 1e-9); k * step <= high + 1e-9 * fabs(high) && count < SVG_MOST_TICKS; k++)
        ticks[count++] = axis->log ? pow(base, k * step) : k * step;
    return count;
}

/* 1, 2 and 5 of each decade. */
static size_t within_decades(double *ticks, const struct svg_axis *axis)
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

size_t svg_ticks(double ticks[static SVG_MOST_TICKS], const struct svg_axis *axis, size_t most)
{
    const bool binary = !strcmp(axis->unit, UNIT_BYTES) || !strcmp(axis->unit, UNIT_SIZE);
    const bool sound = isfinite(axis->low) && isfinite(axis->high) && axis->high > axis->low && most > 1;
    if (!sound || (axis->log && axis->low <= 0))
        return 0;
    if (axis->log) {
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
    const struct cell cell = cell_quantity(value, unit);
    const char *words = cell_words(&cell, NULL, &arena);
    size_t digits = strspn(words, "0123456789."), kept = digits;
    if (memchr(words, '.', digits)) {
        while (kept && words[kept - 1] == '0')
            kept--;
        kept -= kept && words[kept - 1] == '.';
    }
    snprintf(out, 32, "%.*s%s", (int)kept, words, words + digits);
    arena_release(&arena);
}

static void x_axis(struct svg *svg)
{
    double ticks[SVG_MOST_TICKS], last = -1e9;
    const double bottom = svg->plot.bottom, room = svg->plot.right - svg->plot.left;
    const size_t count = svg_ticks(ticks, &svg->x, (size_t)fmax(2, room / 80));
    for (size_t k = 0; k < count; k++) {
        char words[32];
        const double x = svg_x(svg, ticks[k]);
        svg_tick_words(words, ticks[k], svg->x.unit);
        svg_line(svg, "grid", x, svg->plot.top, x, bottom);
        if (x - svg_text_width(words) / 2 < last + 6)
            continue;
        svg_text(svg, "tick", SVG_MIDDLE, x, bottom + 18, words);
        last = x + svg_text_width(words) / 2;
    }
    svg_line(svg, "axis", svg->plot.left, bottom, svg->plot.right, bottom);
    svg_text(svg, "axis-title", SVG_MIDDLE, (svg->plot.left + svg->plot.right) / 2, bottom + 38, svg->x.title);
}

void svg_axes(struct svg *svg)
{
    double ticks[SVG_MOST_TICKS];
    const size_t count = svg_ticks(ticks, &svg->y, (size_t)fmax(2, (svg->plot.bottom - svg->plot.top) / 44));
    for (size_t k = 0; k < count; k++) {
        char words[32];
        const double y = svg_y(svg, ticks[k]);
        svg_tick_words(words, ticks[k], svg->y.unit);
        svg_line(svg, "grid", svg->plot.left, y, svg->plot.right, y);
        svg_text(svg, "tick", SVG_END, svg->plot.left - 8, y + 4, words);
    }
    svg_text(svg, "axis-title", SVG_START, 4, svg->plot.top - 12, svg->y.title);
    x_axis(svg);
}
