/** What `assay init --template` prints: a spec that reads without problems, to be filled in. */
export const TEMPLATE = `# What to optimise, how it is measured, and what must hold.
# Every key with its default: assay guide spec
version: 1
name: my-optimization             # kebab-case
goal: Say in a sentence or two what should get better, and what must stay as it is.

scope:                            # globs, relative to the folder of this file
  mutable: ["src/**"]             # what a candidate may change
  immutable: ["bench/**", "test/**"]   # what it may not, whatever mutable says
  # limits: { files: 5, lines: 300 }

# worktree:
#   setup: { command: npm ci, inputs: [package-lock.json], timeout: 10m }
#   build: { command: npm run build, timeout: 5m }

measure:
  command: node bench/run.mjs     # prints a line such as: METRIC ms=12.3
  timeout: 2m

metric:
  name: ms                        # as the benchmark prints it
  direction: minimize             # or maximize
  # target: 10                    # stop there
  min_improvement: 1%             # a smaller gain is not kept

gates:                            # must exit 0, or the candidate is rejected
  - { name: tests, command: npm test, timeout: 5m }

# constraints:                    # must hold for a metric, or the candidate is rejected
#   - { metric: peak_mb, op: "<=", value: 500 }

budget:
  experiments: 100
  hours: 8

# agent:                          # who proposes when \`assay loop\` drives; not needed inside a coding agent
#   host: command
#   command: [my-agent, --print]

# loop:
#   meta: { every: 5m }           # looks whether the search itself needs a change; { on: false } turns it off
`
