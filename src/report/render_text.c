/* SPDX-License-Identifier: MIT
 *
 * Documents for a terminal. A table's cells become text first, then come the widths, then as many columns as fit; the
 * remaining columns follow below, beside the repeated labels.
 */

#include "report_internal.h"

enum {
    GAP = 2,
    NOTE_INDENT = 4,
    LEAST_LABEL = 12,
    LEAST_CUT = 12,
    READABLE_CUT = 20,
    LAST_DROP = 9,
    LEAST_PROSE = 28,
    USUAL_COLUMNS = 100
};

/* ---- labels ----
 *
 * A label lists every parameter that varies in the plan. Neighbouring cases of one kernel share most of them, so the
 * parameters that a run of rows shares become its heading, and the rows keep the others. */

struct row_label {
    const char *heading; /* line above this row; NULL: none */
    const char *text;    /* of the row; indented if it has a heading */
};

enum { MAX_WORDS = 32 };

struct words {
    const char *word[MAX_WORDS];
    size_t count;
};

/* The last word takes the rest. */
static struct words split(const char *label, struct arena *arena)
{
    struct words words = {.count = 0};
    for (char *p = arena_strdup(arena, label), *end; p && words.count < MAX_WORDS; p = end ? end + 1 : NULL) {
        end = words.count + 1 < MAX_WORDS ? strchr(p, ' ') : NULL;
        words.word[words.count++] = p;
        if (end)
            *end = '\0';
    }
    return words;
}

static const char *join(const struct words *words, uint32_t which, const char *before, struct arena *arena)
{
    struct text text = {0};
    for (size_t k = 0; k < words->count; k++)
        if (which & 1u << k)
            text_addf(&text, "%s%s", text.length ? " " : before, words->word[k]);
    return text_take(&text, arena);
}

static struct row_label *group_labels(const char *const *labels, size_t count, struct arena *arena)
{
    SCOPED(arena_release) struct arena scratch = {0};
    struct row_label *grouped = arena_array(arena, count + 1, sizeof(*grouped));
    for (size_t k = 0, length; k < count; k += length) {
        const struct words first = split(labels[k], &scratch);
        uint32_t varies = 0; /* the words that differ between rows under one heading */
        /* Two rows may differ in any words; another row joins if no other word begins to vary. */
        for (length = 1; k + length < count; length++) {
            const struct words next = split(labels[k + length], &scratch);
            uint32_t now = varies;
            for (size_t w = 0; w < first.count && next.count == first.count; w++)
                now |= strcmp(first.word[w], next.word[w]) ? 1u << w : 0;
            if (next.count != first.count || now & 1 || (length >= 2 && now != varies))
                break;
            varies = now;
        }
        for (size_t row = k; row < k + length; row++) {
            const struct words words = split(labels[row], &scratch);
            grouped[row].text = varies ? join(&words, varies, "  ", arena) : labels[row];
        }
        grouped[k].heading = varies ? join(&first, ~varies, "", arena) : NULL;
        arena_reset(&scratch);
    }
    return grouped;
}

/* ---- lines ---- */

/* A table during layout. */
struct layout {
    const struct table *table;
    const struct report_options *options;
    struct arena *arena;
    const struct row_label *labels; /* of its first column */
    const char **words;             /* row by row */
    bool *instead;                  /* per row: its cells are not shown */
    size_t *widths;                 /* 0: not shown */
    bool *dropped;
    size_t first, prose; /* columns; prose: column_count if there is none */
    size_t label_width, columns, rows;
};

/* Blanks are held back until a character follows, so that no line ends in blanks. */
struct line {
    struct text *out;
    const struct report_options *options;
    size_t at, blanks;
};

static const char *printable(struct arena *arena, const char *string)
{
    const char *p = string;
    while (*p >= ' ' && *p <= '~')
        p++;
    if (!*p)
        return string;
    struct text text = {0};
    text_add_printable(&text, string);
    return text_take(&text, arena);
}

static void add(struct line *line, const char *words, enum tone tone)
{
    if (!*words)
        return;
    text_pad(line->out, line->blanks, ' ');
    text_add_toned(line->out, line->options->color, tone, words);
    line->at += line->blanks + text_columns(words);
    line->blanks = 0;
}

/* Advances to a column, by at least `gap`. */
static void go_to(struct line *line, size_t column, size_t gap)
{
    const size_t now = line->at + line->blanks;
    line->blanks += now + gap <= column ? column - now : gap;
}

static void new_line(struct line *line)
{
    text_add(line->out, "\n");
    line->at = line->blanks = 0;
}

/* Writes words from the current column on, with further lines at `indent`. */
static void add_prose(struct line *line, const char *words, enum tone tone, size_t indent, size_t columns)
{
    SCOPED(text_release) struct text wrapped = {0};
    text_add_wrapped(&wrapped, words, line->at + line->blanks, indent, columns);
    add(line, wrapped.data ? wrapped.data : "", tone);
}

/* Writes each line separately: wrapped at its own indentation, or unwrapped if there are several and `keep`. */
static void add_lines(struct text *out, const char *lines, const struct report_options *options, enum tone tone,
                      size_t indent, size_t columns, bool keep)
{
    SCOPED(arena_release) struct arena arena = {0};
    keep = keep && strchr(lines, '\n');
    for (const char *p = lines; *p; p += strcspn(p, "\n"), p += *p == '\n') {
        const size_t own = indent + strspn(p, " ");
        struct line line = {.out = out, .options = options, .blanks = keep ? indent : own};
        const char *one = printable(&arena, arena_strndup(&arena, p, strcspn(p, "\n")));
        if (keep)
            add(&line, one, tone);
        else
            add_prose(&line, one, tone, own > indent ? own + GAP : indent, columns);
        new_line(&line);
    }
}

/* ---- layout ---- */

static const char *initials(const char *words, struct arena *arena)
{
    char *letters = arena_strdup(arena, words), *end = letters;
    for (const char *p = words; *p; p += strcspn(p, ","), p += strspn(p, ", ")) {
        *end++ = *p;
        if (p[1] && p[1] != ',')
            *end++ = p[1];
        if (p[strcspn(p, ",")])
            *end++ = ',';
    }
    *end = '\0';
    return letters;
}

static const char *words_at(const struct layout *l, size_t row, size_t column)
{
    const char *words = l->words[row * l->table->column_count + column];
    return l->dropped[column] ? initials(words, l->arena) : words;
}

static void measure(struct layout *l, size_t column)
{
    const size_t title = text_columns(l->table->columns[column].title);
    size_t widest = 0;
    for (size_t row = 0; row < l->rows; row++) {
        const size_t width = l->instead[row] ? 0 : text_columns(words_at(l, row, column));
        widest = width > widest ? width : widest;
    }
    l->widths[column] = widest && widest < title ? title : widest;
}

/* The narrowest width of a column when its texts are cut. */
static size_t least_width(const struct layout *l, size_t column, size_t least)
{
    const struct table_column *c = &l->table->columns[column];
    const size_t title = l->widths[column] ? text_columns(c->title) : 0;
    least = title > least ? title : least;
    return c->flags & COLUMN_CUT && l->widths[column] > least ? least : l->widths[column];
}

static size_t rest_of(const struct layout *l, bool cut)
{
    size_t rest = 0;
    for (size_t k = 0; k < l->table->column_count; k++)
        if (k != l->first && k != l->prose && l->widths[k])
            rest += GAP + (cut ? least_width(l, k, READABLE_CUT) : l->widths[k]);
    return rest;
}

static void drop(struct layout *l, unsigned step)
{
    for (size_t k = 0; k < l->table->column_count; k++) {
        const struct table_column *column = &l->table->columns[k];
        if (column->drop != step || !l->widths[k])
            continue;
        l->dropped[k] = column->flags & COLUMN_INITIALS;
        l->widths[k] = 0;
        if (l->dropped[k])
            measure(l, k);
    }
}

/* True if no row says anything in this column, which may be dropped: all have "-", or all of several have the same
 * flags, which a sentence below the table explains. */
static bool is_silent(const struct layout *l, size_t column)
{
    const struct table_column *c = &l->table->columns[column];
    const char *first = NULL;
    size_t rows = 0;
    for (size_t row = 0; row < l->rows && c->drop; row++) {
        if (l->instead[row])
            continue;
        first = first ? first : words_at(l, row, column);
        if (strcmp(first, words_at(l, row, column)) != 0)
            return false;
        rows++;
    }
    return first && (!strcmp(first, "-") || (rows > 1 && c->flags & COLUMN_INITIALS));
}

static void choose_columns(struct layout *l)
{
    const struct table *t = l->table;
    l->widths = arena_array(l->arena, t->column_count + 1, sizeof(*l->widths));
    l->dropped = arena_array(l->arena, t->column_count + 1, sizeof(*l->dropped));
    l->first = l->prose = t->column_count;
    for (size_t k = 0; k < t->column_count; k++) {
        if (!column_shown(t, k, l->options))
            continue;
        if (l->first < t->column_count && !(t->columns[k].flags & COLUMN_PROSE) && is_silent(l, k))
            continue;
        measure(l, k);
        if (t->columns[k].flags & COLUMN_PROSE)
            l->prose = k;
        else if (l->first == t->column_count)
            l->first = k;
    }
}

static void choose_labels(struct layout *l)
{
    const char **labels = arena_array(l->arena, l->rows + 1, sizeof(*labels));
    const char *const *apart = l->options->verbose || l->first ? NULL : table_names_apart(l->table, l->arena);
    for (size_t row = 0; row < l->rows && l->first < l->table->column_count; row++)
        labels[row] = apart ? printable(l->arena, apart[row]) : words_at(l, row, l->first);
    if (l->first < l->table->column_count && l->table->columns[l->first].flags & COLUMN_GROUP) {
        l->labels = group_labels(labels, l->rows, l->arena);
        return;
    }
    struct row_label *plain = arena_array(l->arena, l->rows + 1, sizeof(*plain));
    for (size_t row = 0; row < l->rows; row++)
        plain[row].text = labels[row] ? labels[row] : "";
    l->labels = plain;
}

/* Shrinks columns whose texts may be cut, the widest first. */
static void cut(struct layout *l, size_t too_many)
{
    for (; too_many; too_many--) {
        size_t widest = l->table->column_count;
        for (size_t k = 0; k < l->table->column_count; k++)
            if (k != l->first && k != l->prose && l->widths[k] > least_width(l, k, LEAST_CUT) &&
                (widest == l->table->column_count || l->widths[k] > l->widths[widest]))
                widest = k;
        if (widest == l->table->column_count)
            return;
        l->widths[widest]--;
    }
}

static bool cuts_label(const struct layout *l)
{
    return l->first < l->table->column_count && l->table->columns[l->first].flags & COLUMN_CUT;
}

/* A label wider than its column is cut or gets a line of its own. */
static void choose_widths(struct layout *l)
{
    size_t widest = l->first < l->table->column_count ? text_columns(l->table->columns[l->first].title) : 0;
    for (size_t row = 0; row < l->rows; row++) {
        const size_t width = text_columns(l->labels[row].text);
        widest = width > widest ? width : widest;
    }
    const size_t columns = l->columns > l->table->indent ? l->columns - l->table->indent : 0;
    const size_t label = cuts_label(l) && widest > READABLE_CUT ? READABLE_CUT : widest;
    for (unsigned step = 1; step <= LAST_DROP && label + rest_of(l, true) > columns; step++)
        drop(l, step);
    const size_t wanted = label + rest_of(l, false);
    cut(l, wanted > columns ? wanted - columns : 0);
    const size_t rest = rest_of(l, false), least = columns / 3 > LEAST_LABEL ? columns / 3 : LEAST_LABEL;
    const size_t room = columns > rest + LEAST_LABEL ? columns - rest : least;
    l->label_width = widest < room ? widest : room;
}

/* Shows the columns from `next` on that fit beside the labels, at least one, and the prose with the last part. Returns
 * the first remaining column. */
static size_t choose_part(struct layout *l, const size_t *widths, size_t prose, size_t next)
{
    const size_t count = l->table->column_count;
    size_t at = l->table->indent + l->label_width;
    bool any = false;
    for (size_t k = 0; k < count; k++)
        l->widths[k] = k == l->first ? widths[k] : 0;
    for (; next < count; next++) {
        if (next == l->first || next == prose || !widths[next])
            continue;
        if (any && at + GAP + widths[next] > l->columns)
            break;
        l->widths[next] = widths[next];
        at += GAP + widths[next];
        any = true;
    }
    l->prose = next < count ? count : prose;
    return next;
}

/* ---- rows ---- */

/* Writes prose at column `at`, or on the next line if the rest of the line is too narrow. */
static void add_prose_cell(struct line *line, const struct layout *l, const char *words, enum tone tone, size_t at)
{
    const bool alone = l->first == l->table->column_count;
    if (!*words)
        return;
    if (at + text_columns(words) > l->columns && at + LEAST_PROSE > l->columns) {
        if (line->at)
            new_line(line);
        line->blanks = l->table->indent + NOTE_INDENT;
        add_prose(line, words, tone, l->table->indent + NOTE_INDENT, l->columns);
        return;
    }
    go_to(line, at, alone || !line->at ? 0 : GAP);
    add_prose(line, words, tone, at, l->columns);
}

/* `row` < 0: the head. */
static void add_cells(struct line *line, const struct layout *l, ptrdiff_t row)
{
    const struct table *t = l->table;
    const struct table_row *shown = row < 0 ? NULL : table_at(t, (size_t)row);
    size_t end = t->indent + l->label_width;
    for (size_t k = 0; k < t->column_count; k++) {
        if (k == l->first || k == l->prose || !l->widths[k])
            continue;
        const char *words = row < 0 ? t->columns[k].title : words_at(l, (size_t)row, k);
        words = t->columns[k].flags & COLUMN_CUT ? text_cut(l->arena, words, l->widths[k], "..") : words;
        const size_t width = text_columns(words), pad = t->columns[k].unit ? l->widths[k] - width : 0;
        go_to(line, end + GAP + pad, 0);
        add(line, words, shown ? shown->cells[k].tone : TONE_BOLD);
        end += GAP + l->widths[k];
    }
    const size_t at = t->indent + (l->first == t->column_count ? 0 : l->label_width + rest_of(l, false) + GAP);
    if (l->prose < t->column_count && shown)
        add_prose_cell(line, l, words_at(l, (size_t)row, l->prose), shown->cells[l->prose].tone, at);
    else if (l->prose < t->column_count && at + LEAST_PROSE <= l->columns)
        add_prose_cell(line, l, t->columns[l->prose].title, TONE_BOLD, at);
}

static void add_label(struct line *line, const struct layout *l, const char *label, enum tone tone)
{
    line->blanks = l->table->indent;
    if (l->first == l->table->column_count)
        return;
    label = cuts_label(l) ? text_cut(l->arena, label, l->label_width, "..") : label;
    const bool right = l->table->columns[l->first].unit && text_columns(label) < l->label_width;
    go_to(line, l->table->indent + (right ? l->label_width - text_columns(label) : 0), 0);
    const size_t blanks = strspn(label, " ");
    line->blanks += blanks;
    if (l->table->indent + text_columns(label) > l->columns)
        add_prose(line, label + blanks, tone, l->table->indent + NOTE_INDENT, l->columns);
    else
        add(line, label + blanks, tone);
    if (text_columns(label) > l->label_width)
        new_line(line);
}

static void add_row(struct text *out, const struct layout *l, size_t row, bool whole)
{
    const struct table_row *shown = table_at(l->table, row);
    struct line line = {.out = out, .options = l->options};
    const char *const headings[] = {shown->heading, l->labels[row].heading};
    if (!whole && shown->instead.kind)
        return;
    for (size_t k = 0; k < 2; k++)
        if (headings[k])
            add_lines(out, headings[k], l->options, TONE_BOLD, l->table->indent, l->columns, false);
    add_label(&line, l, l->labels[row].text, l->first < l->table->column_count ? shown->cells[l->first].tone : 0);
    if (shown->instead.kind) {
        add_prose_cell(&line, l, printable(l->arena, cell_words(&shown->instead, NULL, l->arena)), shown->instead.tone,
                       l->table->indent + l->label_width + GAP);
    } else {
        add_cells(&line, l, (ptrdiff_t)row);
    }
    new_line(&line);
    if (shown->note && whole)
        add_lines(out, shown->note, l->options, TONE_PLAIN, l->table->indent + NOTE_INDENT, l->columns, true);
}

static void add_table(struct text *out, const struct table *table, const struct report_options *options, size_t columns)
{
    SCOPED(arena_release) struct arena arena = {0};
    struct layout l = {.options = options, .arena = &arena, .columns = columns};
    l.table = table_for_people(table, &arena);
    l.rows = rows_shown(l.table);
    l.dropped = arena_array(&arena, l.table->column_count + 1, sizeof(*l.dropped));
    l.words = arena_array(&arena, l.rows * l.table->column_count + 1, sizeof(*l.words));
    l.instead = arena_array(&arena, l.rows + 1, sizeof(*l.instead));
    for (size_t row = 0; row < l.rows; row++) {
        const struct table_row *shown = table_at(l.table, row);
        l.instead[row] = shown->instead.kind;
        for (size_t k = 0; k < l.table->column_count; k++) {
            const struct table_column *column = &l.table->columns[k];
            l.words[row * l.table->column_count + k] =
                column->title ? printable(&arena, cell_words(&shown->cells[k], column, &arena)) : "";
        }
    }
    choose_columns(&l);
    choose_labels(&l);
    choose_widths(&l);
    const size_t *widths = arena_copy(&arena, l.widths, l.table->column_count * sizeof(*widths)), prose = l.prose;
    for (size_t next = 0, parts = 0; next < l.table->column_count; parts++) {
        next = choose_part(&l, widths, prose, next);
        if (parts)
            text_add(out, "\n");
        if (has_head(l.table)) {
            struct line head = {.out = out, .options = options};
            add_label(&head, &l, l.first < l.table->column_count ? l.table->columns[l.first].title : "", TONE_BOLD);
            add_cells(&head, &l, -1);
            new_line(&head);
        }
        for (size_t row = 0; row < l.rows; row++)
            add_row(out, &l, row, parts == 0);
    }
    if (l.rows < l.table->row_count)
        text_addf(out, "... and %zu more%s%s\n", l.table->row_count - l.rows, table->rest ? "; " : "",
                  table->rest ? table->rest : "");
}

/* ---- documents ---- */

unsigned report_columns(const struct report_options *options)
{
    return options->columns ? options->columns : USUAL_COLUMNS;
}

/* Titles follow an empty line, and so does anything after a table, and the verdict. */
void render_text(struct text *out, const struct document *document, const struct report_options *options)
{
    const size_t columns = report_columns(options), start = out->length;
    bool after_table = false;
    FOR_EACH(const struct section, section, document->sections, document->count) {
        if (!section_shown(section, SHOW_TEXT))
            continue;
        const bool table = section->table && section->table->row_count;
        if (out->length > start && (section->title || after_table))
            text_add(out, "\n");
        if (section->title) {
            SCOPED(arena_release) struct arena arena = {0};
            struct line line = {.out = out, .options = options};
            add_prose(&line, printable(&arena, section->title), TONE_BOLD, 0, columns);
            line.blanks = GAP;
            if (section->mark.kind)
                add(&line, printable(&arena, cell_words(&section->mark, NULL, &arena)), section->mark.tone);
            new_line(&line);
        }
        if (section->text && section->verbatim && !section->wraps)
            text_add(out, section->text);
        else if (section->text)
            add_lines(out, section->text, options, section->tone, 0, columns, false);
        if (table)
            add_table(out, section->table, options, columns);
        after_table = table;
    }
    if (out->length > start && document->verdict)
        text_add(out, "\n");
    add_lines(out, text_or_empty(document->verdict), options, document->mark.tone ?: TONE_BOLD, 0, columns, false);
    add_lines(out, text_or_empty(document->action), options, TONE_PLAIN, 0, columns, false);
}
