export interface Fact {
  /** What evidence calls it; another name is another fact, and each is told once. */
  name: string
  message: string
  /** Whom it is about. */
  experiments: string[]
}
