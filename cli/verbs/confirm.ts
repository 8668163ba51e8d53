/** `confirm`: measures a kept experiment again, which clears a doubt about it or revokes it. */
import { type ConfirmAnswer, confirm } from '../measure/confirm.ts'
import { call, next, type Said } from '../next.ts'
import { keepingTurn } from '../run/driver.ts'
import { plain } from '../text.ts'
import { verb } from './verb.ts'

export const { run } = verb('confirm', {
  run: (run, { positionals: [id], flags, key }) =>
    keepingTurn(run, id, () => confirm(run, id, { against: flags.against, key })),
  say: (answer, { positionals: [id] }) => {
    const { passed, status, message, epoch, flagged, undermined } = answer
    return [
      `${id} ${passed ? `is confirmed in epoch ${epoch}` : `is ${status}`}`,
      `  ${plain(message, 500)}`,
      ...(passed && !flagged ? [] : [standing(answer)]),
      ...(undermined === undefined ? [] : [`  It does not count: ${plain(undermined, 500)}`]),
    ]
  },
})

function standing({ experiment, status, flagged }: ConfirmAnswer): Said {
  if (status === 'revoked') return next`  A person may undo this: ${call('restore', experiment)}`
  return flagged
    ? next`  In doubt, so not a parent. A person may clear the doubt: ${call('restore', experiment)}`
    : '  This answer does not change its status'
}
