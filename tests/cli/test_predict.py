# SPDX-License-Identifier: MIT
"""`predict`: one machine, several, JSON, and what is wrong on the command line."""
import json

from harness import check, check_run, main, run

TRIAD = ["predict", "stream_triad", "--set", "n=1Mi,64Mi"]


def one_machine(home):
    done = run(*TRIAD, "--machine", "mi300x", home=home)
    check_run(done, 0, "one machine", stdout=["PREDICTED: nothing was executed", "80 % interval", "limited by", "memory"])
    [machine] = json.loads(run(*TRIAD, "--machine", "mi300x", "--json", "-", home=home).stdout)["machines"]
    small, large = machine["cases"]
    check(large["method"] == "walk" and large["limiter"] == "memory" and large["bound"] == "HBM", f"large: {large}")
    check(large["low_ns"] < large["time_ns"] < large["high_ns"] and large["time_ns"] > large["lower_bound_ns"], f"times: {large}")
    check(large["time_ns"] > 4 * small["time_ns"], f"{large['time_ns']} against {small['time_ns']}")
    check(0.05 < large["gain_of_a_tenth"]["memory"] < 0.1, f"gains: {large['gain_of_a_tenth']}")


def side_by_side(home):
    done = run(*TRIAD, "--machine", "mi300x,mi210", home=home)
    check_run(done, 0, "side by side", stdout=["mi300x", "mi210", "portability"])
    first, second = json.loads(run(*TRIAD, "--machine", "mi300x,mi210", "--json", "-", home=home).stdout)["machines"]
    check(second["cases"][1]["time_ns"] > 2 * first["cases"][1]["time_ns"], "the slower memory takes longer")
    check(any(what.startswith("LDS latency from") for what in second["borrowed"]), f"borrowed: {second['borrowed']}")


def no_code(home):
    done = run("predict", "stream_triad", "--machine", "h100", "--json", "-", home=home)
    check_run(done, 0, "no AMD code")
    [case] = json.loads(done.stdout)["machines"][0]["cases"]
    check(case["method"] != "walk" and any("by the stated work" in note for note in case["notes"]), f"said: {case}")


def mistakes(home):
    for words, message in ((TRIAD, "--machine names the machines"), ([*TRIAD, "--machine", "mi300y"], "there is no machine 'mi300y'"),
                           ([*TRIAD, "--machine", "mi210,mi210"], "twice"), (["predict", "nothing_such", "--machine", "mi210"], "nothing_such")):
        check_run(run(*words, home=home), 2, str(words), stderr=message)


main(one_machine, side_by_side, no_code, mistakes)
