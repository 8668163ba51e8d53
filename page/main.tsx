/** The page: head line, views, and the panel of one experiment. */
import { render } from 'preact'
import { useEffect } from 'preact/hooks'
import type { PageHead } from '../cli/view/page-model.ts'
import { connection, head, lostAt, now, rows, rowsVersion, runs, start, trouble } from './data.ts'
import { Learning } from './learning.tsx'
import { NodePanel } from './node.tsx'
import { Overview } from './overview.tsx'
import { GainPhrase, Guarded, NodeLink, ThemeChoice } from './parts.tsx'
import { compared, go, linkTo, runName, selected, toRun, type View, view } from './route.ts'
import {
  CompareView,
  CostView,
  costWords,
  ExportView,
  RecordView,
  Rounds,
  RunsView,
  TreeView,
} from './views.tsx'
import { capText, figure, leftText } from './words.ts'
import './style.css'

const TITLES: Record<View, string> = {
  overview: 'Overview',
  tree: 'Tree',
  learning: 'Learning',
  rounds: 'Rounds',
  cost: 'Cost',
  record: 'Record',
  compare: 'Compare',
  runs: 'Runs',
}

function App() {
  const data = head.value
  const node = selected.value
  useEffect(() => {
    if (data) document.title = `${figure(data.best?.value ?? data.baseline.value)} · ${data.name} · Assay`
  }, [data])
  if (!data) return <Waiting />
  return (
    <div class={node ? 'app with-panel' : 'app'}>
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault()
          document.getElementById('main')?.focus()
        }}
      >
        to the content
      </a>
      <Top data={data} />
      <nav aria-label="Views">
        {viewsOf(data).map((name) => (
          <a
            key={name}
            href={linkTo({ view: name === 'overview' ? null : name })}
            {...(view.value === name ? { 'aria-current': 'page' } : {})}
          >
            {TITLES[name]}
            {name === 'compare' && compared.value.length > 0 ? (
              <span class="figure"> {compared.value.length}</span>
            ) : null}
            {name === 'runs' ? <span class="figure"> {runs.value.length}</span> : null}
          </a>
        ))}
      </nav>
      <div class="body">
        <main id="main" tabIndex={-1}>
          <Guarded key={view.value}>
            <Shown />
          </Guarded>
        </main>
        {node ? <NodePanel key={node} id={node} /> : null}
      </div>
      <footer class="small soft">
        <span>
          Assay {data.version} · {data.run} ·{' '}
          {connection.value === 'file' ? 'a file, as of the last event, ' : 'last event '}
          {data.last.slice(0, 16).replace('T', ' ')} UTC
        </span>
        <ThemeChoice />
      </footer>
    </div>
  )
}

/** Only a suite learns. */
const viewsOf = ({ suite }: PageHead): View[] =>
  (Object.keys(TITLES) as View[]).filter((name) => name !== 'learning' || suite !== undefined)

function Shown() {
  switch (view.value) {
    case 'tree':
      return <TreeView />
    case 'learning':
      return <Learning />
    case 'rounds':
      return <Rounds />
    case 'cost':
      return <CostView />
    case 'record':
      return <RecordView />
    case 'compare':
      return <CompareView />
    case 'runs':
      return <RunsView />
    case 'overview':
      return (
        <>
          <Overview />
          <ExportView />
        </>
      )
  }
}

/** Nothing came yet: the run is read, there is none, or the server is gone. */
function Waiting() {
  const gone = connection.value === 'lost'
  return (
    <main class="waiting">
      <h1>Assay</h1>
      {gone ? (
        <>
          <p>The server does not answer. The page tries again every second.</p>
          {trouble.value ? <p class="notice">{trouble.value}</p> : null}
          <p class="small soft">
            Start it again in the repository: <code>assay serve</code>
          </p>
        </>
      ) : connection.value === 'live' ? (
        <>
          <p>There is no run in this repository yet. It appears here when it begins.</p>
          <p class="small soft">
            Start one: <code>assay init</code>
          </p>
        </>
      ) : (
        <p>Loading …</p>
      )}
    </main>
  )
}

function Top({ data }: { data: PageHead }) {
  rowsVersion.value
  const { metric, baseline, best, gain, counts, budget } = data
  const tried = Math.max(0, rows.size - 1)
  const kept = Math.max(0, counts.kept + counts.pruned - 1)
  const better = best !== null && best.experiment !== baseline.experiment
  const caps = Object.entries(budget).filter(([, { limit }]) => limit !== null)
  return (
    <header class="top">
      <div class="title">
        <h1>{data.name}</h1>
        {runs.value.length > 1 ? (
          <label>
            <span class="unseen">Run</span>
            <select value={data.run} onChange={({ currentTarget }) => go(toRun(currentTarget.value))}>
              {runs.value.map(({ run, name }) => (
                <option key={run} value={run}>
                  {run} {name}
                </option>
              ))}
            </select>
          </label>
        ) : (
          <span class="soft">{runName.value ?? data.run}</span>
        )}
        <State data={data} />
      </div>
      <p class="goal">{data.goal}</p>
      <dl class="headline">
        <div>
          <dt>
            {metric.name}, {metric.direction}
          </dt>
          <dd>
            {better ? (
              <>
                <span class="figure">{figure(baseline.value)}</span>
                <span class="arrow" aria-hidden="true">
                  →
                </span>
                <span class="unseen"> to </span>
              </>
            ) : null}
            <b class="figure big">{figure(best?.value ?? null)}</b>{' '}
            <GainPhrase value={better ? gain : null} from={baseline.value} to={best?.value ?? null} />
          </dd>
          <dd class="small soft">
            {better ? <BestWords data={data} /> : 'nothing is better than the baseline yet'}
          </dd>
          {data.suite ? (
            <dd class="small soft">
              texts: {data.suite.artifacts.map(({ name, active }) => `${name} v${active}`).join(', ')}
            </dd>
          ) : null}
        </div>
        <div>
          <dt>kept</dt>
          <dd>
            <b class="figure big">{kept.toLocaleString('en')}</b> of{' '}
            <span class="figure">{tried.toLocaleString('en')}</span>
          </dd>
          <dd class="small soft">
            {data.inconclusive} inconclusive, {counts.failed} failed
          </dd>
        </div>
        <div>
          <dt>budget</dt>
          <dd>
            {caps.length === 0 ? (
              <span class="soft">no cap</span>
            ) : (
              caps.map(([cap, { used, limit, at_least }]) => (
                <Meter key={cap} cap={cap} used={used} limit={limit ?? 0} atLeast={at_least === true} />
              ))
            )}
          </dd>
          {data.buys ? <dd class="small soft">{leftText(data.buys)}</dd> : null}
        </div>
        <div>
          <dt>agents</dt>
          <dd class="words">{costWords(data.spend)}</dd>
          {data.judging && data.judging.usd > 0 ? (
            <dd class="small soft">the judge: ${figure(Number(data.judging.usd.toPrecision(3)))}</dd>
          ) : null}
        </div>
      </dl>
    </header>
  )
}

const rangeText = ([low, high]: readonly [number, number]): string =>
  figure(low) === figure(high) ? figure(low) : `${figure(low)} to ${figure(high)}`

function BestWords({ data }: { data: PageHead }) {
  const { best, interval, against } = data
  return (
    <>
      {best ? <NodeLink id={best.experiment} /> : null}, {best?.confirmed ? 'confirmed' : 'not confirmed'}
      {interval ? `, ${rangeText(interval)} better than ${against} (95 %)` : ''}
    </>
  )
}

function Meter({
  cap,
  used,
  limit,
  atLeast,
}: {
  cap: string
  used: number
  limit: number
  atLeast: boolean
}) {
  const share = limit === 0 ? 1 : Math.min(1, used / limit)
  const words = capText(cap, used, limit, atLeast)
  return (
    <span class="budget">
      <span class="meter" aria-hidden="true">
        <span style={{ width: `${100 * share}%` }} />
      </span>
      <span class="small">{words}</span>
    </span>
  )
}

/** The state of the loop, and of the connection: each in words. */
function State({ data }: { data: PageHead }) {
  const driver = connection.value === 'file' ? null : (now.value?.driver ?? data.driver)
  const running = driver !== null || (now.value?.lanes ?? []).some(({ phase }) => phase !== 'agent')
  const loop =
    data.paused !== null
      ? `paused: ${data.paused}`
      : running
        ? 'running'
        : data.stop !== null
          ? `stopped: ${data.stop}`
          : 'not running'
  return (
    <span class="states">
      <span class={running ? 'badge on' : 'badge'}>{loop}</span>
      <span class="states" role="status">
        {connection.value === 'lost' ? (
          <span class="badge warn">
            connection lost
            {lostAt.value === null ? '' : ` at ${new Date(lostAt.value).toTimeString().slice(0, 5)}`}; trying
            again
          </span>
        ) : connection.value === 'file' ? (
          <span class="badge">file</span>
        ) : connection.value === 'connecting' ? (
          <span class="badge">connecting …</span>
        ) : (
          <span class="badge">connected</span>
        )}
        {trouble.value ? <span class="badge warn">{trouble.value}</span> : null}
      </span>
      {data.stop_cause ? <span class="small soft">{data.stop_cause}</span> : null}
    </span>
  )
}

const place = document.getElementById('page')
if (!place) throw new Error('the document has no place for the page')
try {
  start()
  place.textContent = ''
  render(<App />, place)
} catch (error) {
  place.textContent = `This page cannot be shown: ${(error as Error).message}`
}
