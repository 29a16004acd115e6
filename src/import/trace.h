/* SPDX-License-Identifier: MIT
 *
 * What the readers fill and the aggregator reads: one record for everything a GPU did, texts kept once, and what is
 * known about operators. A file's own records (operators on host threads, runtime calls) live only until the file is
 * read, when its GPU events have got their operators (trace_attribute).
 */
#ifndef ROOFTILE_IMPORT_TRACE_H
#define ROOFTILE_IMPORT_TRACE_H

#include "json_cut.h"
#include "rooftile/import.h"

#define TRACE_NONE UINT32_MAX
/* Of a call: a capture begins, ends; a kernel is launched whose name is not known. */
#define TRACE_CAPTURE (UINT32_MAX - 1)
#define TRACE_CAPTURED (UINT32_MAX - 2)
#define TRACE_LAUNCH (UINT32_MAX - 3)

/* ---- texts, each once ---- */

struct texts {
    struct arena arena;
    const char **items;
    uint32_t count;
    uint32_t *slots; /* number + 1; 0: free */
    uint32_t slot_count;
};
uint32_t texts_add(struct texts *texts, const char *text, size_t length);
void texts_release(struct texts *texts);

/* ---- events ---- */

enum activity { ACTIVITY_COMPUTE, ACTIVITY_COMMUNICATION, ACTIVITY_COPY, ACTIVITIES };

/* A kernel, copy or fill: 40 bytes. */
struct trace_event {
    double start, end; /* of the file's own clock: timeline.unit_ns; infinite: it is counted, its time is not known */
    uint32_t correlation; /* 0: none; of the runtime call, while its file is read */
    /* 0: none; of the operator, of a graph's kernel its node, while files are read; then the number of its row */
    uint32_t external;
    uint32_t name;     /* trace.names: the kernel's, then a line feed and its launch */
    uint32_t operator; /* trace.signatures; TRACE_NONE: not known */
    /* the operator's call: events of one call are one call of its row; TRACE_NONE: its own. While its file is read, the
     * stream */
    uint32_t call;
    uint16_t device; /* number of the timeline: a device in a file */
    uint8_t activity;
    uint8_t source; /* enum import_source: where the operator comes from; CAPTURE: a graph launched it */
};

/* An operator, or (signature TRACE_NONE) a runtime call, on a host thread: 32 bytes. */
struct host_event {
    double start, end;
    uint32_t id; /* the operator's external id; the call's correlation */
    uint32_t thread;
    uint32_t signature; /* after attribution, of a call: number of its operator */
    /* the operator that it is a part of (operator_is_whole), maybe itself; of a call the kernel that it launches,
     * TRACE_LAUNCH, TRACE_CAPTURE or TRACE_CAPTURED; TRACE_NONE: none */
    uint32_t whole;
};

struct host_events {
    struct host_event *items;
    size_t count;
};

/* A launch with a known operator that was made elsewhere: while a graph was captured, or in a trace that is read for
 * its shapes alone. */
struct trace_launch {
    uint32_t name; /* trace.plain_names */
    uint32_t operator, segment, order;
    uint32_t number, call; /* of the operator in its file; of its call in the segment */
};

/* A call that is part of another one, which has the shape. */
struct trace_part {
    uint32_t call, whole, signature; /* of the whole */
};

/* Shapes that came without a trace: lines of logs, rows of tables. */
struct trace_call {
    uint32_t signature; /* TRACE_NONE: only the kernel is known ... */
    uint32_t name;      /* ... by its name */
    double count;
    double time_ns;                                                /* of one; NaN */
    double algorithm_bytes_per_s, bus_bytes_per_s, wrong_elements; /* of collectives and copies; 0, NaN: not known */
};

/* A hardware counter of a kernel. */
struct trace_counter {
    uint32_t name, counter; /* trace.names; trace.counter_names */
    double sum, launches;
};

static inline bool event_is_timed(const struct trace_event *event)
{
    return isfinite(event->end);
}

struct timeline {
    const char *file;
    uint32_t number; /* of the device in the file */
    double unit_ns;  /* of its clock: what a file counts in stays exact */
};

struct trace {
    struct arena arena;
    struct texts names;      /* kernels with their launches */
    struct texts signatures; /* an operator with its inputs, as operator_read takes them */
    uint8_t *activities;     /* of names: enum activity + 1; 0: not asked yet */
    size_t activity_count;
    struct trace_event *events;
    size_t event_count, lost; /* lost: launches whose kernels are in no file, which are events without a time */
    struct trace_call *calls;
    size_t call_count;
    struct trace_counter *counters;
    size_t counter_count;
    struct texts counter_names;
    enum import_source call_source; /* of all of them: IMPORT_LOG, IMPORT_CONFIG */
    struct timeline *timelines;
    size_t timeline_count;
    const char *device_name, *arch; /* NULL: not known */
    uint32_t cus;
    struct text launch;       /* room for a name with its launch */
    struct texts plain_names; /* kernels without their launches */
    struct trace_launch *launches;
    size_t launch_count;
    uint32_t *segment_calls; /* captures, and files read for their shapes: how many operators' calls each has */
    uint32_t segment_count;
    bool shapes_only; /* the file that is being read */
    struct trace_part *parts;
    size_t part_count;
    uint32_t operator_calls; /* numbers given to calls so far */
    struct import_file *files;
    size_t file_count;
    /* of the file that is being read */
    const char *path, *format;
    const struct source *source;
    uint64_t offset;    /* of JSON: where what is being read begins */
    struct texts words; /* its threads and devices, as it names them */
    uint64_t first_ns;  /* of JSON of PyTorch us */
    bool has_first;
    size_t gpu_events;
    bool cut; /* its end is missing */
    struct host_events operators, runtime;
    size_t first_event;
    struct import_note *notes;
    size_t note_count;
    const struct import_options *options;
    double unit_ns; /* of the file that is being read */
};

/* Notes in words that something was wrong or skipped; repeated notes are counted. */
void trace_note(struct trace *trace, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same for something that was skipped: "FILE: WORDS (the first at line 5)". */
void trace_skip(struct trace *trace, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A counter of one launch of a kernel. */
void trace_count(struct trace *trace, const char *kernel, const char *counter, double value);
uint32_t trace_device(struct trace *trace, const char *file, uint32_t number);

/* Adds what a GPU did, of which no operator is known yet: times and ids of `event` are the caller's. */
struct gpu_event {
    const char *category; /* "kernel", "gpu_memcpy", "gpu_memset" */
    const char *name;
    uint32_t device;          /* its number in the file */
    double grid[3], block[3]; /* 0: not known; the grid in workgroups ... */
    bool in_lanes;            /* ... or in work-items */
    double start, end;        /* that make no sense: the event is counted, and has no time */
    uint32_t correlation, external;
    uint32_t graph_node; /* in the order of its capture; 0: not known, or no graph launched it */
    uint32_t stream;     /* on which events run one after the other, numbered from 1; 0: not known */
};
void trace_add_gpu(struct trace *trace, const struct gpu_event *event);
/* Time since the file's first time stamp, as a double cannot hold nanoseconds since 1970. NaN: not a number. */
double trace_since_first(struct trace *trace, uint64_t ns);
double trace_stamp(struct trace *trace, const char *digits);
/* The number of a word that names a thread or device of the file. */
uint32_t trace_word(struct trace *trace, const char *word);

/* Sorts in almost linear time what is mostly in order; what is equal stays in its order. */
void sort_mostly_sorted(void *items, size_t count, size_t size, int (*compare)(const void *, const void *));

/* Launches for fill_from_capture: a segment of them, which were made in this order. `number` is that of the operator in
 * the file, TRACE_NONE without. */
void trace_begin_segment(struct trace *trace);
void trace_add_launch(struct trace *trace, const char *kernel, uint32_t operator, uint32_t number);

/* After a file was read: gives its events their operators, as far as known, and drops its host events. */
void trace_attribute(struct trace *trace);
void trace_release(struct trace *trace);

/* ---- operators ---- */

enum { OPERATOR_DIMS = 14 };

/* What an operator works on: its kind's dimensions, by the names of import_dims. */
struct trace_operator {
    const char *name;
    enum import_kind kind;
    double dims[OPERATOR_DIMS]; /* 0: not known */
    const char *dtype, *total;  /* of inputs and result: f16 ..., or as the file calls it; "" unknown */
    bool ta, tb;                /* GEMM: A, B transposed in row-major order */
    bool causal, scaled;
    const char *layout;
    const char *shape; /* inputs in words, where the kind has no dimensions of its own */
    /* behind the dimensions, what they cannot say: " transposed", " pad_w=2"; NULL or "": they say it all */
    const char *extra;
};
#define CONV_TRANSPOSED " transposed"
#define EXPERTS_TOGETHER " gate, up and down together"                 /* `extra` of a mixture's products as one */
extern const char *const import_dims[IMPORT_KINDS][OPERATOR_DIMS + 1]; /* short names; NULL after the last */

/* The line of a signature that says "triton WARPS STAGES HASH", where Triton compiled the operator. */
enum { SIGNATURE_TRITON = 5 };

/* Attention and convolution are several operators inside each other, of which the outer one says what is computed, and
 * the inner ones may copy and convert. */
bool operator_is_whole(const char *signature);
bool operator_is_known(const char *signature); /* it is of a family */

/* A signature is lines: the name, then "dims", "types", "strides", "values", each the JSON of the trace; or, of readers
 * that know the shape, the name, "=kind", and the members "M=141" and so on. */
void operator_read(struct trace_operator *out, const char *signature, struct arena *arena);
const char *dtype_of_trace(const char *type); /* "c10::BFloat16" is bf16; NULL unknown */
/* Of a product of both: theirs, or where they differ one of its own, "bf16*e4m3", which is no type that has a rate. */
const char *product_type(const char *a, const char *b, struct arena *arena);
/* Adds `count` calls of an operator; `time_ns` of one, NaN: not known. The caller writes what else is known. */
struct trace_call *trace_add_call(struct trace *trace, const struct trace_operator *operator, double count,
                                  double time_ns);
const char *blas_layout(bool ta, bool tb); /* "TN" of y = x W^T: column-major, where our B comes first */
/* A product as BLAS has it, column-major, turned into row-major order. */
void blas_gemm(struct trace_operator *out, const double mnk[3], double batch, bool a_transposed, bool b_transposed);
/* The second form of a signature (operator_read). */
uint32_t operator_signature(struct trace *trace, const struct trace_operator *operator);

/* Reads a kernel's name: its kind, and for GEMMs types, transposes and tile. `out` has been zeroed; `traits` gets it in
 * words. False: the name tells nothing. */
bool kernel_name_read(struct trace_operator *out, struct text *traits, const char *name, const double grid[3],
                      const double block[3]);

/* The name of a kernel that PyTorch's compiler made without its number, else the name. */
const char *name_of_kind(const char *name, struct arena *arena);

/* ---- readers: each adds what the file has ---- */

typedef enum status reader_function(struct trace *trace, struct source *source, struct err *err);
reader_function read_json, read_sqlite, read_lines, read_config;
bool detect_config(const char *head); /* JSON that is a model's configuration */

#endif
