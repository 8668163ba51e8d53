import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cell, type Line, lineWidth } from '../../cli/terminal/lines.ts'
import { type LiveModel, liveFrame } from '../../cli/terminal/live.ts'
import { LivePainter } from '../../cli/terminal/painter.ts'
import { hostile, numbers, OBEYED, statuses, text } from './render.ts'
import { Screen } from './screen.ts'

const model: LiveModel = {
  run: 'run_0003',
  round: 4,
  phase: 'implement',
  elapsed_ms: 4_321_000,
  metric: { name: 'latency', direction: 'minimize', unit: 'ms', target: 2 },
  baseline: 5,
  best: { experiment: 'exp_0025', value: 4 },
  budget: {
    experiments: { used: 20, limit: 40 },
    hours: { used: 1.43, limit: 8 },
    failures: { used: 0, limit: 10 },
  },
  stall: { now: 2, limit: 6 },
  lanes: [
    { lane: 1, experiment: 'exp_0034', step: 'measure', since_ms: 83_000, note: 'pair 12 of 30' },
    { lane: 2, experiment: null, step: 'agent', since_ms: 3_000, note: 'thinking' },
  ],
  recent: [
    { status: 'kept', text: 'exp_0033 4 ms, 5 % better' },
    { status: 'rejected', text: 'exp_0032 \x1b[31mtie' },
  ],
  stop: null,
}

describe('the frame', () => {
  test('the frame shows the score, the budget, a lane or a result wrongly, or not at all', () => {
    expect(text(liveFrame(model, 70, 20))).toBe(
      [
        'run_0003 · round 4 · implement                              1 h 12 min',
        'latency  5 → 4 ms  20 % better  exp_0025  target 2 ms',
        '████████░░░░░░░░  20 of 40 experiments, 1.4 of 8 hours, stall 2 of 6',
        '',
        '  ◐ 1  exp_0034  measure  1 min 23 s  pair 12 of 30',
        '  ◐ 2            agent           3 s  thinking',
        '',
        '  ● exp_0033 4 ms, 5 % better',
        '  ○ exp_0032 \\x1b[31mtie',
      ].join('\n'),
    )
  })

  test('the frame of a run without a score, a round or limits shows one, or does not tell why the run stopped', () => {
    const bare: LiveModel = {
      ...model,
      round: null,
      phase: '',
      baseline: null,
      best: null,
      metric: { ...model.metric, target: null },
      budget: {
        experiments: { used: 0, limit: null },
        hours: { used: 0, limit: null },
        failures: { used: 2, limit: null },
      },
      stall: { now: 0, limit: null },
      lanes: [],
      recent: [],
      stop: 'target',
    }
    expect(text(liveFrame(bare, 40, 20))).toBe(
      [
        'run_0003                      1 h 12 min',
        'latency  no score yet',
        '0 experiments, 0 hours, 2 failures',
        'stopped: the target is reached',
      ].join('\n'),
    )
  })

  test('a frame with less room does not give up results first and lanes next', () => {
    const heights = [9, 8, 7, 5, 4, 3, 1, 0].map((height) => liveFrame(model, 70, height).length)
    expect(heights).toEqual([9, 8, 6, 5, 3, 3, 1, 0])
  })

  test('a frame exceeds its room, or holds text that the terminal obeys', () => {
    const any = fc.record({
      run: hostile,
      phase: hostile,
      baseline: numbers,
      value: numbers,
      lanes: fc.array(
        fc.record({
          lane: fc.nat(),
          experiment: fc.option(hostile),
          step: hostile,
          since_ms: fc.double(),
          note: hostile,
        }),
        { maxLength: 5 },
      ),
      recent: fc.array(fc.record({ status: statuses, text: hostile }), { maxLength: 5 }),
    })
    fc.assert(
      fc.property(
        any,
        fc.integer({ min: 1, max: 120 }),
        fc.integer({ min: 0, max: 20 }),
        (data, width, height) => {
          const lines = liveFrame(
            { ...model, ...data, best: { experiment: data.run, value: data.value } },
            width,
            height,
          )
          expect(lines.length).toBeLessThanOrEqual(height)
          for (const line of lines) expect(lineWidth(line)).toBeLessThanOrEqual(width)
          expect(
            lines
              .flat()
              .map((each) => each.text)
              .join(''),
          ).not.toMatch(OBEYED)
        },
      ),
    )
  })
})

describe('the painter', () => {
  const lines = (...texts: string[]): Line[] => texts.map((each) => [cell(each)])

  test('a frame is painted below the one before or leaves pieces of it, or the last one does not stay', () => {
    const screen = new Screen(20, 10)
    screen.write('$ assay loop\n')
    const painter = new LivePainter(screen)
    painter.draw(() => lines('round 1', 'lane a', 'lane b'))
    expect(screen.text()).toBe('$ assay loop\nround 1\nlane a\nlane b')
    painter.draw(() => lines('r 2', 'x'))
    expect(screen.text()).toBe('$ assay loop\nr 2\nx')
    painter.draw(() => lines('round 3', 'a', 'b'))
    painter.close()
    screen.write('$')
    expect(screen.text()).toBe('$ assay loop\nround 3\na\nb\n$')
  })

  test('the cursor is visible while the painter lives or not given back at its end, or a frame is drawn after that', () => {
    const screen = new Screen(20, 10)
    const painter = new LivePainter(screen)
    expect(screen.cursor).toBe(true)
    painter.draw(() => lines('a'))
    expect([screen.cursor, screen.listeners.size]).toEqual([false, 1])
    painter.close()
    painter.close()
    painter.draw(() => lines('late'))
    expect([screen.cursor, screen.listeners.size, screen.text()]).toEqual([true, 0, 'a'])
  })

  test('a frame takes more than one write, or is written although nothing changed', () => {
    const screen = new Screen(20, 10)
    const painter = new LivePainter(screen)
    painter.draw(() => lines('a'))
    const before = screen.writes
    painter.draw(() => lines('a'))
    expect(screen.writes).toBe(before)
    painter.draw(() => lines('b'))
    expect(screen.writes).toBe(before + 1)
    painter.close()
  })

  test('a line that is said while a frame stands is lost, or is not above the frame', () => {
    const screen = new Screen(20, 10)
    const painter = new LivePainter(screen)
    painter.say([cell('before')])
    painter.draw(() => lines('frame 1'))
    painter.say([cell('a warning')])
    painter.draw(() => lines('frame 2'))
    painter.close()
    painter.say([cell('after')])
    expect(screen.text()).toBe('before\na warning\nframe 2\nafter')
  })

  test('a resize that wraps the lines of a frame leaves pieces behind', () => {
    const screen = new Screen(20, 10)
    const painter = new LivePainter(screen)
    painter.say([cell('top')])
    painter.draw((width) => lines('x'.repeat(width), 'y'))
    screen.resize(8, 10)
    expect(screen.text()).toBe('top\nxxxxxxxx\ny')
    screen.resize(12, 10)
    expect(screen.text()).toBe('top\nxxxxxxxxxxxx\ny')
    painter.close()
  })

  test('the painter draws more lines than the terminal has, so that the frame scrolls away', () => {
    const screen = new Screen(20, 4)
    const painter = new LivePainter(screen)
    for (let round = 0; round < 3; round++)
      painter.draw(() => lines(...Array.from({ length: 9 }, (_, at) => `r${round} l${at}`)))
    expect(screen.text()).toBe('r2 l0\nr2 l1\nr2 l2')
    painter.close()
  })
})
