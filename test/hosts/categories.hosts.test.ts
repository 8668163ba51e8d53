import { expect, test } from 'vitest'
import { makeRepo } from '../rig/repo.ts'
import { openSession, type Script } from './real/session.ts'

/** In the description of the skill, which hosts show to the model, or at its beginning, which they insert when a person calls it. */
const WORDS = ['runs that train or finetune a model', 'a candidate is a recipe and the checkpoint']

test.each(['claude-code', 'codex', 'copilot', 'pi'] as const)(
  '%s: the skill of a category lies too deep to be found, or hides the others',
  async (host) => {
    const session = await openSession(host, makeRepo({ files: { 'a.txt': 'a\n' } }))
    function* silent(): Script {
      yield { text: 'I have read it.' }
    }
    const asks = await session.play(session.skill('finetuning'), silent)
    const asked = JSON.stringify(asks[0]?.body)
    expect(WORDS.some((words) => asked.includes(words))).toBe(true)
    expect(asked).toContain('discover')
  },
)
