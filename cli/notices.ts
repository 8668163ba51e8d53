/** What long work tells while it runs. Modules emit facts; only `main` and `commands` print them. */
export type Notice =
  | { type: 'warning'; message: string }
  | { type: 'preparing'; what: string }
  /** `what` completes "waiting for …". */
  | { type: 'waiting'; what: string }
  | { type: 'step'; experiment: string; step: string }
  | {
      type: 'sample'
      experiment: string
      stage: string
      pair: number
      side: 'candidate' | 'parent'
      value: number | null
      wall_ms: number
    }
  | { type: 'phase'; title: string }
  | { type: 'log'; message: string }
  | {
      type: 'agent'
      state: 'started' | 'done' | 'failed' | 'replayed'
      label: string
      phase: string | null
      ms: number
      message?: string
    }

export type Tell = (fact: Notice) => void
