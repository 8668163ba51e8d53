"""A benchmark that its candidate cannot talk to: the candidate runs in a child process, and is timed from outside.

Save it as bench/run.py, adapt the marked parts, and keep `immutable: ["bench/**"]` in the spec.
"""
import os
import random
import statistics
import subprocess
import sys
import time

# 1. What is measured. It reads its input on standard input and writes its answer to standard output. If your code is a
#    library, write a short program that does this with it (bench/child.py) and start that one.
COMMAND = [sys.executable, "src/main.py"]

# 2. An input for each run, drawn from ASSAY_SEED: equal for both sides of a pair, never the same again. So a candidate
#    gains nothing by remembering answers.
def input_for(draw: random.Random) -> str:
    return "\n".join(str(draw.randrange(10**9)) for _ in range(20_000))


# 3. Whether the answer is right, by code that is not the candidate's.
def is_right(given: str, output: str) -> bool:
    return output.split() == [str(number) for number in sorted(map(int, given.split()))]


RUNS = 5


def main() -> None:
    # The names and places of Assay's own answer are not told to the candidate, and what it prints is only looked at here.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ASSAY_")}
    draw = random.Random(int(os.environ.get("ASSAY_SEED", "1")))
    times = []
    for run in range(RUNS + 1):
        given = input_for(draw)
        started = time.perf_counter()
        child = subprocess.run(COMMAND, input=given, capture_output=True, text=True, env=environment)
        ms = (time.perf_counter() - started) * 1000
        if child.returncode != 0:
            sys.exit(f"the candidate failed (exit {child.returncode})\n{child.stderr}")
        if not is_right(given, child.stdout):
            sys.exit("the answer is wrong")
        # The first run fills caches of the machine.
        if run > 0:
            times.append(ms)
    # The median: one slow run in five does not move it.
    print(f"METRIC ms={statistics.median(times):.3f}")


main()
