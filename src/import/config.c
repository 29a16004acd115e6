/* SPDX-License-Identifier: MIT
 *
 * A model's config.json, as Hugging Face has them: what each layer works on when it reads a prompt or decodes, with the
 * number of layers as weight. Dense layers, mixtures of experts, and multi-head latent attention.
 */

#include "rooftile/json.h"
#include "trace.h"

struct model {
    struct trace *trace;
    const cJSON *json;
    const char *dtype;
    double hidden, heads, kv_heads, head, inter, layers, vocabulary;
    double experts, chosen, expert_inter, shared_inter, dense_layers; /* 0 experts: none */
    double window, windowed;                                          /* keys; layers that see no more of them */
    const char *extra;
    bool rms, gated, rotates;
    double q_rank, kv_rank, rope, nope, value; /* 0 kv_rank: ordinary attention */
    double tokens, context, batch, tp;
};

bool detect_config(const char *head)
{
    return (strstr(head, "\"hidden_size\"") || strstr(head, "\"n_embd\"") || strstr(head, "\"d_model\"")) &&
           !strstr(head, "\"traceEvents\"") && !strstr(head, "\"schemaVersion\"");
}

/* ---- reading ---- */

/* The first of these members, between blanks, that is a number. */
static double member(const cJSON *json, const char *names, double otherwise)
{
    char name[64];
    for (const char *at = names; *at; at += strspn(at, " ")) {
        const size_t length = strcspn(at, " ");
        if (length >= sizeof(name))
            return otherwise;
        memcpy(name, at, length);
        name[length] = '\0';
        const cJSON *found = json_member(json, name);
        if (cJSON_IsNumber(found) && found->valuedouble > 0 && found->valuedouble < 1e9)
            return found->valuedouble;
        at += length;
    }
    return otherwise;
}

static bool has_one_of(const cJSON *json, const char *const names[], size_t count)
{
    for (size_t k = 0; k < count; k++) {
        const cJSON *found = json_member(json, names[k]);
        if (found && !cJSON_IsNull(found))
            return true;
    }
    return false;
}

/* What no member says outright: models with RMS norm have rotary positions and gated experts and MLPs; older ones, of
 * GPT-2's kind, only where something else says so. */
static void read_kind(struct model *m)
{
    static const char *const rotary[] = {"rope_theta", "rope_scaling", "rope_parameters",
                                         "rotary_pct", "rotary_dim",   "partial_rotary_factor"};
    static const char *const activations[] = {"hidden_act", "hidden_activation", "activation_function"};
    m->rms = has_one_of(m->json, (const char *const[]){"rms_norm_eps"}, 1);
    m->rotates = m->rms || has_one_of(m->json, rotary, COUNT_OF(rotary));
    m->gated = m->rms;
    for (size_t k = 0; k < COUNT_OF(activations); k++) {
        const cJSON *name = json_member(m->json, activations[k]);
        m->gated = m->gated ||
                   (cJSON_IsString(name) && (strstr(name->valuestring, "silu") || strstr(name->valuestring, "glu")));
    }
}

static double share(double whole, double parts)
{
    return fmax(1, ceil(whole / parts));
}

static void read_model(struct model *m, const struct import_options *o)
{
    const cJSON *type = json_member(m->json, "torch_dtype"), *newer = json_member(m->json, "dtype");
    const cJSON *named = cJSON_IsString(type) ? type : newer;
    const char *dtype = cJSON_IsString(named) ? dtype_of_trace(named->valuestring) : NULL;
    m->dtype = dtype ? dtype : "bf16";
    read_kind(m);
    m->hidden = member(m->json, "hidden_size n_embd d_model", 0);
    m->heads = member(m->json, "num_attention_heads n_head num_heads", 0);
    m->kv_heads = member(m->json, "num_key_value_heads num_kv_heads", m->heads);
    m->head = member(m->json, "head_dim", m->heads > 0 ? m->hidden / m->heads : 0);
    m->inter = member(m->json, "intermediate_size n_inner ffn_dim d_ff", 4 * m->hidden);
    m->layers = member(m->json, "num_hidden_layers n_layer num_layers", 1);
    m->vocabulary = member(m->json, "vocab_size", 0);
    m->experts = member(m->json, "num_local_experts n_routed_experts num_experts moe_num_experts", 0);
    m->chosen = member(m->json, "num_experts_per_tok num_experts_per_token moe_topk experts_per_token", 1);
    m->expert_inter = member(m->json, "moe_intermediate_size", m->inter);
    m->shared_inter =
        member(m->json, "shared_expert_intermediate_size", member(m->json, "n_shared_experts", 0) * m->expert_inter);
    m->dense_layers = m->experts > 0 ? member(m->json, "first_k_dense_replace", 0) : m->layers;
    m->kv_rank = member(m->json, "kv_lora_rank", 0);
    m->q_rank = member(m->json, "q_lora_rank", 0);
    m->rope = member(m->json, "qk_rope_head_dim", 0);
    m->nope = member(m->json, "qk_nope_head_dim", 0);
    m->value = member(m->json, "v_head_dim", m->head);
    m->batch = o->batch ? o->batch : 1;
    m->tp = o->tp ? o->tp : 1;
    m->context = o->tokens ? (double)o->tokens : 4096;
    m->tokens = o->decode ? m->batch : m->batch * m->context;
    m->window = member(m->json, "sliding_window", 0);
    const cJSON *types = json_member(m->json, "layer_types"), *layer = NULL;
    cJSON_ArrayForEach(layer, types) m->windowed += m->window > 0 && m->window < m->context && cJSON_IsString(layer) &&
                                                    strcmp(layer->valuestring, "sliding_attention") == 0;
    m->heads = share(m->heads, m->tp);
    m->kv_heads = share(m->kv_heads, m->tp);
}

/* ---- operators ---- */

static void add(const struct model *m, const char *name, enum import_kind kind, double times,
                const double dims[OPERATOR_DIMS], bool causal)
{
    struct trace_operator operator= {
        .name = name, .kind = kind, .shape = "", .layout = "", .causal = causal, .extra = m->extra};
    memcpy(operator.dims, dims, sizeof(operator.dims));
    operator.dtype = operator.total = m->dtype;
    operator.tb = kind == IMPORT_GEMM; /* weights are stored n x k */
    if (operator.tb)
        operator.layout = "TN";
    if (times > 0)
        trace_add_call(m->trace, &operator, times, NAN);
}

#define DIMS(...) ((const double[OPERATOR_DIMS]){__VA_ARGS__})

static void gemm(const struct model *m, const char *name, double times, double n, double k)
{
    add(m, name, IMPORT_GEMM, times, DIMS(1, m->tokens, n, k), false);
}

static void attention(const struct model *m, bool decode)
{
    const double heads = m->heads, all = m->layers;
    if (m->kv_rank > 0) { /* latent attention: keys and values are projections of one vector for each token */
        const double wide = m->nope + m->rope;
        if (m->q_rank > 0)
            gemm(m, "q_a", all, m->q_rank, m->hidden);
        gemm(m, "q_b", all, heads * wide, m->q_rank > 0 ? m->q_rank : m->hidden);
        gemm(m, "kv_a", all, m->kv_rank + m->rope, m->hidden);
        if (decode) { /* the projections are absorbed: one head of keys as wide as the vector */
            add(m, "q_absorb", IMPORT_GEMM, all, DIMS(heads, m->tokens, m->kv_rank, m->nope), false);
            add(m, "attention", IMPORT_ATTENTION, all,
                DIMS(m->batch, heads, 1, 1, m->context, m->kv_rank + m->rope, m->kv_rank), false);
            add(m, "v_absorb", IMPORT_GEMM, all, DIMS(heads, m->tokens, m->value, m->kv_rank), false);
        } else {
            gemm(m, "kv_b", all, heads * (m->nope + m->value), m->kv_rank);
            add(m, "attention", IMPORT_ATTENTION, all,
                DIMS(m->batch, heads, heads, m->context, m->context, wide, m->value), true);
        }
        gemm(m, "o", all, m->hidden, heads * m->value);
        return;
    }
    gemm(m, "qkv", all, (heads + 2 * m->kv_heads) * m->head, m->hidden);
    add(m, "rope", IMPORT_ROPE, m->rotates ? all : 0, DIMS(m->tokens, heads + m->kv_heads, m->head), false);
    add(m, "attention", IMPORT_ATTENTION, all - m->windowed,
        DIMS(m->batch, heads, m->kv_heads, decode ? 1 : m->context, m->context, m->head, m->head), !decode);
    struct model windowed = *m; /* one query has as many keys as the window; of a prompt each has its own */
    windowed.extra = decode ? NULL : arena_printf(&m->trace->arena, " window=%.0f", m->window - 1);
    add(&windowed, "attention", IMPORT_ATTENTION, m->windowed,
        DIMS(m->batch, heads, m->kv_heads, decode ? 1 : m->context, decode ? m->window : m->context, m->head, m->head),
        !decode);
    gemm(m, "o", all, m->hidden, heads * m->head);
}

static void mlp(const struct model *m)
{
    const double sparse = m->experts > 0 ? m->layers - m->dense_layers : 0, inter = share(m->inter, m->tp);
    const double expert = share(m->expert_inter, m->tp), rows = m->tokens * m->chosen;
    gemm(m, m->gated ? "gate_up" : "up", m->dense_layers, m->gated ? 2 * inter : inter, m->hidden);
    add(m, m->gated ? "silu_and_mul" : "activation", IMPORT_ELEMENTWISE, m->dense_layers,
        m->gated ? DIMS(2 * m->tokens * inter, 1, m->tokens) : DIMS(m->tokens * inter, 1), false);
    gemm(m, "down", m->dense_layers, m->hidden, inter);
    gemm(m, "router", sparse, m->experts, m->hidden);
    add(m, "gate", IMPORT_MOE_GATE, sparse, DIMS(m->tokens, m->experts, m->chosen), false);
    add(m, "experts gate_up", IMPORT_MOE_GEMM, sparse, DIMS(rows, 2 * expert, m->hidden, m->experts), false);
    add(m, "experts silu_and_mul", IMPORT_ELEMENTWISE, sparse, DIMS(2 * rows * expert, 1, rows), false);
    add(m, "experts down", IMPORT_MOE_GEMM, sparse, DIMS(rows, m->hidden, expert, m->experts), false);
    if (m->shared_inter > 0) {
        gemm(m, "shared gate_up", sparse, 2 * share(m->shared_inter, m->tp), m->hidden);
        gemm(m, "shared down", sparse, m->hidden, share(m->shared_inter, m->tp));
    }
}

enum status read_config(struct trace *trace, struct source *source, struct err *err)
{
    SCOPED(arena_release) struct arena arena = {0};
    const cJSON *root = NULL;
    while (source_more(source))
        ;
    enum status status = json_parse(&root, source->path, source->data, source->length, &arena, err);
    const cJSON *inner = json_member(root, "text_config"); /* of models that also see */
    struct model m = {.trace = trace, .json = cJSON_IsObject(inner) ? inner : root};
    if (!status)
        read_model(&m, trace->options);
    if (!status && !(m.hidden > 0 && m.heads > 0 && m.head > 0))
        status = err_set(err, ERR_CONFIG, "%s: a model's configuration needs hidden_size and num_attention_heads",
                         source->path);
    if (!status) {
        const double norm[OPERATOR_DIMS] = {m.tokens, m.hidden};
        trace->call_source = IMPORT_CONFIG;
        trace->format = "model configuration";
        add(&m, m.rms ? "add_rmsnorm" : "layernorm", IMPORT_NORM, 2 * m.layers, norm, false);
        attention(&m, trace->options->decode);
        mlp(&m);
        if (m.vocabulary > 0)
            add(&m, "lm_head", IMPORT_GEMM, 1, DIMS(1, m.batch, share(m.vocabulary, m.tp), m.hidden), false);
    }
    const cJSON *method = json_member(json_member(m.json, "quantization_config"), "quant_method");
    if (!status && cJSON_IsString(method))
        trace_note(trace, "%s: its weights are quantised (%s), and are taken as %s here", source->path,
                   method->valuestring, m.dtype);
    return status;
}
