/* SPDX-License-Identifier: MIT
 *
 * Tables and documents: content for reports, as plain data. Tables hold raw values in base units (ns, bytes, Hz, B/s,
 * FLOP/s, fractions of 1); src/report renders them as text, Markdown, HTML, CSV and JSON (rooftile/render.h), and only
 * there values become words. An unknown value is not 0: it has a kind of its own.
 *
 * A column has a key for programs, which includes the unit ("median_ns"), and a title for people ("time"); if either is
 * NULL, the column is hidden from those readers.
 *
 * Everything lives in an arena; strings from elsewhere must live as long as the table. Strings may contain anything:
 * renderers escape what is special in their format.
 */
#ifndef ROOFTILE_TABLE_H
#define ROOFTILE_TABLE_H

#include "rooftile/base.h"

/* ---- cells ---- */

/* The meaning of words, shown by a terminal's colours and on pages. */
enum tone { TONE_PLAIN, TONE_BOLD, TONE_DIM, TONE_BAD, TONE_GOOD, TONE_DOUBT, TONE_ACCENT };
/* Adds `words`, with escape sequences around them if `color` is set. */
void text_add_toned(struct text *text, bool color, enum tone tone, const char *words);

enum cell_kind {
    /* not applicable in this row: no member in JSON; people see only its `text`, if any */
    CELL_ABSENT,
    CELL_UNKNOWN, /* "-", empty in CSV, null in JSON, with "<key>_reason" if the reason is known */
    CELL_NUMBER,
    CELL_BOOL,
    CELL_TEXT,
    CELL_RANGE, /* value .. high; in JSON an array of two */
    CELL_JSON,  /* `text` is a JSON value: JSON only */
    CELL_TABLE, /* of a column without title: JSON only. A record is an object, one column without key an array of
                   values, any other table an array of objects */
};

struct table;
struct cell {
    enum cell_kind kind;
    enum tone tone;
    double value, high;
    const char *unit;   /* NULL: that of the column */
    const char *text;   /* CELL_TEXT; in other kinds replaces the value for people; NULL: the value */
    const char *reason; /* why a value is unknown, or an explanation of a text: a tooltip in HTML */
    const struct table *table;
};

/* Numbers that are not finite become unknown, and so does a NULL text. */
struct cell cell_number(double value);
struct cell cell_quantity(double value, const char *unit);
struct cell cell_positive(double value); /* unknown unless above 0 */
struct cell cell_unknown(const char *reason);
struct cell cell_absent(void);
struct cell cell_text(const char *text);
struct cell cell_known(const char *text); /* "" is unknown, too */
struct cell cell_toned(const char *text, enum tone tone);
struct cell cell_bool(bool value);
struct cell cell_range(double low, double high);
struct cell cell_table(const struct table *table);
struct cell cell_json(const char *json);

/* ---- columns ---- */

/* A unit determines how people see a value. Any other name is a unit, too: one that ends in "/s" is a rate ("row/s",
 * 1.20 Mrow/s), others follow the number. */
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
    COLUMN_VERBOSE = 1,   /* only with --verbose */
    COLUMN_GROUP = 2,     /* labels: words that neighbouring rows share become a heading above them (text) */
    COLUMN_PROSE = 4,     /* the last column: sentences, wrapped in the remaining width, or on a line of their own */
    COLUMN_INITIALS = 8,  /* text: shortened instead of dropped, to the first two letters of words; hidden if all of
                             several rows have the same */
    COLUMN_LINK = 16,     /* flags, by which the page can filter its cases (HTML) */
    COLUMN_OPTIONAL = 32, /* of a field: 0 and "" mean unknown */
    COLUMN_TEST = 64,     /* JUnit: names the row if it is a test */
    COLUMN_VERDICT = 128, /* JUnit: outcome of the test; TONE_BAD is a failure, TONE_DIM skipped */
    COLUMN_CUT = 1024,    /* text: cut in the middle if it is too long */
    COLUMN_STRIP = 512,   /* HTML: a row of marks that is never wrapped */
    COLUMN_BAR = 256,     /* HTML: a bar beside it: a share from 0 to 1, a change or its interval around 0 */
};

/* The position of a column's value in a row's object, so that a new column is one line:
 *   {.key = "median_ns", .title = "time", .unit = UNIT_TIME, FIELD(struct result_case, stats.median)} */
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
    const char *key, *title; /* title "": no head */
    const char *unit;        /* NULL: text, left-aligned; otherwise right-aligned */
    unsigned flags;
    unsigned
        drop; /* order in which narrow terminals drop columns: 1 first, 9 last; 0: never. Terminals also drop such a
                      column if all rows have "-" */
    enum field field;
    size_t offset;
};

/* ---- tables ---- */

/* Search and filter keys of a row of cases (HTML). */
struct row_keys {
    const char *id, *kernel;
    const char *const *tags;
    size_t tag_count;
    const char *verdict; /* a word: "ok", "skipped", "slower" ... */
    const char *page;    /* file beside this page that the row links to; NULL: none */
};

struct table_row {
    struct cell *cells;  /* one per column */
    const char *heading; /* line above it; NULL: none */
    const char *note;    /* below it, wrapped unless it has several lines; NULL: none */
    struct cell instead; /* for people: replaces all cells but the first */
    /* For people: adjacent rows whose notes differ in numbers only become one row, "FAMILY: 6 cases". NULL: the row is
     * never merged. */
    const char *family;
    const struct row_keys *keys; /* NULL: none */
};

/* Fills the cells of row `index`, which are initially absent, and its other members. Everything that they point to must
 * live as long as the table. */
typedef void table_maker(struct table_row *row, const struct table *table, size_t index);

struct table {
    struct arena *arena;
    const struct table_column *columns;
    size_t column_count;
    struct table_row *rows; /* table_at reads them */
    size_t row_count;
    table_maker *make; /* makes rows when they are read; NULL: `rows` holds them */
    const void *source;
    struct table_made *made;      /* the row read last */
    bool record;                  /* one row, shown as a list of names and values; in JSON an object */
    struct table_column *members; /* columns of a record */
    size_t most_rows;             /* rows visible to people; 0: all */
    const char *rest;             /* where to find the others: "--format json has them all" */
    bool named;                   /* HTML: links from rows with keys in other tables lead to this table */
    unsigned indent;              /* text */
};

/* `columns` must live as long as the table. */
struct table *table_new(struct arena *arena, const struct table_column *columns, size_t count);
#define TABLE(arena, columns) table_new(arena, columns, sizeof(columns) / sizeof(*(columns)))

/* A table whose rows are made from `source` when they are read, so that 100,000 rows take no memory. */
struct table *table_making(struct arena *arena, const struct table_column *columns, size_t count, size_t row_count,
                           table_maker *make, const void *source);
/* Valid until another row of the table is read, or one is added. */
const struct table_row *table_at(const struct table *table, size_t index);

/* Adds a row with a copy of `cells`, one per column; NULL: all absent, to be filled in. The row is valid until the next
 * one is added. */
struct table_row *table_add(struct table *table, const struct cell *cells);
/* Adds a row, whose cells are the fields of `object` if their column has one, otherwise absent. */
struct table_row *table_add_object(struct table *table, const void *object);
/* A table with such a row for each object in an array; an object has `size` bytes. */
struct table *table_objects(struct arena *arena, const struct table_column *columns, size_t column_count,
                            const void *objects, size_t count, size_t size);
#define TABLE_OF(arena, columns, objects, count)                                                                       \
    table_objects(arena, columns, sizeof(columns) / sizeof(*(columns)), objects, count, sizeof(*(objects)))
/* The cell for a column that is a field of `object`. */
struct cell column_cell(const struct table_column *column, const void *object);

/* A record, to which members are added one by one. */
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
    SHOW_TESTS = 16, /* JUnit: rows of tables with a COLUMN_VERDICT are tests, records are properties of the suite */
    SHOW_CSV = 32,   /* the one table in CSV; if no section has it, the longest table that is shown as text */
    SHOW_PEOPLE = 7,
    SHOW_PAGE = 6
};

struct chart;

/* A title, a text, a chart and a table, each optional. People do not see a section with an empty table, no chart and no
 * text. */
struct section {
    unsigned show;  /* SHOW_*; 0: everywhere */
    unsigned level; /* of its title: 0 directly below the document's title, 1 below that ... */
    /* JSON member for its table; NULL: members of a record become the document's own, other tables are omitted */
    const char *key;
    const char *title;
    struct cell mark;          /* verdict next to the title */
    bool folded;               /* Markdown, HTML: shown on demand */
    const char *text;          /* each line is wrapped separately */
    enum tone tone;            /* of the text */
    bool verbatim;             /* the text already has its layout (and colours for a terminal) */
    bool wraps;                /* a terminal still wraps it: it consists of sentences */
    const struct chart *chart; /* HTML; `table` has its data */
    bool tiles;                /* HTML: members of a record side by side, in large letters */
    const struct table *table;
};

struct document {
    struct arena *arena;
    const char *title; /* Markdown, HTML */
    /* What happened, and what to do about it, a sentence each without a full stop; NULL: none. They stand at the top of
     * Markdown and of a page, and are a terminal's last lines; `mark` gives the verdict its tone. */
    const char *verdict, *action;
    const char *data;  /* HTML: embedded JSON of the data behind the page; NULL: none */
    const char *index; /* HTML: name of the index page beside it; NULL: none */
    const char *name;  /* JUnit: name of the test suite, after "rooftile " */
    const char *date;  /* JUnit: RFC 3339 */
    struct cell mark;
    struct section *sections;
    size_t count;
};

/* Each returns the new section, which is valid until the next one is added. */
struct section *document_add(struct document *document, struct section section);
struct section *document_table(struct document *document, const char *key, const char *title,
                               const struct table *table);
/* Adds a table that a page shows only when asked. */
struct section *document_folded(struct document *document, unsigned show, const char *key, const char *title,
                                const struct table *table);
/* Adds a text that already has its layout. */
struct section *document_verbatim(struct document *document, unsigned show, const char *title, const char *text);
struct section *document_text(struct document *document, unsigned show, enum tone tone, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
