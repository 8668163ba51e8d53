/** `assay guide spec KEY`, for every key of the spec. */
import { describe, expect, test } from 'vitest'
import { parse, parseDocument } from 'yaml'
import { keyPage } from '../../cli/spec/key-page.ts'
import { keyTable, specKeys } from '../../cli/spec/key-table.ts'
import { walk } from '../../cli/spec/walk.ts'
import { makeProject } from '../e2e/project.ts'

const keys = specKeys().filter(({ key }) => key.presence !== 'later')

const pageOf = (name: string) => {
  const page = keyPage(name)
  if (!page.ok) throw new Error(`${name}: ${page.problem.message}`)
  return page.value
}

describe('the page of a key', () => {
  test.each(keys.map(({ path, key }) => ({ path, key })))(
    '$path: says other than the table, or its example does not hold',
    ({ path, key }) => {
      const page = pageOf(path)
      expect(page.key).toBe(path)
      expect(keyTable()).toContain(`| \`${path}\` |`)
      expect(page.meaning).toBe(key.doc)
      expect(page.required).toBe(key.presence === 'required')
      const value = path.split('.').reduce<unknown>((inner, step) => {
        const next = (inner as Record<string, unknown>)[step.replace('[]', '')]
        return step.endsWith('[]') ? (next as unknown[])[0] : next
      }, parse(page.example))
      const text = JSON.stringify(value)
      expect(walk(key.kind, parseDocument(text), text).issues).toEqual([])
    },
  )

  test('a key below another, or whether it may change, is wrong', () => {
    expect(pageOf('metric').below).toEqual([
      'metric.name',
      'metric.direction',
      'metric.unit',
      'metric.target',
      'metric.min_improvement',
      'metric.floor',
    ])
    expect(pageOf('gates').below).toContain('gates[].command')
    expect(
      [pageOf('budget.hours'), pageOf('agent.model'), pageOf('measure.timeout'), pageOf('search.seed')].map(
        ({ change }) => change,
      ),
    ).toEqual(['live', 'live', 'frozen', 'kept'])
    expect(pageOf('gates.timeout').key).toBe('gates[].timeout')
  })

  test('an unknown key is not answered with what was meant', async () => {
    const hint = (name: string) => {
      const page = keyPage(name)
      return page.ok ? null : page.problem.hint
    }
    expect(hint('metric.nmae')).toBe('did you mean metric.name?')
    expect(hint('direction')).toBe(
      'which of: metric.direction, protected[].direction, tie_breakers[].direction',
    )
    expect(hint('zzzzzz')).toMatch(/^the keys at the top are: version, name, goal,/)
  })

  test('the verb prints something else, or takes a key of a different page', async () => {
    const project = makeProject()
    const page = await project.data<{ key: string; example: string }>('guide', 'spec', 'metric.direction')
    expect(page).toMatchObject({
      key: 'metric.direction',
      value: 'minimize, maximize',
      default: null,
      required: true,
      change: 'frozen',
      example: 'metric:\n  direction: minimize',
    })
    expect(await project.problem('guide', 'spec', 'metric.directoin')).toMatchObject({
      exit: 2,
      code: 'unknown_key',
      hint: 'did you mean metric.direction?',
    })
    expect(await project.problem('guide', 'verdict', 'metric')).toMatchObject({
      exit: 2,
      code: 'unexpected_argument',
    })
  })
})
