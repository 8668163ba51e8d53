/** `artifact`: the texts of a suite, their versions, and what each pass cost. */
import { shown } from '../evaluate/figure.ts'
import { restoreText, suiteTextNamed } from '../experiment/text.ts'
import { patchBetween } from '../git/trees.ts'
import { pathOfText } from '../measure/seal.ts'
import { judgedCommit } from '../measure/worktree.ts'
import { call, next, type Said } from '../next.ts'
import { fail, ok, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import { painter } from '../terminal/colour.ts'
import type { Context, VerbAnswer } from '../terminal/command.ts'
import { BLANK } from '../terminal/lines.ts'
import { printable } from '../terminal/output.ts'
import { expectationLines, suiteLines, textLines } from '../terminal/suite-table.ts'
import { plain } from '../text.ts'
import type { TextView } from '../view/page-model.ts'
import { suiteView } from '../view/suite.ts'
import { onRun } from './verb.ts'

export const run = onRun((opened, args, context) => {
  const [name] = args.positionals
  const wanted = args.text('restore')
  if (name === undefined) return wanted === null ? all(context, opened) : fail(nameNeeded(wanted))
  if (wanted !== null) return restore(opened, name, wanted, args.key)
  return history(opened, name)
})

const nameNeeded = (wanted: string) => ({
  kind: 'usage' as const,
  code: 'missing_argument',
  message: '--restore needs the name of the artifact',
  hint: next`${call('artifact', 'NAME', '--restore', wanted)}`,
})

async function all(context: Context, run: OpenRun): Promise<Result<VerbAnswer>> {
  const view = suiteView(run)
  if (view === null) {
    const none = suiteTextNamed(run, '')
    return none.ok ? ok({ data: null, text: () => '' }) : none
  }
  const paint = await painter(context.colour)
  const { learning_rate: rate } = view
  const width = context.columns
  return ok({
    data: view,
    text: () => [
      `${plain(view.suite, 100)}${rate === null ? '' : `  learning rate ${shown(rate)}`}`,
      '',
      ...[...textLines(view, width), BLANK, ...suiteLines(view, width), ...expectationLines(view, width)].map(
        paint,
      ),
    ],
  })
}

const headOf = ({ name, file, active, since, versions }: TextView): string =>
  `${name}  v${active} is active since ${since?.experiment ?? 'the baseline'}${since ? ` (${since.at.slice(0, 16)})` : ''}; versions: ${versions.length}; ${plain(file, 200)}`

async function history(run: OpenRun, name: string): Promise<Result<VerbAnswer>> {
  const artifact = suiteTextNamed(run, name)
  if (!artifact.ok) return artifact
  const view = suiteView(run)?.artifacts.find((one) => one.name === name)
  if (!view) throw new Error(`${name} is an artifact of the suite, and in no view`)
  const versions: (TextView['versions'][number] & { diff: string | null })[] = []
  for (const version of view.versions) {
    const from = version.parent === null ? undefined : view.versions[version.parent]
    const trees = [from, version].map((one) => one && judgedCommit(run, one.experiment)?.tree)
    const [before, after] = trees
    const paths = [pathOfText(run, artifact.value.file)]
    const patch = before && after ? await patchBetween(run.site, before, after, { paths }) : ok(null)
    if (!patch.ok) return patch
    versions.push({ ...version, diff: patch.value })
  }
  const steps = (suiteView(run)?.epochs ?? []).filter((pass) => pass.artifact === name)
  return ok({
    data: { ...view, versions, steps },
    text: (): Said[] => [
      headOf(view),
      ...versions.flatMap(({ version, experiment, at, loss, parent, stands, diff }) => [
        '',
        `v${version}  ${experiment}  ${at.slice(0, 16)}  loss ${shown(loss)}${parent === null ? '' : `  from v${parent}`}${stands ? '' : '  revoked'}`,
        ...(diff === null ? [] : [printable(diff)]),
      ]),
      ...steps
        .filter(({ outcome }) => outcome === 'not_kept')
        .map(
          ({ experiment, from, loss }) =>
            `not kept: ${experiment}, a change of v${from}, loss ${shown(loss)}`,
        ),
    ],
  })
}

async function restore(
  run: OpenRun,
  name: string,
  wanted: string,
  key: string | null,
): Promise<Result<VerbAnswer>> {
  const done = await restoreText(run, { name, wanted, key })
  if (!done.ok) return done
  const { experiment, status, message } = done.value
  return ok({
    data: done.value,
    text: () => [
      `${experiment}: ${status}; ${plain(message, 500)}`,
      status === 'kept'
        ? `this text of ${name} is active`
        : next`the text of ${name} stays; see ${call('show', experiment)}`,
    ],
    wrap: true,
  })
}
