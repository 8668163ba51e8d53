/** The views beside the first one: tree, rounds, cost, record, comparison, and all runs of the repository. */

import type { ComponentChildren } from 'preact'
import type { PageCall, PageHead, PageRound, PageRunLine, PageText } from '../cli/view/page-model.ts'
import { Backlog } from './backlog.tsx'
import { connection, head, headOfRun, nodeOf, now, rows, rowsVersion, runs } from './data.ts'
import { Graph } from './graph.tsx'
import { Judging } from './judging.tsx'
import { Status } from './marks.tsx'
import {
  CopyButton,
  CopyLine,
  Empty,
  Facts,
  Gain,
  Linked,
  NodeLink,
  Scroll,
  Section,
  Time,
  useLoaded,
} from './parts.tsx'
import { compared, go, linkTo, param, toRun } from './route.ts'
import { Tree, TreeFilters } from './tree.tsx'
import { capWord, counted, diskText, figure, leftText, percent, timeSpan, usedOfCap } from './words.ts'

export function TreeView() {
  return (
    <>
      <Section title="Experiments">
        <TreeFilters />
        <Tree />
      </Section>
      <Section title="Drawing of the tree">
        <Graph />
      </Section>
    </>
  )
}

// ---------------------------------------------------------------- rounds

export function Rounds() {
  const data = head.value
  if (!data) return null
  return (
    <>
      <Section title="Stop rules">
        <Facts
          facts={[
            [
              'now',
              data.stop
                ? `stopped: ${data.stop}${data.stop_cause ? `, ${data.stop_cause}` : ''}`
                : 'no stop rule holds',
            ],
            [
              'rounds without a new best',
              `${data.stall.now}${data.stall.limit === null ? '' : ` of ${data.stall.limit}`}`,
            ],
            ...Object.entries(data.budget).map(
              ([cap, { used, limit, at_least }]) =>
                [capWord(cap), usedOfCap(cap, { used, limit, at_least: at_least === true })] as const,
            ),
            data.buys
              ? ['forecast', `${leftText(data.buys)}, by the cap on ${capWord(data.buys.cap)}`]
              : null,
            data.metric.target === null ? null : ['target', figure(data.metric.target)],
          ]}
        />
      </Section>
      {data.pins ? (
        <Section title="Pinned as parents">
          <ul class="plain">
            {data.pins.map(({ experiment, why, parent }) => (
              <li key={experiment}>
                <NodeLink id={experiment} />{' '}
                {parent ? null : <span class="soft">(no parent now: in doubt, or of an earlier epoch)</span>}{' '}
                <Linked text={why} />
              </li>
            ))}
          </ul>
        </Section>
      ) : null}
      <Section title={counted(data.rounds.length, 'round')}>
        {data.rounds.length === 0 ? (
          <Empty>No round was opened: these experiments were made by hand.</Empty>
        ) : null}
        {[...data.rounds].reverse().map((round) => (
          <Round key={round.round} round={round} open={round === data.rounds.at(-1)} />
        ))}
      </Section>
      {data.edits.length > 0 ? (
        <Section title="Edits of the meta controller">
          <ul>
            {data.edits.map(({ id, what, why, from, undone }) => (
              <li key={id} class={undone ? 'struck' : ''}>
                <b>{what}</b>{' '}
                <span class="soft">{from === null ? 'from the next round' : `from round ${from}`}</span>{' '}
                <Linked text={why} />
                {undone ? ' (taken back)' : ''}
              </li>
            ))}
          </ul>
        </Section>
      ) : null}
    </>
  )
}

function Round({ round, open }: { round: PageRound; open: boolean }) {
  const outcome =
    round.closed === null
      ? 'open'
      : round.improved
        ? 'new best'
        : (round.stall ?? 0) > 1
          ? `no new best, ${round.stall} in a row`
          : 'no new best'
  return (
    <details open={open} class="round">
      <summary>
        <b>round {round.round}</b> <span class="soft">{outcome}</span>{' '}
        {round.improved && round.best ? round.best : null}{' '}
        <span class="soft small">
          <Time at={round.opened} />
          {round.closed === null ? '' : `, ${timeSpan(Date.parse(round.closed) - Date.parse(round.opened))}`}
        </span>
      </summary>
      <p class="small soft">Parents, picked by the policy {round.policy}:</p>
      <ul class="small">
        {round.parents.map(({ experiment, why }) => (
          <li key={experiment}>
            <NodeLink id={experiment} />: {why}
          </li>
        ))}
      </ul>
      {round.direction ? <p class="small">After a plateau: {round.direction}</p> : null}
      {round.ideate ? <p class="small">Ideas were asked for: {round.ideate}</p> : null}
      {round.lanes.length > 0 ? (
        <ol class="briefs">
          {round.lanes.map(({ lane, experiment, parent, kind, objective, arm }) => (
            <li key={lane} value={lane}>
              <NodeLink id={experiment} /> <span class="soft">on {parent}</span>{' '}
              <span class="small soft">
                {kind}
                {arm ? ', starts from the baseline, for comparison' : ''}
              </span>
              <br />
              <Linked text={objective} />
            </li>
          ))}
        </ol>
      ) : null}
      {round.refused.length > 0 ? <p class="small soft">refused: {round.refused.join('; ')}</p> : null}
      {round.learnings.length > 0 ? (
        <ul>
          {round.learnings.map((text) => (
            <li key={text}>
              <Linked text={text} />
            </li>
          ))}
        </ul>
      ) : null}
    </details>
  )
}

// ---------------------------------------------------------------- cost

/** Never 0 for what is not known. */
export function costWords({ calls, usd, tokens_in, tokens_out, at_least }: PageHead['spend']): string {
  if (calls === 0) return 'no agent was called'
  const tokens = tokens_in + tokens_out
  const known =
    usd > 0
      ? `$${figure(Number(usd.toPrecision(4)))}`
      : tokens > 0
        ? `${tokens.toLocaleString('en')} tokens`
        : null
  if (known === null) return 'unknown: no call reported its cost'
  return at_least ? `at least ${known}: some calls reported no cost` : known
}

export function CostView() {
  const data = head.value
  if (!data) return null
  const { costs, spend } = data
  rowsVersion.value
  const kept = Math.max(0, data.counts.kept + data.counts.pruned - 1)
  const each =
    kept > 0 && spend.usd > 0
      ? `${spend.at_least ? 'at least ' : ''}$${figure(Number((spend.usd / kept).toPrecision(3)))}`
      : null
  return (
    <>
      <Section title="Cost">
        <Facts
          facts={[
            ['agents', costWords(spend)],
            spend.calls === 0 ? null : ['calls', `${spend.calls}, ${timeSpan(costs.agents_ms)} together`],
            ['measuring', `${timeSpan(costs.measuring_ms)}, in ${counted(rows.size, 'experiment')}`],
            [
              'the run',
              `${timeSpan(data.duration.ms)} from first to last event, ${timeSpan(data.duration.active_ms)} of work`,
            ],
            spend.calls === 0
              ? null
              : ['per kept win', each ?? (kept === 0 ? 'nothing was kept yet' : 'unknown')],
            data.buys
              ? ['forecast', `${leftText(data.buys)}, by the cap on ${capWord(data.buys.cap)}`]
              : null,
            costs.dearest
              ? [
                  costs.dearest.usd === null && costs.dearest.tokens === null
                    ? 'longest call'
                    : 'most expensive call',
                  <span key="d">
                    {costs.dearest.role}{' '}
                    {costs.dearest.experiment ? <NodeLink id={costs.dearest.experiment} /> : null}{' '}
                    {costs.dearest.usd === null ? '' : `$${figure(costs.dearest.usd)}, `}
                    {costs.dearest.tokens === null
                      ? ''
                      : `${costs.dearest.tokens.toLocaleString('en')} tokens, `}
                    {timeSpan(costs.dearest.ms)}
                  </span>,
                ]
              : null,
          ]}
        />
      </Section>
      <Section title="By role and host">
        {costs.calls.length === 0 ? <Empty>No agent was called.</Empty> : <Calls calls={costs.calls} />}
      </Section>
      <Judging data={data} />
      <Section title="Environment of the run">
        <Facts
          facts={[
            ['baseline judged on', data.environment.host ?? 'unknown'],
            ...Object.entries(data.environment.machine ?? {}),
            ...data.environment.other_machines.map(
              (text, i) => [i === 0 ? 'later also' : `later also, ${i + 1}`, text] as const,
            ),
            [
              'isolation',
              `${data.environment.isolation}${data.environment.without.length === 0 ? '' : `, without ${data.environment.without.join(', ')}`}`,
            ],
            [
              'comparison',
              data.noise === 'paired'
                ? 'in pairs, since the metric varies'
                : 'by one sample: equal code gave equal values',
            ],
            now.value?.disk == null ? null : ['room on disk', diskText(now.value.disk)],
            ['seed of the search', String(data.environment.seed)],
            ['base', data.environment.base.slice(0, 12)],
            ...data.epochs.map(
              ({ epoch, at, why }) =>
                [
                  `epoch ${epoch}`,
                  <span key={epoch}>
                    <Time at={at} /> {why}
                  </span>,
                ] as const,
            ),
          ]}
        />
        {now.value?.disk == null ? null : (
          <>
            <p class="small soft">To delete worktrees of settled experiments, trash and old logs:</p>
            <CopyLine line="assay gc" />
          </>
        )}
        <p class="small soft">
          Each experiment shows the conditions of its samples. The view Compare marks where those of two
          experiments differ.
        </p>
      </Section>
    </>
  )
}

function Calls({ calls }: { calls: readonly PageCall[] }) {
  return (
    <Scroll label="Calls by role and host">
      <table>
        <thead>
          <tr>
            <th scope="col">role</th>
            <th scope="col">host</th>
            <th scope="col" class="figure">
              calls
            </th>
            <th scope="col" class="figure">
              failed
            </th>
            <th scope="col" class="figure">
              time
            </th>
            <th scope="col" class="figure">
              tokens
            </th>
            <th scope="col" class="figure">
              dollars
            </th>
          </tr>
        </thead>
        <tbody>
          {calls.map(({ role, host, calls: count, failed, ms, tokens, usd, unknown }) => {
            const told = (value: string, isZero: boolean) =>
              unknown === count
                ? 'unknown'
                : `${unknown > 0 ? 'at least ' : ''}${isZero && unknown > 0 ? 'unknown' : value}`
            return (
              <tr key={`${role} ${host}`}>
                <td>{role}</td>
                <td>{host}</td>
                <td class="figure">{count}</td>
                <td class="figure">{failed}</td>
                <td class="figure">{timeSpan(ms)}</td>
                <td class="figure">{told(tokens.toLocaleString('en'), tokens === 0)}</td>
                <td class="figure">
                  {usd === 0 ? 'unknown' : told(`$${figure(Number(usd.toPrecision(4)))}`, false)}
                </td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </Scroll>
  )
}

// ---------------------------------------------------------------- what was said, and searching all of it

const KINDS: Record<PageText['kind'], string> = {
  alert: 'Alerts',
  learning: 'Learnings',
  infrastructure: 'Infrastructure',
  note: 'Notes',
  steering: 'Said to agents',
  remark: 'Remarks',
  objection: 'Objections',
}
const FOUND = 100

export function RecordView() {
  const data = head.value
  if (!data) return null
  rowsVersion.value
  const wanted = param('words') ?? ''
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean)
  const fits = (text: string) => words.every((word) => text.toLowerCase().includes(word))
  const texts = data.texts.filter(({ text, kind }) => fits(`${kind} ${text}`))
  const found =
    words.length === 0
      ? []
      : [...rows.values()].filter(({ experiment, hypothesis }) => fits(`${experiment} ${hypothesis}`))
  return (
    <>
      <Section title="Search">
        <input
          type="search"
          aria-label="Search all words of the run"
          placeholder="Search hypotheses, learnings, notes, alerts"
          value={wanted}
          onInput={({ currentTarget }) => go({ words: currentTarget.value }, { replace: true })}
        />
        {words.length > 0 ? (
          <p class="small" role="status">
            {counted(found.length, 'hypothesis', 'hypotheses')}, {counted(texts.length, 'other text')}
          </p>
        ) : null}
        <ul class="plain">
          {found.slice(0, FOUND).map((row) => (
            <li key={row.experiment}>
              <NodeLink id={row.experiment} /> {row.hypothesis}
            </li>
          ))}
        </ul>
        {found.length > FOUND ? (
          <p class="small soft">and {found.length - FOUND} more: use the search of the tree</p>
        ) : null}
      </Section>
      {(Object.keys(KINDS) as PageText['kind'][]).map((kind) => {
        const own = texts.filter((text) => text.kind === kind)
        if (own.length === 0) return null
        return (
          <Section key={kind} title={`${KINDS[kind]} (${own.length})`}>
            <ul class="plain">
              {own
                .slice(-FOUND)
                .reverse()
                .map(({ at, experiment, text }, i) => (
                  <li key={`${i} ${text}`}>
                    {at ? (
                      <span class="small soft">
                        <Time at={at} />{' '}
                      </span>
                    ) : null}
                    {experiment ? <NodeLink id={experiment} /> : null} <Linked text={text} />
                  </li>
                ))}
            </ul>
          </Section>
        )
      })}
      {data.texts.length === 0 ? (
        <Section title="Learnings and notes">
          <Empty>No learning, note or alert is recorded yet.</Empty>
        </Section>
      ) : null}
      <Continued data={data} />
      {data.backlog ? <Backlog backlog={data.backlog} /> : null}
    </>
  )
}

function Continued({ data }: { data: PageHead }) {
  const { repairable, retests } = data.left
  if (repairable.length + retests.length === 0) return null
  const links = (ids: readonly string[]) =>
    ids.slice(0, 20).map((id) => (
      <span key={id}>
        <NodeLink id={id} />{' '}
      </span>
    ))
  return (
    <Section title="What could be continued">
      <Facts
        facts={[
          repairable.length === 0 ? null : ['could be repaired', links(repairable)],
          retests.length === 0 ? null : ['not evaluated', links(retests)],
        ]}
      />
    </Section>
  )
}

// ---------------------------------------------------------------- side by side

export function CompareView() {
  const ids = compared.value
  const { value, failed } = useLoaded(
    () => Promise.all(ids.map((id) => nodeOf(id).catch(() => null))),
    [ids.join(), rowsVersion.value],
  )
  if (ids.length < 2) {
    return (
      <Section title="Compare experiments">
        <Empty>
          {ids.length === 0 ? 'No experiment is chosen.' : `Only ${ids[0]} is chosen.`} Open an experiment and
          press “compare”; two to four can stand side by side.
        </Empty>
        {head.value?.best && head.value.best.experiment !== 'exp_0000' ? (
          <p>
            <a href={linkTo({ with: `exp_0000,${head.value.best.experiment}` })}>
              Compare the best with the baseline
            </a>
          </p>
        ) : null}
      </Section>
    )
  }
  const nodes = value ?? []
  const at = (i: number) => nodes[i] ?? null
  const environment = [...new Set(nodes.flatMap((node) => Object.keys(node?.environment ?? {})))]
  const metrics = [...new Set(nodes.flatMap((node) => Object.keys(node?.metrics ?? {})))].filter(
    (name) => name !== head.value?.metric.name,
  )
  const line = (name: string, cell: (id: string, i: number) => ComponentChildren, differs = false) => (
    <tr key={name} class={differs ? 'differs' : ''}>
      <th scope="row">{name}</th>
      {ids.map((id, i) => (
        <td key={id}>{cell(id, i)}</td>
      ))}
    </tr>
  )
  return (
    <Section title="Side by side">
      {failed ? <p class="notice">{failed}</p> : null}
      <Scroll label="Comparison">
        <table class="compare" style={wideEnough(ids)}>
          <thead>
            <tr>
              <th scope="col">
                <span class="unseen">what</span>
              </th>
              {ids.map((id) => (
                <th key={id} scope="col">
                  <NodeLink id={id} />{' '}
                  <button
                    type="button"
                    class="quiet"
                    aria-label={`take ${id} out`}
                    onClick={() => go({ with: ids.filter((one) => one !== id).join(',') })}
                  >
                    ×
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {line('hypothesis', (id) =>
              rows.get(id)?.parent === null ? 'the baseline' : rows.get(id)?.hypothesis,
            )}
            {line('verdict', (id) => {
              const row = rows.get(id)
              return row ? <Status row={row} /> : 'unknown'
            })}
            {line('value', (id) => (
              <span class="figure">{figure(rows.get(id)?.value ?? null)}</span>
            ))}
            {line('over its parent', (id) => (
              <Gain value={rows.get(id)?.improvement ?? null} />
            ))}
            {line('parent', (id) => {
              const row = rows.get(id)
              const parents = row?.parents ?? (row?.parent ? [row.parent] : [])
              return parents.length === 0
                ? '–'
                : parents.map((parent) => (
                    <span key={parent}>
                      <NodeLink id={parent} />{' '}
                    </span>
                  ))
            })}
            {line('change', (_, i) => {
              const one = at(i)?.attempts.at(-1)
              return one ? `${counted(one.files, 'file')} +${one.added} −${one.removed}` : '–'
            })}
            {metrics.map((name) =>
              line(name, (_, i) => {
                const found = at(i)?.metrics[name]
                return (
                  <span class="figure">
                    {typeof found === 'number' ? figure(found) : String(found ?? '–')}
                  </span>
                )
              }),
            )}
            <tr class="divider">
              <th scope="rowgroup" colSpan={ids.length + 1}>
                conditions; ≠ marks what differs, of a range: what does not overlap
              </th>
            </tr>
            {environment
              .filter((name) => !TAKEN.has(name))
              .map((name) =>
                line(
                  name,
                  (_, i) => at(i)?.environment?.[name] ?? '–',
                  differ(nodes.flatMap((node) => node?.environment?.[name] ?? [])),
                ),
              )}
            <tr class="divider">
              <th scope="rowgroup" colSpan={ids.length + 1}>
                the samples of each
              </th>
            </tr>
            {environment
              .filter((name) => TAKEN.has(name))
              .map((name) => line(name, (_, i) => at(i)?.environment?.[name] ?? '–'))}
          </tbody>
        </table>
      </Scroll>
      <Lines ids={ids} />
    </Section>
  )
}

/** What the samples of a candidate were: no two have that alike, so it says nothing of the conditions. */
const TAKEN: ReadonlySet<string> = new Set([
  'measured from',
  'measured until',
  'samples',
  'wall time',
  'CPU time',
  'peak memory, MB',
])

/** Whether two of what is known differ; `0.5 to 0.9` and `0.8` do not. */
function differ(values: readonly string[]): boolean {
  const ranges = values.map((value) => /^(-?[\d.]+)(?: to (-?[\d.]+))?$/.exec(value))
  if (ranges.some((range) => range === null)) return new Set(values).size > 1
  const lows = ranges.map((range) => Number(range?.[1]))
  const highs = ranges.map((range) => Number(range?.[2] ?? range?.[1]))
  return Math.max(...lows) > Math.min(...highs)
}

/** In a narrow window the table scrolls: its columns must not run into each other. */
const wideEnough = (columns: readonly string[]) => ({ minWidth: `${120 + 150 * columns.length}px` })

function Lines({ ids }: { ids: readonly string[] }) {
  const [first, second] = ids
  if (first === undefined || second === undefined) return null
  return (
    <p class="small">
      <a href={linkTo({ node: second, against: first, view: 'tree' })}>
        What {second} changes against {first}
      </a>
    </p>
  )
}

// ---------------------------------------------------------------- runs

export function RunsView() {
  const list = runs.value
  const shown = head.value?.run
  const picked = (param('runs') ?? '').split(',').filter((name) => list.some(({ run }) => run === name))
  return (
    <>
      <Section title={counted(list.length, 'run')}>
        {connection.value === 'file' ? (
          <p class="small soft">A file holds one run; assay serve shows every run of the repository.</p>
        ) : null}
        <Scroll label="Runs">
          <table class="runs">
            <thead>
              <tr>
                {list.length > 1 ? (
                  <th scope="col">
                    <span class="unseen">compare</span>
                  </th>
                ) : null}
                <th scope="col">run</th>
                <th scope="col">goal</th>
                <th scope="col">metric</th>
                <th scope="col" class="figure">
                  baseline
                </th>
                <th scope="col" class="figure">
                  best
                </th>
                <th scope="col" class="figure">
                  gain
                </th>
                <th scope="col" class="figure">
                  kept
                </th>
                <th scope="col">state</th>
                <th scope="col">last event</th>
              </tr>
            </thead>
            <tbody>
              {list.map(
                ({ run, name, goal, metric, baseline, best, gain, experiments, kept, state, stop, last }) => (
                  <tr key={run} {...(run === shown ? { 'aria-current': 'true' } : {})}>
                    {list.length > 1 ? (
                      <td>
                        <input
                          type="checkbox"
                          aria-label={`compare ${run}`}
                          checked={picked.includes(run)}
                          disabled={picked.length >= MOST_RUNS && !picked.includes(run)}
                          onChange={() =>
                            go(
                              {
                                runs: (picked.includes(run)
                                  ? picked.filter((one) => one !== run)
                                  : [...picked, run]
                                ).join(','),
                              },
                              { replace: true },
                            )
                          }
                        />
                      </td>
                    ) : null}
                    <td>
                      <a href={linkTo({ ...toRun(run), view: null })}>{run}</a>{' '}
                      <span class="soft">{name}</span>
                    </td>
                    <td>{goal}</td>
                    <td>
                      {metric.name}, {metric.direction}
                    </td>
                    <td class="figure">{figure(baseline)}</td>
                    <td class="figure">{figure(best?.value ?? null)}</td>
                    <td class="figure">{percent(gain)}</td>
                    <td class="figure">
                      {kept} of {experiments}
                    </td>
                    <td>{stateText(state, stop)}</td>
                    <td>
                      <Time at={last} />
                    </td>
                  </tr>
                ),
              )}
            </tbody>
          </table>
        </Scroll>
        {list.length > 1 && picked.length < 2 ? (
          <p class="small soft">Choose two or more runs to see them side by side.</p>
        ) : null}
      </Section>
      {picked.length > 1 ? <RunsBeside names={picked} /> : null}
    </>
  )
}

const MOST_RUNS = 4

/** As the head of the page says it. */
const stateText = (state: PageRunLine['state'], stop: string | null): string =>
  stop !== null && state === 'stopped' ? `stopped: ${stop}` : state === 'idle' ? 'not running' : state

function RunsBeside({ names }: { names: readonly string[] }) {
  const { value, failed } = useLoaded(
    () => Promise.all(names.map(headOfRun)),
    // Read again as the shown run grows, and as others end.
    [names.join(), rowsVersion.value, runs.value],
  )
  if (failed) return <p class="notice">The runs did not come: {failed}</p>
  if (value === undefined) return <Empty>Loading …</Empty>
  const line = (name: string, cell: (one: PageHead) => ComponentChildren) => (
    <tr key={name}>
      <th scope="row">{name}</th>
      {value.map((one) => (
        <td key={one.run}>{cell(one)}</td>
      ))}
    </tr>
  )
  const kept = ({ counts }: PageHead) => Math.max(0, counts.kept + counts.pruned - 1)
  const tried = ({ counts }: PageHead) =>
    Math.max(0, Object.values(counts).reduce((sum, one) => sum + one, 0) - 1)
  return (
    <Section title="Runs side by side">
      <Scroll label="Runs side by side">
        <table class="compare" style={wideEnough(names)}>
          <thead>
            <tr>
              <th scope="col">
                <span class="unseen">what</span>
              </th>
              {value.map(({ run, name }) => (
                <th key={run} scope="col">
                  <a href={linkTo({ ...toRun(run), view: null })}>{run}</a> {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {line('goal', ({ goal }) => goal)}
            {line('metric', ({ metric }) => `${metric.name}, ${metric.direction}`)}
            {line('baseline', ({ baseline }) => figure(baseline.value))}
            {line('best', ({ best }) =>
              best ? `${figure(best.value)} (${best.experiment}${best.confirmed ? ', confirmed' : ''})` : '–',
            )}
            {line('gain', ({ gain }) => (
              <Gain value={gain} />
            ))}
            {line('kept', (one) => `${kept(one)} of ${counted(tried(one), 'experiment')}`)}
            {line('inconclusive', ({ inconclusive }) => String(inconclusive))}
            {line('failed', ({ counts }) => String(counts.failed))}
            {line('rounds', ({ rounds }) => String(rounds.length))}
            {line('stopped by', ({ stop }) => stop ?? 'no stop rule holds')}
            {line('agents', ({ spend }) => costWords(spend))}
            {line('measuring', ({ costs }) => timeSpan(costs.measuring_ms))}
            {line('time of work', ({ duration }) => timeSpan(duration.active_ms))}
            {line('base', ({ environment }) => environment.base.slice(0, 12))}
            {line('measured on', ({ environment }) => environment.host ?? 'unknown')}
            {line('way to the best', ({ path }) => (
              <ol>
                {path.slice(1).map(({ experiment, hypothesis }) => (
                  <li key={experiment}>{hypothesis}</li>
                ))}
              </ol>
            ))}
          </tbody>
        </table>
      </Scroll>
    </Section>
  )
}

// ---------------------------------------------------------------- taking it along

export function ExportView() {
  const run = head.value?.run ?? ''
  const text = head.value?.pull_request
  const live = connection.value === 'live'
  return (
    <Section title="Export" id="export">
      {live ? (
        <p class="filters">
          <a class="button" href={`/api/runs/${run}/file/html`} download>
            this run as one file
          </a>
          <a class="button" href={`/api/runs/${run}/file/csv`} download>
            table (CSV)
          </a>
        </p>
      ) : null}
      <p class="small soft">This run as one file for any browser, and its experiments as a table:</p>
      <CopyLine line={`assay report --html report.html --run ${run}`} />
      <CopyLine line={`assay report --csv --run ${run}`} />
      <p class="small soft">The winner as a branch, measured again, with the text of its pull request:</p>
      <CopyLine line={`assay finish --run ${run}`} />
      {text === undefined ? null : (
        <details>
          <summary class="small">the text of the pull request, as assay finish wrote it last</summary>
          <CopyButton text={text} label="copy the text of the pull request" />
          <pre tabIndex={0}>{text}</pre>
        </details>
      )}
    </Section>
  )
}
