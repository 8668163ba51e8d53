/** The first view: how far it came, what runs now, and the way to the best. */

import { useEffect, useState } from 'preact/hooks'
import { gainOf } from '../cli/evaluate/figure.ts'
import type { PageHead, PageLane } from '../cli/view/page-model.ts'
import { Actions, OF_RUN } from './actions.tsx'
import { Chart } from './chart.tsx'
import { head, logOf, now, rows, rowsVersion } from './data.ts'
import { Heat, Multiples } from './heat.tsx'
import { Distrust } from './judging.tsx'
import { Empty, Facts, Gain, Linked, NodeLink, Section, useLoaded } from './parts.tsx'
import { linkTo } from './route.ts'
import { counted, diskText, figure, limitText, percent, timeSpan } from './words.ts'

export function Overview() {
  const data = head.value
  if (!data) return null
  const running = now.value !== null && (now.value.lanes.length > 0 || now.value.slots.length > 0)
  return (
    <>
      <Section title="Best so far">
        <Chart />
      </Section>
      <Attention data={data} />
      {running ? (
        <Section title="Now">
          <Now />
        </Section>
      ) : null}
      <div class="pair-of-parts">
        <Section title="Path to the best">
          <Way data={data} />
        </Section>
        <Section title="Did the search help?">
          <Helped data={data} />
        </Section>
      </div>
      {data.metrics.some(({ points }) => points.length > 1) ? (
        <Section title="Other metrics of what was kept">
          <Multiples metrics={data.metrics} />
        </Section>
      ) : null}
      {data.tasks ? (
        <Section title="Scores by task">
          <Heat tasks={data.tasks} metric={data.metric} />
        </Section>
      ) : null}
      <Section title="Steer">
        <Actions names={OF_RUN} />
      </Section>
    </>
  )
}

function Attention({ data }: { data: PageHead }) {
  const items = [
    ...data.doubts.map(({ experiment, doubt, hint }) => ({ experiment, text: `in doubt: ${doubt}`, hint })),
    ...data.stuck.map(({ experiment, message, hint }) => ({ experiment, text: message, hint })),
  ]
  const waiting = data.backlog?.waiting ?? 0
  const distrusted = data.judging && data.judging.anchors.trouble !== null
  if (items.length + waiting === 0 && !distrusted) return null
  return (
    <Section title="Needs a person">
      {data.judging ? <Distrust judging={data.judging} /> : null}
      {waiting === 0 ? null : (
        <p class="notice">
          <a href={linkTo({ view: 'record' })}>{counted(waiting, 'idea')}</a>{' '}
          {waiting === 1 ? 'waits' : 'wait'} for an approval of packages
        </p>
      )}
      <ul class="plain">
        {items.map(({ experiment, text, hint }) => (
          <li key={`${experiment} ${text}`} class="notice">
            <NodeLink id={experiment} /> <Linked text={text} /> <span class="soft">{hint}</span>
          </li>
        ))}
      </ul>
    </Section>
  )
}

function Way({ data }: { data: PageHead }) {
  if (data.path.length < 2) return <Empty>Nothing is better than the baseline yet.</Empty>
  return (
    <ol class="way">
      {data.path.map(({ experiment, value, hypothesis }, i) => (
        <li key={experiment}>
          <NodeLink id={experiment} />
          <span class="figure">{figure(value)}</span>
          <Gain
            value={i === 0 ? null : gainOf(data.path[i - 1]?.value ?? null, value, data.metric.direction)}
          />
          <span class="what">{i === 0 ? 'the baseline' : hypothesis}</span>
        </li>
      ))}
    </ol>
  )
}

function Helped({ data }: { data: PageHead }) {
  rowsVersion.value
  const judged = [...rows.values()].filter(({ judged: at, parent }) => at !== null && parent !== null)
  const equal = judged.filter(
    ({ reason }) => reason === 'duplicate' || reason === 'empty' || reason === 'tie',
  ).length
  const kept = judged.filter(({ status }) => status === 'kept' || status === 'pruned').length
  return (
    <>
      <Facts
        facts={[
          [
            'kept',
            judged.length === 0
              ? 'nothing was judged yet'
              : `${kept.toLocaleString('en')} of ${judged.length.toLocaleString('en')} judged`,
          ],
          [
            'changed nothing',
            judged.length === 0
              ? 'unknown'
              : `${equal} (${percent(equal / judged.length).replace('+', '')}): empty, a duplicate or a tie`,
          ],
          ['inconclusive', String(data.inconclusive)],
          data.arms === null
            ? null
            : [
                'search',
                `${data.arms.search.experiments} experiments, best ${figure(data.arms.search.best)}${data.arms.search.best_at_same === null ? '' : `; ${figure(data.arms.search.best_at_same)} after as many as the other arm`}`,
              ],
          data.arms === null
            ? null
            : [
                'from the baseline',
                `${data.arms.baseline.experiments} experiments, best ${figure(data.arms.baseline.best)}`,
              ],
        ]}
      />
      {data.arms === null ? (
        <p class="small soft">
          Without lanes that try from the baseline (loop.baseline_arm) nothing tells what a search without a
          tree would have found.
        </p>
      ) : null}
    </>
  )
}

function Now() {
  const [tick, setTick] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => setTick((n) => n + 1), 1000)
    return () => clearInterval(timer)
  }, [])
  const seen = now.value
  if (!seen) return null
  return (
    <>
      {seen.lanes.length === 0 ? <p class="small soft">No experiment is open.</p> : null}
      <ul class="lanes">
        {seen.lanes.map((lane) => (
          <Lane key={lane.experiment} lane={lane} tick={tick} />
        ))}
      </ul>
      <Facts
        facts={[
          ...seen.slots.map(
            ({ holder, waiting, experiment }) =>
              [
                waiting ? 'waits for a slot' : 'measures',
                <span key={holder}>
                  {holder}{' '}
                  {experiment ? (
                    <NodeLink id={experiment} />
                  ) : waiting ? (
                    ''
                  ) : (
                    '(not of this run, or between samples)'
                  )}
                </span>,
              ] as const,
          ),
          seen.driver
            ? ['driven by', `${seen.driver.name}, process ${seen.driver.pid} on ${seen.driver.host}`]
            : null,
          seen.disk === null
            ? null
            : ['.assay takes', `${diskText(seen.disk)}; assay gc deletes what is not needed`],
        ]}
      />
    </>
  )
}

function Lane({ lane }: { lane: PageLane; tick: number }) {
  const ms = Math.max(0, Date.now() - Date.parse(lane.since))
  const share = lane.limit_ms === null ? null : Math.min(1, ms / lane.limit_ms)
  return (
    <li>
      <p>
        <span class="soft">{lane.lane === null ? 'by hand' : `lane ${lane.lane}`}</span>{' '}
        <NodeLink id={lane.experiment} /> <b>{lane.phase === 'agent' ? 'being edited' : lane.phase}</b>
        {lane.node === undefined ? '' : ` on ${lane.node}`}
        {lane.pairs
          ? `, pair ${lane.pairs.done} of at most ${lane.pairs.most}`
          : lane.samples > 0
            ? `, ${counted(lane.samples, 'sample')}`
            : ''}{' '}
        <span class="figure soft">{timeSpan(ms)}</span>
        {lane.limit_ms === null ? null : (
          <span class="soft">
            {' '}
            of at most {limitText(lane.limit_ms)}
            {lane.phase === 'agent' ? '' : ' a sample'}
          </span>
        )}
        {lane.pairs?.seconds_left ? (
          <span class="soft">, at most {timeSpan(1000 * lane.pairs.seconds_left)} left</span>
        ) : null}
      </p>
      {share === null ? null : (
        <div class="meter" aria-hidden="true">
          <div style={{ width: `${100 * share}%` }} />
        </div>
      )}
      <p class="small soft">{lane.hypothesis}</p>
      {lane.agent ? (
        <div class="agent small">
          <p class="soft">
            {lane.agent.host} for {lane.agent.role}
            {lane.agent.tool === null ? '' : `, last tool: ${lane.agent.tool}`}
          </p>
          {lane.agent.words === null ? null : <p>{lane.agent.words}</p>}
        </div>
      ) : null}
      {lane.samples > 0 ? <Tail experiment={lane.experiment} samples={lane.samples} /> : null}
    </li>
  )
}

function Tail({ experiment, samples }: { experiment: string; samples: number }) {
  const [open, setOpen] = useState(false)
  const { value } = useLoaded(
    () => (open ? logOf(experiment) : Promise.resolve(null)),
    [experiment, samples, open],
  )
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary class="small">what its newest sample printed</summary>
      {open ? <pre tabIndex={0}>{value ?? 'nothing'}</pre> : null}
    </details>
  )
}
