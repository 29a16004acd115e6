/* SPDX-License-Identifier: MIT
 *
 * Machine files as tables (machine.h shows one). Unknown values are absent or null, and are never written.
 */
#include "rooftile/machine.h"
#include "rooftile/record.h"

#define OPEN (RECORD_SPARSE | RECORD_UNKNOWN)

#define RECORD_STRUCT struct ceiling
static const struct record_field vendor_fields[] = {
    FIELD_F64("value", vendor, RECORD_REQUIRED | RECORD_POSITIVE),
    FIELD_CHARS("source", vendor_source, RECORD_REQUIRED),
};
static const struct record vendor_record = {RECORD_TABLE(vendor_fields)};

static const struct record_field effective_fields[] = {
    FIELD_F64("value", effective, RECORD_REQUIRED | RECORD_POSITIVE),
    FIELD_CHARS("source", effective_source, RECORD_REQUIRED),
};
static const struct record effective_record = {RECORD_TABLE(effective_fields)};

static const struct record_field measured_fields[] = {
    FIELD_F64("value", measured, RECORD_REQUIRED | RECORD_POSITIVE),
    FIELD_CHARS("by", measured_by, RECORD_REQUIRED),
    FIELD_F64("ci_rel", ci_rel, RECORD_SPARSE | RECORD_SHARE),
    FIELD_BOOL("raised", raised, RECORD_SPARSE),
};
static const struct record measured_record = {RECORD_TABLE(measured_fields)};

static bool ceiling_known(const void *base)
{
    return ceiling_value(base) > 0;
}

static const struct record_field ceiling_fields[] = {
    FIELD_GROUP("vendor", vendor_record, OPEN),
    FIELD_GROUP("effective", effective_record, OPEN),
    FIELD_GROUP("measured", measured_record, RECORD_SPARSE),
    FIELD_F64("least", least, RECORD_SPARSE | RECORD_SHARE),
};
static const struct record ceiling_record = {RECORD_TABLE(ceiling_fields), .known = ceiling_known};
#undef RECORD_STRUCT

#define RECORD_STRUCT struct machine_level
/* A capacity without a confidence comes from a data sheet. */
static enum status trust_capacity(void *base, const cJSON *json, UNUSED struct err *err)
{
    struct machine_level *level = base;
    if (!json_member(json, "confidence"))
        level->capacity_confidence = 1;
    return STATUS_OK;
}

static const struct record_field capacity_fields[] = {
    FIELD_F64("value", capacity_bytes, RECORD_REQUIRED | RECORD_POSITIVE),
    FIELD_CHARS("source", capacity_source, RECORD_REQUIRED),
    FIELD_F64("confidence", capacity_confidence, RECORD_SPARSE | RECORD_ZERO | RECORD_SHARE),
};
static const struct record capacity_record = {RECORD_TABLE(capacity_fields), .check = trust_capacity};

static const struct record_field level_latency_fields[] = {
    FIELD_F64("value", latency_ns, RECORD_REQUIRED | RECORD_POSITIVE),
    FIELD_CHARS("source", latency_source, RECORD_REQUIRED),
};
static const struct record level_latency_record = {RECORD_TABLE(level_latency_fields)};

static const struct record_field level_fields[] = {
    FIELD_CHARS("name", name, RECORD_REQUIRED),
    FIELD_GROUP("capacity_bytes", capacity_record, OPEN),
    FIELD_F64("capacity_low_bytes", capacity_low_bytes, RECORD_SPARSE | RECORD_POSITIVE),
    FIELD_OBJECT("bandwidth", bandwidth, ceiling_record, OPEN),
    FIELD_OBJECT("read", traffic[TRAFFIC_READ], ceiling_record, RECORD_SPARSE),
    FIELD_OBJECT("write", traffic[TRAFFIC_WRITE], ceiling_record, RECORD_SPARSE),
    FIELD_OBJECT("copy", traffic[TRAFFIC_COPY], ceiling_record, RECORD_SPARSE),
    FIELD_OBJECT("triad", traffic[TRAFFIC_TRIAD], ceiling_record, RECORD_SPARSE),
    FIELD_GROUP("latency_ns", level_latency_record, OPEN),
};
static const struct record level_record = {RECORD_TABLE(level_fields)};
#undef RECORD_STRUCT

#define RECORD_STRUCT struct machine_unit
static const struct record_field unit_fields[] = {
    FIELD_CHARS("name", name, RECORD_REQUIRED),
    FIELD_OBJECT("peak", peak, ceiling_record, OPEN),
    FIELD_F64("clock_hz", clock_hz, RECORD_SPARSE | RECORD_POSITIVE),
    FIELD_F64("held_hz", held_hz, RECORD_SPARSE | RECORD_POSITIVE),
};
static const struct record unit_record = {RECORD_TABLE(unit_fields)};
#undef RECORD_STRUCT

#define RECORD_STRUCT struct machine_link
static const struct record_field link_fields[] = {
    FIELD_CHARS("name", name, RECORD_REQUIRED),
    FIELD_OBJECT("rate", rate, ceiling_record, RECORD_REQUIRED),
};
static const struct record link_record = {RECORD_TABLE(link_fields)};
#undef RECORD_STRUCT

#define RECORD_STRUCT struct machine_latency
static const struct record_field load_fields[] = {
    FIELD_F64("value", latency_ns, RECORD_REQUIRED | RECORD_POSITIVE),
    FIELD_CHARS("source", source, RECORD_REQUIRED),
};
static const struct record load_record = {RECORD_TABLE(load_fields)};

static const struct record_field latency_fields[] = {
    FIELD_F64("upto_bytes", upto_bytes, RECORD_SPARSE | RECORD_POSITIVE),
    FIELD_F64("beyond_bytes", beyond_bytes, RECORD_SPARSE | RECORD_POSITIVE),
    FIELD_F64("confidence", confidence, RECORD_SPARSE | RECORD_SHARE),
    FIELD_CHARS("level", level, RECORD_SPARSE),
    FIELD_U32("instances", instances, RECORD_SPARSE | RECORD_POSITIVE),
    FIELD_GROUP("latency_ns", load_record, RECORD_REQUIRED),
    FIELD_F64("ci_rel", ci_rel, RECORD_SPARSE | RECORD_SHARE),
};
static const struct record latency_record = {RECORD_TABLE(latency_fields)};
#undef RECORD_STRUCT

#define RECORD_STRUCT struct machine_figure
static const struct record_field figure_fields[] = {
    FIELD_CHARS("name", name, RECORD_REQUIRED),     FIELD_F64("value", value, RECORD_REQUIRED | RECORD_POSITIVE),
    FIELD_CHARS("unit", unit, RECORD_REQUIRED),     FIELD_F64("ci_rel", ci_rel, RECORD_SPARSE | RECORD_SHARE),
    FIELD_CHARS("source", source, RECORD_REQUIRED),
};
static const struct record figure_record = {RECORD_TABLE(figure_fields)};
#undef RECORD_STRUCT

#define RECORD_STRUCT struct machine
#define FACT (OPEN | RECORD_POSITIVE | RECORD_SOURCED)
static const struct record_field fact_fields[] = {
    FIELD_U32("cus", cus, FACT),
    FIELD_U32("xccs", xccs, FACT),
    FIELD_U32("wave", wave, FACT),
    FIELD_U32("simds_per_cu", simds_per_cu, FACT),
    FIELD_U32("max_block", max_block, FACT),
    FIELD_F64("lds_bytes_per_cu", lds_bytes_per_cu, FACT),
    FIELD_F64("memory_bytes", memory_bytes, FACT),
    FIELD_F64("core_hz", core_hz, FACT),
    FIELD_F64("memory_hz", memory_hz, FACT),
    FIELD_F64("idle_hz", idle_hz, FACT),
    FIELD_F64("clock_rise_ns", clock_rise_ns, FACT),
    FIELD_F64("dispatch_hz", dispatch_hz, FACT),
    FIELD_F64("lds_latency_ns", lds_latency_ns, FACT),
    FIELD_F64("launch_next_ns", launch_next_ns, FACT),
};
static const struct record fact_record = {RECORD_TABLE(fact_fields)};

static const struct record_field launch_fields[] = {
    FIELD_F64("value", launch_ns, RECORD_REQUIRED | RECORD_POSITIVE),
    FIELD_CHARS("source", launch_source, RECORD_REQUIRED),
};
static const struct record launch_record = {RECORD_TABLE(launch_fields)};

static const struct record_field pci_id_fields[] = {
    {.kind = RECORD_CHARS, .rules = RECORD_SPARSE, .size = sizeof(((struct machine *)0)->pci_ids[0])}};
static const struct record pci_id_record = {
    .fields = pci_id_fields, .count = 1, .size = sizeof(((struct machine *)0)->pci_ids[0])};

static bool machine_known(const void *base)
{
    return ((const struct machine *)base)->level_count > 0;
}

static enum status machine_check(void *base, const cJSON *json, struct err *err)
{
    const char *problem = machine_problem(base);
    return problem ? json_fail(json, err, "%s", problem) : STATUS_OK;
}

static const char *const kinds[] = {"vendor", "measured"};

static const struct record_field machine_fields[] = {
    FIELD_CHARS("name", name, RECORD_REQUIRED),
    FIELD_CHARS("title", title, RECORD_SPARSE),
    FIELD_CHARS("arch", arch, RECORD_SPARSE),
    FIELD_CHARS("relative", relative, RECORD_SPARSE),
    FIELD_NAMED(RECORD_BOOL, "kind", measured, kinds, COUNT_OF(kinds), RECORD_PLAIN),
    FIELD_CHARS("device_id", device_id, RECORD_SPARSE),
    FIELD_CHARS("measured_at", measured_at, RECORD_SPARSE),
    FIELD_CHARS("disturbed", disturbed, RECORD_SPARSE),
    FIELD_COMMENT("notes"),
    FIELD_ROOM("pci_ids", pci_ids, pci_id_count, pci_id_record, RECORD_SPARSE),
    FIELD_CHARS("partition", partition, RECORD_SPARSE),
    FIELD_GROUP("facts", fact_record, RECORD_PLAIN),
    FIELD_ROOM("levels", levels, level_count, level_record, RECORD_REQUIRED),
    FIELD_ROOM("units", units, unit_count, unit_record, RECORD_PLAIN),
    FIELD_ROOM("links", links, link_count, link_record, RECORD_SPARSE),
    FIELD_ROOM("latencies", latencies, latency_count, latency_record, RECORD_SPARSE),
    FIELD_ROOM("figures", figures, figure_count, figure_record, RECORD_SPARSE),
    FIELD_GROUP("launch_ns", launch_record, OPEN),
};
const struct record machine_record = {RECORD_TABLE(machine_fields), .known = machine_known, .check = machine_check};
