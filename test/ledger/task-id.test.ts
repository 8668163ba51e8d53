import { expect, test } from 'vitest'
import {
  editTask,
  lanePlace,
  metaTask,
  placeOfTask,
  scanTask,
  sealedRecord,
  sealOfEdit,
  turnOfTask,
  verifyTask,
} from '../../cli/ledger/task-id.ts'

test('the place or the turn of a task is read differently from how its id was built', () => {
  const at = lanePlace(12, 3, 2)
  for (const turn of [0, 1, 10]) {
    for (const id of [editTask(at, turn), verifyTask(at, turn), sealedRecord(at, turn)]) {
      expect(placeOfTask(id)).toEqual({ at, round: 12, lane: 3 })
      expect(turnOfTask(id)).toBe(turn)
    }
    expect(sealOfEdit(editTask(at, turn))).toBe(sealedRecord(at, turn))
    expect(sealOfEdit(verifyTask(at, turn))).toBeNull()
  }
  expect(placeOfTask(scanTask(12, 1))).toEqual({ at: 'r12', round: 12, lane: null })
  expect(placeOfTask(metaTask(3))).toBeNull()
  expect(placeOfTask('exp_0001')).toBeNull()
})
