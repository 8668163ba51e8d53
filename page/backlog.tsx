/** The ideas of a run: where each stands, and how a person approves or drops those that nobody has begun. */
import { signal } from '@preact/signals'
import type { PageBacklog, PageIdea } from '../cli/view/page-model.ts'
import { Actions, ofIdea } from './actions.tsx'
import { head } from './data.ts'
import { CopyLine, NodeLink, Scroll, Section } from './parts.tsx'
import { counted } from './words.ts'

/** Ids in one command line, as on the terminal. */
const TOGETHER = 50
const ALL = 'all'

/** The idea that a person decides on; `all` = all that wait. null = the first that waits. */
const chosen = signal<string | null>(null)

export function Backlog({ backlog }: { backlog: PageBacklog }) {
  const { ideas, more } = backlog
  return (
    <Section title={`Backlog (${ideas.length + more})`} id="backlog">
      <Decision backlog={backlog} />
      <Scroll label="Ideas of the backlog">
        <table class="backlog">
          <thead>
            <tr>
              <th scope="col">idea</th>
              <th scope="col">hypothesis</th>
              <th scope="col">priority</th>
              <th scope="col">kind</th>
            </tr>
          </thead>
          <tbody>
            {ideas.map((idea) => (
              <Row key={idea.id} idea={idea} />
            ))}
          </tbody>
        </table>
      </Scroll>
      {more === 0 ? null : (
        <>
          <p class="small soft">{counted(more, 'more idea')}:</p>
          <CopyLine line={`assay backlog --all --run ${head.value?.run ?? ''}`} />
        </>
      )}
    </Section>
  )
}

/** One form for the idea that was chosen in the table: a form in each row would hide the ideas. */
function Decision({ backlog: { ideas, waiting } }: { backlog: PageBacklog }) {
  const parked = ideas.filter(({ status }) => status === 'parked')
  const together = parked.slice(0, TOGETHER).map(({ id }) => id)
  const one = ideas.find(({ id }) => id === chosen.value) ?? (chosen.value === null ? parked[0] : undefined)
  const all = chosen.value === ALL && together.length > 0
  if (!all && one === undefined) return null
  return (
    <div class="decision">
      {waiting === 0 ? null : (
        <p>
          {waiting === 1 ? '1 idea needs' : `${waiting} ideas need`} packages that nobody approved.{' '}
          {waiting === 1 || all ? null : (
            <button
              type="button"
              class="quiet"
              onClick={() => {
                chosen.value = ALL
              }}
            >
              decide on {together.length < waiting ? `the first ${together.length}` : 'all of them'}
            </button>
          )}
        </p>
      )}
      {all ? (
        <p class="small">{together.join(', ')}</p>
      ) : (
        <p class="small">
          <span class="id">{one?.id}</span> {one?.hypothesis}
          {one && one.missing.length > 0 ? <b> needs {one.missing.join(', ')}</b> : null}
        </p>
      )}
      {all ? (
        <Actions key={ALL} names={['approve', 'drop']} id={together.join(' ')} />
      ) : one ? (
        <Decided key={one.id} idea={one} />
      ) : null}
    </div>
  )
}

function Decided({ idea }: { idea: PageIdea }) {
  const names = ofIdea(idea.status)
  return names.length === 0 ? (
    <p class="small soft">There is nothing left to decide: it is {idea.status}.</p>
  ) : (
    // The form stays with this idea, so that what came of it can be read.
    <Actions
      names={names}
      id={idea.id}
      onSend={() => {
        chosen.value = idea.id
      }}
    />
  )
}

const Row = ({ idea }: { idea: PageIdea }) => (
  <tr>
    <td>
      <span class="id">{idea.id}</span>
      <br />
      <span class={idea.status === 'parked' ? '' : 'soft'}>{idea.status}</span>{' '}
      {idea.experiment === null ? null : <NodeLink id={idea.experiment} />}
      {ofIdea(idea.status).length === 0 ? null : (
        <button
          type="button"
          class="quiet"
          aria-label={`decide on ${idea.id}`}
          onClick={() => {
            chosen.value = idea.id
          }}
        >
          decide
        </button>
      )}
    </td>
    <td>
      {idea.hypothesis}
      {idea.missing.length > 0 ? <span class="small soft"> needs {idea.missing.join(', ')}</span> : null}
      {idea.outcome === null ? null : <span class="small soft"> {idea.outcome}</span>}
    </td>
    <td>{idea.priority ?? '–'}</td>
    <td>{idea.kind ?? '–'}</td>
  </tr>
)
