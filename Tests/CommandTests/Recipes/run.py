"""Does what a recipe of Packaging/CI has a CI server do: its own commands, with what that sets in their environment.

Usage: run.py RECIPE, in a folder with captures/ in it, and with reprise in the PATH.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

from ruamel.yaml import YAML

PARTS = 4


def run(script, status=(0,), **environment):
    done = subprocess.run(["bash", "-eu", "-o", "pipefail", "-c", script], env=os.environ | environment)
    if done.returncode not in status:
        sys.exit(f"status {done.returncode}: {script}")


def verdict(script, **environment):
    """The last command's status is that of the whole; one that found something has told what."""
    run(script, (0, 1), **environment)


def github(path):
    jobs = YAML(typ="safe").load(path)["jobs"]

    def commands(job):
        return [step["run"] for step in jobs[job]["steps"] if "reprise conform" in step.get("run", "") or "report merge" in step.get("run", "")]

    parts = jobs["part"]["strategy"]["matrix"]["part"]
    for part in parts:
        known = {"matrix.part": part, "strategy.job-total": len(parts)}
        for command in commands("part"):
            run(re.sub(r"\$\{\{ ([\w.-]+) \}\}", lambda match: str(known[match[1]]), command))
    for command in commands("verdict"):
        verdict(command)


def gitlab(path):
    jobs = YAML(typ="safe").load(path)
    for index in range(jobs["part"]["parallel"]):
        for command in jobs["part"]["script"]:
            run(command, CI_NODE_INDEX=str(index + 1), CI_NODE_TOTAL=str(jobs["part"]["parallel"]))
    for command in jobs["verdict"]["script"]:
        verdict(command)


def kubernetes(path):
    spec = YAML(typ="safe").load(path)["spec"]
    command = spec["template"]["spec"]["containers"][0]["command"]
    for index in range(spec["completions"]):
        subprocess.run(command, check=True, env=os.environ | {"JOB_COMPLETION_INDEX": str(index)})
    verdict(re.search(r"#   (reprise .*)", path.read_text())[1])


def slurm(path):
    for index in range(PARTS):
        subprocess.run([path], check=True, env=os.environ | {"SLURM_ARRAY_TASK_ID": str(index + 1), "SLURM_ARRAY_TASK_COUNT": str(PARTS)})
    verdict(re.search(r"--wrap '(.*)'", path.read_text())[1])


def bazel(path):
    count = int(re.search(r"shard_count = (\d+)", path.with_name("BUILD.bazel").read_text())[1])
    for index in range(count):
        verdict(
            f"'{path}'", TEST_SHARD_STATUS_FILE=f"knows-{index}", TEST_SHARD_INDEX=str(index),
            TEST_TOTAL_SHARDS=str(count), XML_OUTPUT_FILE=f"shard-{index}.xml")
        assert Path(f"knows-{index}").exists()


def parallel(path):
    verdict(f"'{path}'")


recipe = Path(sys.argv[1]).resolve()
{"github.yml": github, "gitlab.yml": gitlab, "kubernetes.yaml": kubernetes, "slurm.sh": slurm, "bazel.sh": bazel,
 "parallel.sh": parallel}[recipe.name](recipe)
