/** One experiment: what was expected, what came out, why it ended so, and what it changed. */
import { useState } from 'preact/hooks'
import type { PageNode, PageRow } from '../cli/view/page-model.ts'
import { Actions, ofExperiment } from './actions.tsx'
import { head, nodeOf, pinOf, rows, rowsVersion } from './data.ts'
import { DiffView } from './diff.tsx'
import { Judged } from './judging.tsx'
import { PinIcon, Status } from './marks.tsx'
import { Pairs } from './pairs.tsx'
import {
  CopyLine,
  Empty,
  Facts,
  GainPhrase,
  Guarded,
  Linked,
  NodeLink,
  Scroll,
  Time,
  useLoaded,
} from './parts.tsx'
import { compared, go, linkTo } from './route.ts'
import { forest } from './tree.tsx'
import { counted, figure, gainText, percent } from './words.ts'

export function NodePanel({ id }: { id: string }) {
  const version = rowsVersion.value
  const row = rows.get(id)
  const { value: node, failed } = useLoaded(() => nodeOf(id), [id, version])
  if (!row) {
    return (
      <aside class="panel" aria-label="Experiment">
        <Head id={id} />
        <Empty>There is no {id} in this run.</Empty>
      </aside>
    )
  }
  return (
    <aside class="panel" aria-label={`Experiment ${id}`}>
      <Head id={id} />
      <p class="hypothesis-whole">
        {row.parent === null
          ? 'The baseline: what the run began with.'
          : row.hypothesis || 'No hypothesis was given.'}
      </p>
      <p class="outcome">
        <Status row={row} />
        {row.value === null ? null : (
          <span>
            <span class="figure big">{figure(row.value)}</span> {head.value?.metric.name}
          </span>
        )}
        <GainPhrase value={row.improvement} />
      </p>
      <Pinned id={id} />
      <Guarded>
        <Kin row={row} />
        {failed !== null ? <p class="notice">The details did not come: {failed}</p> : null}
        {node === undefined && failed === null ? <Empty>Loading …</Empty> : null}
        {node === null ? (
          <>
            <Empty>
              The details of this experiment are not in the file (assay report --html FILE --full takes all
              in). In a terminal:
            </Empty>
            <CopyLine line={`assay show ${id} --run ${head.value?.run ?? ''}`} />
          </>
        ) : null}
        {node ? <Details key={id} row={row} node={node} /> : null}
      </Guarded>
    </aside>
  )
}

function Head({ id }: { id: string }) {
  const others = compared.value
  const isIn = others.includes(id)
  return (
    <header class="panel-head">
      <h2 class="id">{id}</h2>
      <span class="grow" />
      {isIn || others.length < 4 ? (
        <button
          type="button"
          class="quiet"
          aria-pressed={isIn}
          onClick={() =>
            go(
              { with: (isIn ? others.filter((one) => one !== id) : [...others, id]).join(',') },
              { replace: true },
            )
          }
        >
          {isIn ? 'in comparison' : 'compare'}
        </button>
      ) : null}
      <a class="button quiet" href={linkTo({ node: null })} aria-label="Close the panel">
        close
      </a>
    </header>
  )
}

function Pinned({ id }: { id: string }) {
  const pin = pinOf(id)
  if (!pin) return null
  return (
    <p>
      <PinIcon /> <b>pinned</b> <span class="soft">{pin.parent ? '' : '(no parent now)'}</span>{' '}
      <Linked text={pin.why} />
    </p>
  )
}

function Kin({ row }: { row: PageRow }) {
  const children = forest.value.childrenOf(row.experiment)
  const shown = children.slice(0, 12)
  return (
    <Facts
      facts={[
        row.parent === null
          ? null
          : [
              row.parents ? 'merge of' : 'child of',
              (row.parents ?? [row.parent]).map((id) => (
                <span key={id}>
                  <NodeLink id={id} />{' '}
                </span>
              )),
            ],
        children.length === 0
          ? null
          : [
              counted(children.length, 'child', 'children'),
              <>
                {shown.map(({ experiment }) => (
                  <span key={experiment}>
                    <NodeLink id={experiment} />{' '}
                  </span>
                ))}
                {children.length > shown.length ? `and ${children.length - shown.length} more` : null}
              </>,
            ],
        row.round === null
          ? null
          : [
              'round',
              `${row.round}${row.lane === null ? '' : `, lane ${row.lane}`}${row.arm ? ', starts from the baseline, for comparison' : ''}`,
            ],
        row.epoch === head.value?.epoch
          ? null
          : ['epoch', `${row.epoch}: its value is not compared with those of the current epoch`],
      ]}
    />
  )
}

function Details({ row, node }: { row: PageRow; node: PageNode }) {
  return (
    <>
      {node.message ? <p>{node.message}</p> : null}
      {node.explained.map((line) => (
        <p key={line} class="small">
          <Linked text={line} />
        </p>
      ))}
      <Doubts node={node} />
      <Predicted row={row} node={node} />
      {node.stages.length > 0 ? (
        <Block title="Pairs">
          {node.stages.map((stage, i) => (
            <Pairs key={`${stage.stage} ${i}`} stage={stage} metric={head.value?.metric.name ?? ''} />
          ))}
        </Block>
      ) : null}
      {node.judged_items ? (
        <Block title="Judged items">
          <Judged judged={node.judged_items} />
        </Block>
      ) : null}
      <Block title="Gates and rules">
        <Held row={row} node={node} />
        {node.broke ? (
          <>
            <p class="small soft">{node.broke.what} did not pass. It printed at the end:</p>
            <pre tabIndex={0}>{node.broke.text.trim() === '' ? 'nothing' : node.broke.text}</pre>
          </>
        ) : null}
      </Block>
      {node.tasks ? (
        <Block title="Scores by task">
          <Tasks tasks={node.tasks} against={node.against} />
        </Block>
      ) : null}
      <OtherMetrics node={node} />
      {node.parts ? (
        <Block title="Which parts pay">
          <Parts parts={node.parts} />
        </Block>
      ) : null}
      {row.parent === null ? null : (
        <Block title="Change">
          <DiffView node={node} />
        </Block>
      )}
      {node.brief ? (
        <Block title="Brief">
          <p class="small soft">{node.brief.kind}</p>
          <p>
            <Linked text={node.brief.objective} />
          </p>
          <ul>
            {[...node.brief.boundaries, ...node.brief.pointers].map((text) => (
              <li key={text}>
                <Linked text={text} />
              </li>
            ))}
          </ul>
        </Block>
      ) : null}
      {node.annotations.length > 0 ? (
        <Block title="Remarks">
          <ul>
            {node.annotations.map(({ at, text, task, tag }) => (
              <li key={`${at} ${text}`}>
                <span class="soft small">
                  <Time at={at} /> {task ? `task ${task} ` : ''}
                  {tag ? `#${tag}` : ''}
                </span>{' '}
                <Linked text={text} />
              </li>
            ))}
          </ul>
        </Block>
      ) : null}
      <Block title={counted(node.attempts.length, 'attempt')}>
        <Attempts node={node} />
      </Block>
      {node.environment ? (
        <Block title="Conditions of its samples">
          <Facts facts={Object.entries(node.environment).map(([name, value]) => [name, value] as const)} />
        </Block>
      ) : null}
      {node.artifacts.length > 0 ? (
        <Block title="Artifacts">
          <ul>
            {node.artifacts.map(({ label, path, bytes, sha256 }) => (
              <li key={label}>
                {label}: <code>{path}</code>, {bytes.toLocaleString('en')} bytes, {sha256.slice(0, 10)}
              </li>
            ))}
          </ul>
        </Block>
      ) : null}
      <Block title="Actions">
        <Actions names={ofExperiment(row.status, pinOf(row.experiment) !== undefined)} id={row.experiment} />
      </Block>
      <Block title="In a terminal">
        {node.commands.map((line) => (
          <CopyLine key={line} line={line} />
        ))}
        {node.commit ? (
          <p class="small soft">
            candidate {node.commit.slice(0, 10)} at {node.ref}
          </p>
        ) : null}
      </Block>
    </>
  )
}

function Block({ title, children }: { title: string; children: preact.ComponentChildren }) {
  return (
    <div class="block">
      <h3>{title}</h3>
      <Guarded>{children}</Guarded>
    </div>
  )
}

function Doubts({ node }: { node: PageNode }) {
  const lines = [
    node.doubt ? `In doubt: ${node.doubt}` : null,
    node.lost_to ? `Not the best: pairs with ${node.lost_to} did not show it to be better.` : null,
    node.why ? `Why: ${node.why}` : null,
    node.fix ? `Fix: ${node.fix}` : null,
  ].flatMap((line) => line ?? [])
  return (
    <>
      {lines.map((line) => (
        <p key={line} class="notice">
          <Linked text={line} />
        </p>
      ))}
    </>
  )
}

/** What was expected beside what came out. */
function Predicted({ row, node: { predicted } }: { row: PageRow; node: PageNode }) {
  if (!predicted) return null
  const { text, gain } = predicted
  return (
    <Block title="Prediction">
      <Facts
        facts={[
          ['predicted', `${gainText(gain)}${text === null ? '' : ` “${text}”`}`.trim()],
          ['measured', row.improvement === null ? 'no gain was measured' : gainText(row.improvement)],
        ]}
      />
    </Block>
  )
}

function Tasks({ tasks, against }: { tasks: NonNullable<PageNode['tasks']>; against: string | null }) {
  const parts = [...new Set(tasks.flatMap((task) => Object.keys(task.parts ?? {})))]
  return (
    <>
      <Scroll label="Scores of its tasks">
        <table>
          <thead>
            <tr>
              <th scope="col">task</th>
              {['here', ...(against === null ? [] : [against]), ...parts].map((name) => (
                <th key={name} scope="col" class="figure">
                  {parts.includes(name) ? name.replaceAll('_', ' ') : name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {tasks.map(({ name, score, before, parts: own }) => (
              <tr key={name}>
                <td>{name}</td>
                {[
                  score,
                  ...(against === null ? [] : [before]),
                  ...parts.map((part) => own?.[part] ?? null),
                ].map((value, i) => (
                  <td key={`${i} ${name}`} class="figure">
                    {figure(value === null ? null : Number(value.toPrecision(3)))}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {parts.length > 0 ? (
        <p class="small soft">Behind the losses: each part of a loss before its weight, from 0 to 1.</p>
      ) : null}
    </>
  )
}

function Parts({ parts: { parent, summary, parts, together } }: { parts: NonNullable<PageNode['parts']> }) {
  return (
    <>
      <p>
        <Linked text={summary} />
      </p>
      <Scroll label="Parts of the diff">
        <table>
          <thead>
            <tr>
              <th scope="col">part</th>
              <th scope="col">worth</th>
              <th scope="col" class="figure">
                lines
              </th>
              <th scope="col">place</th>
            </tr>
          </thead>
          <tbody>
            {parts.map(({ id, worth, dead, lines, place }) => (
              <tr key={id}>
                <td class="id">{id}</td>
                <td>{worth}</td>
                <td class="figure">{lines}</td>
                <td class={dead ? 'struck' : ''}>{place}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {together.map((line) => (
        <p key={line} class="small">
          {line}
        </p>
      ))}
      <p class="small soft">The diff against {parent} below shows each part where it stands.</p>
    </>
  )
}

interface Rule {
  name: string
  answer: string
  where: string
  broken: boolean
}

function Held({ row, node }: { row: PageRow; node: PageNode }) {
  const isKept = row.status === 'kept'
  // The sentence of the verdict begins with the rule and the value that broke it.
  const [verdict = 'broken'] = (node.message ?? '').split(';')
  const rule = (name: string, where: string, broken: boolean, why: string, held: string): Rule => ({
    name,
    where,
    broken,
    answer: broken ? why : held,
  })
  const rules: Rule[] = [
    ...node.gates.map(({ name, phase, passed, from }) =>
      rule(
        `gate ${name}`,
        `${phase}${from === 'spec' ? '' : `, from ${from}`}`,
        passed === false,
        'did not pass',
        passed === null ? 'not reached' : 'passed',
      ),
    ),
    ...node.constraints.map((text) => {
      const start = `constraint ${text} `
      const broken = verdict.startsWith(start)
      return rule('constraint', text, broken, verdict.slice(start.length), isKept ? 'held' : 'not decided')
    }),
    ...node.protected.map((name) =>
      rule(
        'protected',
        name,
        row.reason === 'protected' && verdict.includes(name),
        verdict,
        isKept ? 'not worse' : 'not decided',
      ),
    ),
    ...(node.held_out === null
      ? []
      : [
          rule(
            'held-out data',
            '',
            row.reason === 'holdout',
            verdict,
            node.held_out ? 'not worse' : 'not measured',
          ),
        ]),
  ]
  if (rules.length === 0)
    return <p class="small soft">The spec has no gates, constraints, protected metrics or held-out data.</p>
  return (
    <Scroll label="Gates and constraints">
      <table>
        <thead>
          <tr>
            <th scope="col">rule</th>
            <th scope="col">where</th>
            <th scope="col">answer</th>
          </tr>
        </thead>
        <tbody>
          {rules.map(({ name, answer, where, broken }, i) => (
            <tr key={`${name} ${i}`} class={broken ? 'broken' : ''}>
              <td>{name}</td>
              <td>{where}</td>
              <td>{answer}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}

function OtherMetrics({ node }: { node: PageNode }) {
  const names = Object.keys(node.metrics).filter((name) => name !== head.value?.metric.name)
  if (names.length === 0) return null
  return (
    <Block title="Other metrics">
      <Scroll label="Other metrics">
        <table>
          <thead>
            <tr>
              <th scope="col">metric</th>
              <th scope="col" class="figure">
                here
              </th>
              <th scope="col" class="figure">
                {node.against ?? 'before'}
              </th>
              <th scope="col" class="figure">
                change
              </th>
            </tr>
          </thead>
          <tbody>
            {names.map((name) => {
              const [here, there] = [node.metrics[name], node.parent_metrics[name]]
              const change =
                typeof here === 'number' && typeof there === 'number' && there !== 0
                  ? (here - there) / Math.abs(there)
                  : null
              return (
                <tr key={name}>
                  <td>{name}</td>
                  <td class="figure">{typeof here === 'number' ? figure(here) : String(here)}</td>
                  <td class="figure">
                    {there === undefined ? '–' : typeof there === 'number' ? figure(there) : String(there)}
                  </td>
                  <td class="figure">{percent(change)}</td>
                </tr>
              )
            })}
          </tbody>
        </table>
      </Scroll>
    </Block>
  )
}

function Attempts({ node }: { node: PageNode }) {
  const [open, setOpen] = useState(node.attempts.length <= 3)
  const shown = open ? node.attempts : node.attempts.slice(-1)
  if (node.attempts.length === 0) return <p class="small soft">Nothing was sealed yet.</p>
  return (
    <>
      <ol class="attempts">
        {shown.map((one) => (
          <li key={one.attempt} value={one.attempt}>
            {one.status ?? 'sealed'}
            {one.reason ? ` (${one.reason})` : ''}, {counted(one.files, 'file')} +{one.added} −{one.removed},{' '}
            {counted(one.samples, 'sample')}
            {one.value === null ? '' : `, ${figure(one.value)}`}
            {one.message && one.message !== node.message ? <p class="small">{one.message}</p> : null}
            {one.confirmations.map(({ at, against, passed, message }) => (
              <p key={at} class="small">
                {passed ? 'confirmed' : 'not confirmed'} against <NodeLink id={against} />
                {message ? `: ${message}` : ''}
              </p>
            ))}
            {one.audits.map(({ outcome, findings }, i) => (
              <p key={`${outcome} ${i}`} class="small">
                audit {outcome}
                {findings.length === 0 ? '' : `: ${findings.join('; ')}`}
              </p>
            ))}
          </li>
        ))}
      </ol>
      {open ? null : (
        <button type="button" class="quiet" onClick={() => setOpen(true)}>
          show all {node.attempts.length}
        </button>
      )}
    </>
  )
}
