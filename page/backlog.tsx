/** The ideas of a run: where each stands, and how a person approves or drops those that wait. */
import type { PageBacklog, PageIdea } from '../cli/view/page-model.ts'
import { head } from './data.ts'
import { CopyLine, NodeLink, Scroll, Section } from './parts.tsx'
import { counted } from './words.ts'

/** Ids in one command line, as on the terminal. */
const TOGETHER = 50

export function Backlog({ backlog: { ideas, waiting, more } }: { backlog: PageBacklog }) {
  const parked = ideas.filter(({ status }) => status === 'parked').slice(0, TOGETHER)
  const run = head.value?.run ?? ''
  return (
    <Section title={`Backlog (${ideas.length + more})`} id="backlog">
      {parked.length === 0 ? null : (
        <>
          <p>
            {waiting === 1 ? '1 idea needs' : `${waiting} ideas need`} packages that nobody approved. To
            approve {waiting > parked.length ? `the first ${parked.length}` : waiting === 1 ? 'it' : 'them'},
            or to drop one:
          </p>
          <CopyLine line={`assay backlog approve ${parked.map(({ id }) => id).join(' ')} --run ${run}`} />
          <CopyLine line={`assay backlog drop ${parked[0]?.id} --reason TEXT --run ${run}`} />
        </>
      )}
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
          <CopyLine line={`assay backlog --all --run ${run}`} />
        </>
      )}
    </Section>
  )
}

const Row = ({ idea }: { idea: PageIdea }) => (
  <tr>
    <td>
      <span class="id">{idea.id}</span>
      <br />
      <span class={idea.status === 'parked' ? '' : 'soft'}>{idea.status}</span>{' '}
      {idea.experiment === null ? null : <NodeLink id={idea.experiment} />}
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
