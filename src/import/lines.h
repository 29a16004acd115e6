/* SPDX-License-Identifier: MIT
 *
 * Text: logs and tables, also several in one file. Every line goes to the kinds of lines below until one takes it;
 * what no kind takes is passed over. Each kind has its state here.
 */
#ifndef ROOFTILE_IMPORT_LINES_H
#define ROOFTILE_IMPORT_LINES_H

#include "fields.h"
#include "trace.h"

/* A table with a head. */
struct csv {
    const struct dialect *dialect; /* NULL: no head yet */
    struct fields row;             /* its keys are the heads */
    size_t cells;                  /* of the row */
    double dispatch;               /* of the row before, of counters */
};

/* The command of a library's benchmark; its result may follow. */
struct bench {
    struct fields options;
    size_t program;     /* which; BENCH_NONE: there was no command */
    char *text;         /* of the options */
    unsigned answered;  /* whose time was read: of MIOpenDriver bits of directions */
    bool drives;        /* MIOpenDriver said its own command, and logs its own calls */
    uint32_t signature; /* of the call whose time was read last, of MIOpenDriver's command */
    size_t call;
};

/* A table of rccl-tests. */
struct collective {
    const char *program; /* NULL: not known yet */
    double ranks, nodes;
    bool in_table, counts_wrong; /* older versions have the largest error there */
    const char *host;            /* of the rank before */
};

enum { MOST_DEVICES = 64 };
struct device {
    char kind; /* 'C', 'G', 'N' as TransferBench has them; 0: none */
    unsigned number;
};

struct transfers {
    struct transfer {
        double ms, size;
        const char *path; /* "G0 -> GPU00:004 -> G1" */
    } * items;            /* of the test that is being read */
    size_t count;
    double size;          /* of the copies of matrices; 0: not known */
    const char *executor; /* of the matrix that is being read: "DMA", "GPU"; NULL: there is none */
    bool source_executes; /* TransferBench: whose kernel or engine it is; of others always a GPU's */
    bool alone, backwards;
    char row_kind, column_kind; /* of nvbandwidth, which says so in the title; 0 */
    struct device columns[MOST_DEVICES], listed[MOST_DEVICES],
        from;                        /* listed: by rocm_bandwidth_test; from: all copies */
    const char *paths[MOST_DEVICES]; /* of columns that name a whole copy */
    size_t column_count, listed_count, path_count;
};

struct lines {
    struct trace *trace;
    struct arena arena;
    struct text room; /* for a line that is split before it is known whose it is */
    struct csv csv;
    struct bench bench;
    struct collective collective;
    struct transfers transfers;
};

/* Is the line of this kind? Only then it may be written to. */
typedef bool line_function(struct lines *lines, char *line, size_t length);
line_function table_line, tunableop_line, collective_line, transfer_line, bench_line;
line_function stray_line; /* says which rows of a table no kind took */
/* At the end of the file: what waits for more is added. */
void transfers_end(struct lines *lines);
void bench_end(struct lines *lines);

/* A row of results of hipblaslt-bench or rocblas-bench. */
void bench_row(struct lines *lines);
/* AITER: A is M x K, B N x K; of tables and of lines of a log. */
void aiter_product(struct trace *trace, const struct fields *row);

#endif
