# SPDX-License-Identifier: MIT
"""A layer of a transformer: every kernel of it is verified, and has its share."""
from harness import check, check_run, load, main, run

SHORT = ["--min-time", "1us", "--max-time", "1ms", "-q"]


def layers(home):
    done = run("run", "llm_layer", *SHORT, "--filter", "small.prefill*", "--out", home / "layer.json", home=home)
    check_run(done, 0, "a small layer")
    result = load(home / "layer.json")
    check(all(case["verification"]["status"] == "pass" for case in result["cases"]), "not every kernel of the layer is verified")
    value = result["derived"][0]["value"]
    check(len(value.get("parts", [])) == 9 and abs(sum(part["share"] for part in value["parts"]) - 1) < 1e-9, f"{value}")
    check("attention  attention_prefill" in done.stdout, done.stdout)


if __name__ == "__main__":
    main(layers)
