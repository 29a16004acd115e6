# SPDX-License-Identifier: MIT
"""A model's config.json, as Hugging Face has them: what each layer works on when it reads a prompt or decodes, with the
number of layers as weight. Dense layers, mixtures of experts, and multi-head latent attention."""
import json
import math

from operators import Operator, dtype_of_trace
from source import Refused

ROTARY = ("rope_theta", "rope_scaling", "rope_parameters", "rotary_pct", "rotary_dim", "partial_rotary_factor")
ACTIVATIONS = ("hidden_act", "hidden_activation", "activation_function")


class Damaged(Exception):
    """JSON whose damage the program that shows the error finds with its place."""

    def __init__(self, path, text):
        super().__init__(path)
        self.path, self.text = path, text


def is_config(head):
    """JSON that is a model's configuration?"""
    return any(word in head for word in (b'"hidden_size"', b'"n_embd"', b'"d_model"')) and \
        b'"traceEvents"' not in head and b'"schemaVersion"' not in head


def share(whole, parts):
    """Of each device."""
    return max(1.0, math.ceil(whole / parts))


def strictly(pairs):
    """An object whose keys are all different."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError
    return dict(pairs)


def finite(digits):
    """NaN and infinities are no JSON."""
    if not math.isfinite(float(digits)):
        raise ValueError
    return float(digits)


class Model:
    """Sizes; 0 experts: none. windowed: layers that see no more than `window` keys. kv_rank 0: ordinary attention."""

    def __init__(self, trace, json_object, options):
        self.trace, self.json = trace, json_object
        named = self.json.get("torch_dtype")
        named = named if isinstance(named, str) else self.json.get("dtype")
        self.dtype = (dtype_of_trace(named) if isinstance(named, str) else None) or "bf16"
        self.read_kind()
        self.hidden = self.number("hidden_size n_embd d_model", 0)
        self.heads = self.number("num_attention_heads n_head num_heads", 0)
        self.kv_heads = self.number("num_key_value_heads num_kv_heads", self.heads)
        self.head = self.number("head_dim", self.hidden / self.heads if self.heads > 0 else 0)
        self.inter = self.number("intermediate_size n_inner ffn_dim d_ff", 4 * self.hidden)
        self.layers = self.number("num_hidden_layers n_layer num_layers", 1)
        self.vocabulary = self.number("vocab_size", 0)
        self.experts = self.number("num_local_experts n_routed_experts num_experts moe_num_experts", 0)
        self.chosen = self.number("num_experts_per_tok num_experts_per_token moe_topk experts_per_token", 1)
        self.expert_inter = self.number("moe_intermediate_size", self.inter)
        self.shared_inter = self.number("shared_expert_intermediate_size",
                                        self.number("n_shared_experts", 0) * self.expert_inter)
        self.dense_layers = self.number("first_k_dense_replace", 0) if self.experts > 0 else self.layers
        self.kv_rank, self.q_rank = self.number("kv_lora_rank", 0), self.number("q_lora_rank", 0)
        self.rope, self.nope = self.number("qk_rope_head_dim", 0), self.number("qk_nope_head_dim", 0)
        self.value = self.number("v_head_dim", self.head)
        self.decode = options.decode
        self.batch, self.tp, self.context = options.batch or 1, options.tp or 1, options.tokens or 4096
        self.tokens = self.batch if self.decode else self.batch * self.context
        self.window = self.number("sliding_window", 0)
        types = self.json.get("layer_types")
        self.windowed = sum(layer == "sliding_attention" for layer in types) \
            if isinstance(types, list) and 0 < self.window < self.context else 0
        self.heads, self.kv_heads = share(self.heads, self.tp), share(self.kv_heads, self.tp)

    def number(self, names, otherwise):
        """The first of these members, between blanks, that is a number."""
        for name in names.split():
            found = self.json.get(name)
            if isinstance(found, (int, float)) and not isinstance(found, bool) and 0 < found < 1e9:
                return float(found)
        return otherwise

    def read_kind(self):
        """What no member says outright: models with RMS norm have rotary positions and gated experts and MLPs; older
        ones, of GPT-2's kind, only where something else says so."""
        self.is_rms = self.json.get("rms_norm_eps") is not None
        self.rotates = self.is_rms or any(self.json.get(name) is not None for name in ROTARY)
        self.gated = self.is_rms or any(isinstance(self.json.get(name), str) and
                                        ("silu" in self.json[name] or "glu" in self.json[name]) for name in ACTIVATIONS)

    # ---- operators ----

    def add(self, name, kind, times, *dims, causal=False, extra=""):
        """So many times; weights of products are stored n x k."""
        if not times > 0:
            return
        operator = Operator(name, kind, dtype=self.dtype, total=self.dtype, causal=causal, extra=extra)
        operator.set_dims(*dims)
        operator.tb = kind == "gemm"
        operator.layout = "TN" if operator.tb else ""
        self.trace.add_call(operator, times, math.nan)

    def gemm(self, name, times, n, k):
        """A product with weights."""
        self.add(name, "gemm", times, 1, self.tokens, n, k)

    def latent_attention(self):
        """Keys and values are projections of one vector for each token. When it decodes, the projections are absorbed:
        one head of keys as wide as the vector."""
        heads, every, wide = self.heads, self.layers, self.nope + self.rope
        if self.q_rank > 0:
            self.gemm("q_a", every, self.q_rank, self.hidden)
        self.gemm("q_b", every, heads * wide, self.q_rank if self.q_rank > 0 else self.hidden)
        self.gemm("kv_a", every, self.kv_rank + self.rope, self.hidden)
        if self.decode:
            self.add("q_absorb", "gemm", every, heads, self.tokens, self.kv_rank, self.nope)
            self.add("attention", "attention", every, self.batch, heads, 1, 1, self.context, self.kv_rank + self.rope,
                     self.kv_rank)
            self.add("v_absorb", "gemm", every, heads, self.tokens, self.value, self.kv_rank)
        else:
            self.gemm("kv_b", every, heads * (self.nope + self.value), self.kv_rank)
            self.add("attention", "attention", every, self.batch, heads, heads, self.context, self.context, wide,
                     self.value, causal=True)
        self.gemm("o", every, self.hidden, heads * self.value)

    def attention(self):
        """One query has as many keys as the window; of a prompt each has its own."""
        heads, every, queries = self.heads, self.layers, 1 if self.decode else self.context
        self.gemm("qkv", every, (heads + 2 * self.kv_heads) * self.head, self.hidden)
        self.add("rope", "rope", every if self.rotates else 0, self.tokens, heads + self.kv_heads, self.head)
        self.add("attention", "attention", every - self.windowed, self.batch, heads, self.kv_heads, queries,
                 self.context, self.head, self.head, causal=not self.decode)
        self.add("attention", "attention", self.windowed, self.batch, heads, self.kv_heads, queries,
                 self.window if self.decode else self.context, self.head, self.head, causal=not self.decode,
                 extra="" if self.decode else f" window={self.window - 1:.0f}")
        self.gemm("o", every, self.hidden, heads * self.head)

    def mlp(self):
        """Dense layers, and mixtures of experts."""
        sparse = self.layers - self.dense_layers if self.experts > 0 else 0
        inter, expert = share(self.inter, self.tp), share(self.expert_inter, self.tp)
        rows, dense, tokens, hidden = self.tokens * self.chosen, self.dense_layers, self.tokens, self.hidden
        if self.gated:
            self.gemm("gate_up", dense, 2 * inter, hidden)
            self.add("silu_and_mul", "elementwise", dense, 2 * tokens * inter, 1, tokens)
        else:
            self.gemm("up", dense, inter, hidden)
            self.add("activation", "elementwise", dense, tokens * inter, 1)
        self.gemm("down", dense, hidden, inter)
        self.gemm("router", sparse, self.experts, hidden)
        self.add("gate", "moe_gate", sparse, tokens, self.experts, self.chosen)
        self.add("experts gate_up", "moe_gemm", sparse, rows, 2 * expert, hidden, self.experts)
        self.add("experts silu_and_mul", "elementwise", sparse, 2 * rows * expert, 1, rows)
        self.add("experts down", "moe_gemm", sparse, rows, hidden, expert, self.experts)
        if self.shared_inter > 0:
            self.gemm("shared gate_up", sparse, 2 * share(self.shared_inter, self.tp), hidden)
            self.gemm("shared down", sparse, hidden, share(self.shared_inter, self.tp))


def read_config(trace, source):
    """The operators of a whole model."""
    text = (source.read_all() or b"").decode("utf-8", "surrogateescape")
    try:
        root = json.loads(text, object_pairs_hook=strictly, parse_constant=finite, parse_float=finite)
        text.encode()
    except (ValueError, RecursionError):
        raise Damaged(source.path, text) from None
    root = root if isinstance(root, dict) else {}
    inner = root.get("text_config")  # of models that also see
    model = Model(trace, inner if isinstance(inner, dict) else root, trace.options)
    if not (model.hidden > 0 and model.head > 0):
        raise Refused(f"{source.path}: a model's configuration needs hidden_size and num_attention_heads")
    trace.call_source, trace.format = "config", "model configuration"
    model.add("add_rmsnorm" if model.is_rms else "layernorm", "norm", 2 * model.layers, model.tokens, model.hidden)
    if model.kv_rank > 0:
        model.latent_attention()
    else:
        model.attention()
    model.mlp()
    if model.vocabulary > 0:
        model.add("lm_head", "gemm", 1, 1, model.batch, share(model.vocabulary, model.tp), model.hidden)
    quantization = model.json.get("quantization_config")
    method = quantization.get("quant_method") if isinstance(quantization, dict) else None
    if isinstance(method, str):
        trace.note(f"{source.path}: its weights are quantised ({method}), and are taken as {model.dtype} here")
