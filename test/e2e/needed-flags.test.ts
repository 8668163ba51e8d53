/** What `--help` says a verb needs, and what it refuses to go without. */
import { expect, test } from 'vitest'
import type { SubVerb } from '../../cli/terminal/command.ts'
import { VERBS } from '../../cli/verbs/table.ts'
import { makeProject } from './project.ts'

const shapes: { words: string[]; shape: SubVerb }[] = VERBS.flatMap((verb) =>
  (verb.subs ?? [verb]).map((shape) => ({
    words: verb.subs === undefined ? [verb.name] : [verb.name, shape.name],
    shape,
  })),
)

test('help asks for a flag that a verb does without, or the refusal does not name it', async () => {
  const project = makeProject()
  await project.data('init')
  const asked: string[] = []
  for (const { words, shape } of shapes) {
    const needed = Object.entries(shape.flags).flatMap(([name, flag]) => (flag.needed ? [name] : []))
    const places = shape.positionals.filter(({ required }) => required).map(() => 'exp_0000')
    for (const left of needed) {
      const others = needed.filter((name) => name !== left).flatMap((name) => [`--${name}`, 'x'])
      const { exit, hint = '' } = await project.problem(...words, ...places, ...others)
      asked.push(`${words.join(' ')} --${left}`)
      expect([asked.at(-1), exit]).toEqual([asked.at(-1), 2])
      expect(hint).toMatch(new RegExp(`--${left}|-${shape.flags[left]?.short} `))
    }
  }
  expect(asked).toEqual([
    'new --message',
    'abort --reason',
    'prune --reason',
    'pin --reason',
    'revoke --reason',
    'gate add --name',
    'gate add --command',
    'gate add --reason',
    'gate remove --name',
    'round briefs --token',
    'round close --token',
    'backlog drop --reason',
    'wait --for',
    'config set --reason',
    'epoch open --reason',
  ])
})

test('help does not show what a verb needs among the words of its usage', async () => {
  const { help } = await makeProject().data<{ help: string }>('gate', 'add', '--help')
  expect(help).toContain('Usage: assay gate add ID --name NAME --command LINE --reason TEXT [flags]\n')
})
