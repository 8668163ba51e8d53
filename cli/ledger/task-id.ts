/**
 * Ids of the loop's tasks, and of what is recorded beside them, which every driver reads alike. A task of the round is
 * `r7/collect`, one of the experiment that a lane made at a depth `r7/l1/d2/implement`, a look of the meta controller
 * `meta/3`. Pure.
 */

/** What the ids of a round begin with. */
export const roundPlace = (round: number): string => `r${round}`

/** What the ids of one experiment of a lane begin with. */
export const lanePlace = (round: number, lane: number, depth: number): string =>
  `r${round}/l${lane}/d${depth}`

export interface TaskPlace {
  /** `r7` or `r7/l1/d2`. */
  at: string
  round: number
  /** null: of the round. */
  lane: number | null
}

/** null: `id` is of no round. */
export function placeOfTask(id: string): TaskPlace | null {
  const [, at, round, lane] = /^(r(\d+)(?:\/l(\d+)\/d\d+)?)\//.exec(id) ?? []
  return at === undefined
    ? null
    : { at, round: Number(round), lane: lane === undefined ? null : Number(lane) }
}

/** What one of several tasks of a kind is called: the batch of a scanner, the edit of a step, the text of a gradient. */
export const lastWord = (id: string): string => id.slice(id.lastIndexOf('/') + 1)

export const scanTask = (round: number, batch: number | ''): string => `r${round}/scan/${batch}`
export const stepTask = (round: number, edit: string): string => `r${round}/step/${edit}`
export const gradientTask = (round: number, artifact: string): string => `r${round}/gradient/of/${artifact}`

/** What a brief was laid out as. */
export const laidRecord = (brief: string): string => `${brief}/laid`
/** What was chosen among the proposed texts. */
export const takenRecord = (round: number): string => `r${round}/gradient/taken`
/** That the chosen text could not be made an experiment. */
export const notMadeRecord = (round: number): string => `r${round}/gradient/not-made`
export const repeatRecord = (round: number): string => `r${round}/repeat`
export const isRepeatRecord = (id: string): boolean => /^r\d+\/repeat$/.test(id)

// ---------------------------------------------------------------- turns of one experiment: the first edit is 0, its first revision 1

const mark = (turn: number): string => (turn === 0 ? '' : `.${turn}`)

export const reviseTask = (at: string, turn: number): string => `${at}/revise.${turn}`
export const editTask = (at: string, turn: number): string =>
  turn === 0 ? `${at}/implement` : reviseTask(at, turn)
export const verifyTask = (at: string, turn: number): string => `${at}/verify${mark(turn)}`
/** The attempt that became of an edit. */
export const sealedRecord = (at: string, turn: number): string => `${at}/sealed${mark(turn)}`

/** null: `id` is not of an edit. */
export function sealOfEdit(id: string): string | null {
  const isEdit = /\/(implement|revise\.\d+)$/.test(id)
  return isEdit ? sealedRecord(placeOfTask(id)?.at ?? '', turnOfTask(id)) : null
}

/** Of `implement`, `revise.2`, `verify`, `verify.1`. */
export const turnOfTask = (id: string): number => Number(/\.(\d+)$/.exec(id)?.[1] ?? 0)

// ---------------------------------------------------------------- ticks of the meta controller

export const META_TICKS = 'meta/'
export const metaTask = (tick: number): string => `${META_TICKS}${tick}`
