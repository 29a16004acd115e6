/* SPDX-License-Identifier: MIT
 *
 * Tables and documents: what is to be shown, as plain data. Tables hold raw values in base units (ns, bytes, Hz, B/s,
 * FLOP/s, fractions of 1); src/report renders them as text, Markdown, HTML, CSV and JSON (rooftile/render.h), and only
 * there values become words. An unknown value is not 0: it has a kind of its own.
 *
 * A column has a key for programs, with the unit in it ("median_ns"), and a title for people ("time"); if one of them
 * is NULL, those readers do not get the column.
 *
 * Everything lives in an arena, strings from elsewhere must live as long as the table. Strings may hold anything:
 * renderers escape what their format would take for its own.
 */
#ifndef ROOFTILE_TABLE_H
#define ROOFTILE_TABLE_H

#include "rooftile/base.h"

/* ---- cells ---- */

/* What words mean, as a terminal's colours and pages show it. */
enum tone { TONE_PLAIN, TONE_BOLD, TONE_DIM, TONE_BAD, TONE_GOOD, TONE_DOUBT, TONE_ACCENT };
/* Adds the escape sequences around `words` where `color` is set. */
void text_add_toned(struct text *text, bool color, enum tone tone, const char *words);

enum cell_kind {
    /* has no meaning in this row: no member in JSON; for people only its `text`, if it has one */
    CELL_ABSENT,
    CELL_UNKNOWN, /* "-", empty in CSV, null in JSON, with "<key>_reason" where the reason is known */
    CELL_NUMBER,
    CELL_BOOL,
    CELL_TEXT,
    CELL_RANGE, /* value .. high, an array of two in JSON */
    CELL_JSON,  /* `text` is a JSON value: JSON only */
    CELL_TABLE, /* of a column without title: JSON only. A record is an object, one column without key an array of
                   values, any other table an array of objects */
};

struct table;
struct cell {
    enum cell_kind kind;
    enum tone tone;
    double value, high;
    const char *unit;   /* NULL: the column's */
    const char *text;   /* CELL_TEXT; in other kinds what people read instead of the value; NULL: the value */
    const char *reason; /* why it is unknown, or of a text what is behind it: HTML shows it to a pointer */
    const struct table *table;
};

/* Numbers that are not finite are unknown, and so is a NULL text. */
struct cell cell_number(double value);
struct cell cell_quantity(double value, const char *unit);
struct cell cell_positive(double value); /* unknown unless above 0 */
struct cell cell_unknown(const char *reason);
struct cell cell_absent(void);
struct cell cell_text(const char *text);
struct cell cell_known(const char *text); /* unknown when empty, too */
struct cell cell_toned(const char *text, enum tone tone);
struct cell cell_bool(bool value);
struct cell cell_range(double low, double high);
struct cell cell_table(const struct table *table);
struct cell cell_json(const char *json);

/* ---- columns ---- */

/* Units say how people read a value. Besides these any name is a unit: one that ends in "/s" is a rate ("row/s", 1.20
 * Mrow/s), others stand behind the number. */
#define UNIT_TIME "ns"       /* 12.3 us */
#define UNIT_BYTES "B"       /* 1.50 GiB */
#define UNIT_BYTE_RATE "B/s" /* 24.1 GB/s */
#define UNIT_FLOP_RATE "FLOP/s"
#define UNIT_HZ "Hz"            /* 2.31 GHz */
#define UNIT_NUMBER "1"         /* 1.235 */
#define UNIT_COUNT "count"      /* 12345 */
#define UNIT_SIZE "size"        /* 64Ki */
#define UNIT_INTENSITY "FLOP/B" /* 0.167, 33k */
#define UNIT_PERCENT "%"        /* 0.873: 87 %, 0.025: 2.5 % */
#define UNIT_CHANGE "change"    /* 0.012: +1.2 % */

enum {
    COLUMN_VERBOSE = 1,   /* only where more is asked for */
    COLUMN_GROUP = 2,     /* labels: words that neighbours share become a heading above them (text) */
    COLUMN_PROSE = 4,     /* the last column: sentences, wrapped in the room that is left, or on a line of their own */
    COLUMN_INITIALS = 8,  /* dropped means shortened: words become their first two letters */
    COLUMN_LINK = 16,     /* keys of sections (HTML) */
    COLUMN_OPTIONAL = 32, /* of a field: 0 and "" mean that it is not known */
    COLUMN_TEST = 64,     /* JUnit: the row's name, where it is a test */
    COLUMN_VERDICT = 128, /* JUnit: what became of it, TONE_BAD is a failure and TONE_DIM skipped */
    COLUMN_CUT = 1024,    /* text: cut in the middle where there is no room for all of it */
    COLUMN_STRIP = 512,   /* HTML: a row of marks that no line breaks */
    COLUMN_BAR = 256,     /* HTML: a bar beside it: a share from 0 to 1, a change or its interval around 0 */
};

/* Where in a row's object the value of a column is, so that a new column is one line:
 *     {.key = "median_ns", .title = "time", .unit = UNIT_TIME, FIELD(struct result_case, stats.median)} */
enum field {
    FIELD_NONE,
    FIELD_DOUBLE,
    FIELD_SIZE,
    FIELD_U32,
    FIELD_INT,
    FIELD_BOOL,
    FIELD_TEXT,
    FIELD_CHARS,
    FIELD_RANGE
};
#define FIELD(type, member)                                                                                            \
    .offset = offsetof(type, member),                                                                                  \
    .field = _Generic(((type *)0)->member,                                                                             \
        double: FIELD_DOUBLE, size_t: FIELD_SIZE, uint32_t: FIELD_U32, int: FIELD_INT, bool: FIELD_BOOL,               \
        const char *: FIELD_TEXT, char *: FIELD_CHARS, double *: FIELD_RANGE)

struct table_column {
    const char *key, *title; /* title "": shown without a head */
    const char *unit;        /* NULL: text, left; else to the right */
    unsigned flags;
    unsigned drop; /* when a narrow terminal drops it: 1 first, 9 last; 0: never */
    enum field field;
    size_t offset;
};

/* ---- tables ---- */

/* What a row of cases can be searched and filtered by (HTML). */
struct row_keys {
    const char *id, *kernel;
    const char *const *tags;
    size_t tag_count;
    const char *verdict; /* a word: "ok", "skipped", "slower" ... */
    const char *page;    /* a file beside this page that the row leads to; NULL: none */
};

struct table_row {
    struct cell *cells;  /* one per column */
    const char *heading; /* a line above it; NULL: none */
    const char *note;    /* below it, wrapped; of several lines the layout stays; NULL: none */
    struct cell instead; /* for people, in place of all cells but the first: what became of it */
    /* For people, neighbours whose notes are the same but for their numbers are one row, "FAMILY: 6 cases". NULL: it
     * stands alone */
    const char *family;
    const struct row_keys *keys; /* NULL: none */
};

/* Fills the cells of row `index`, which are absent, and its other members. What they point to must live as long as the
 * table. */
typedef void table_maker(struct table_row *row, const struct table *table, size_t index);

struct table {
    struct arena *arena;
    const struct table_column *columns;
    size_t column_count;
    struct table_row *rows; /* table_at reads them */
    size_t row_count, room;
    table_maker *make; /* makes rows when they are read; NULL: they are in `rows` */
    const void *source;
    struct table_made *made;      /* the one that was looked at last */
    bool record;                  /* one row, shown as a list of names and values; in JSON an object */
    struct table_column *members; /* of a record that grew: its columns */
    size_t member_room;
    size_t most_rows; /* that people see; 0: all */
    const char *rest; /* where the others are: "--format json has them all" */
    bool named;       /* HTML: rows with keys have their names here; in other tables they lead here */
    unsigned indent;  /* text */
};

/* Keeps `columns`. */
struct table *table_new(struct arena *arena, const struct table_column *columns, size_t count);
#define TABLE(arena, columns) table_new(arena, columns, sizeof(columns) / sizeof(*(columns)))

/* A table whose rows are made from `source` when they are read, so 100,000 rows take no memory. */
struct table *table_making(struct arena *arena, const struct table_column *columns, size_t count, size_t row_count,
                           table_maker *make, const void *source);
/* Valid until another row of the table is read, or one is added. */
const struct table_row *table_at(const struct table *table, size_t index);

/* Copies `cells`, one per column; NULL: all absent, to be filled in. The row is valid until the next one is added. */
struct table_row *table_add(struct table *table, const struct cell *cells);
/* Fills the cells of columns that are fields of `object`; the others are absent. */
struct table_row *table_add_object(struct table *table, const void *object);
/* A table with such a row for each of an array's objects, of `size` bytes. */
struct table *table_objects(struct arena *arena, const struct table_column *columns, size_t column_count,
                            const void *objects, size_t count, size_t size);
#define TABLE_OF(arena, columns, objects, count)                                                                       \
    table_objects(arena, columns, sizeof(columns) / sizeof(*(columns)), objects, count, sizeof(*(objects)))
/* A cell of a column that is a field of `object`. */
struct cell column_cell(const struct table_column *column, const void *object);

/* A record that grows by a member at a time. */
struct table *table_record(struct arena *arena);
void table_member(struct table *record, const char *key, const char *title, struct cell cell);
/* A record whose first members are fields of `object`. */
struct table *table_record_object(struct arena *arena, const struct table_column *columns, size_t count,
                                  const void *object);
#define RECORD_OF(arena, columns, object)                                                                              \
    table_record_object(arena, columns, sizeof(columns) / sizeof(*(columns)), object)

/* An array of texts. */
struct table *table_list(struct arena *arena);
void table_item(struct table *list, const char *text);

/* ---- documents ---- */

enum {
    SHOW_TEXT = 1,
    SHOW_MARKDOWN = 2,
    SHOW_HTML = 4,
    SHOW_DATA = 8,   /* JSON */
    SHOW_TESTS = 16, /* JUnit: tables with a COLUMN_VERDICT are tests, records properties of all */
    SHOW_CSV = 32,   /* the one table of CSV; without it, the longest table that is shown as text */
    SHOW_PEOPLE = 7,
    SHOW_PAGE = 6
};

struct chart;

/* A title, a text, a chart and a table, each of which may be missing. A section with an empty table, no chart and no
 * text is not shown to people. */
struct section {
    unsigned show;  /* SHOW_*; 0: everywhere */
    unsigned level; /* of its title: 0 below the document's, 1 below that ... */
    /* its table's member in JSON; NULL: a record's members become the document's own, other tables are omitted */
    const char *key;
    const char *title;
    struct cell mark;          /* a verdict, next to the title */
    bool folded;               /* Markdown, HTML: shown on demand */
    const char *text;          /* each line wrapped by itself */
    enum tone tone;            /* of the text */
    bool verbatim;             /* the text is laid out (and for a terminal coloured) already */
    bool wraps;                /* a terminal wraps it nevertheless: it is sentences, no listing */
    const struct chart *chart; /* HTML; `table` has what it shows */
    bool tiles;                /* HTML: a record's members side by side, in large letters */
    const struct table *table;
};

struct document {
    struct arena *arena;
    const char *title; /* Markdown, HTML */
    const char *data;  /* HTML: the JSON that it was made of, which the page has inside; NULL: none */
    const char *index; /* HTML: the page beside it that lists it; NULL: none */
    const char *name;  /* JUnit: of the suite of tests, behind "rooftile " */
    const char *date;  /* JUnit: RFC 3339 */
    struct cell mark;
    struct section *sections;
    size_t count, room;
};

/* Each returns the new section, valid until the next one is added. */
struct section *document_add(struct document *document, struct section section);
struct section *document_table(struct document *document, const char *key, const char *title,
                               const struct table *table);
/* A text that is laid out already. */
struct section *document_verbatim(struct document *document, unsigned show, const char *title, const char *text);
struct section *document_text(struct document *document, unsigned show, enum tone tone, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
