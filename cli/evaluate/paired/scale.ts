/** How many residuals the scale looks back on: enough to be steady, few enough to follow a machine that changes. */
export const POOL = 200

/** Beyond this many scales a residual counts as if it lay there. */
const CUT = 1.5
/** The mean of min(z², CUT²) for a standard normal z, so that the scale of normal residuals is their deviation. */
const EXPECTED = 0.7784655

/**
 * The robust scale of the newest `POOL` residuals: Huber's proposal 2 with known centre 0, the s at which
 * mean(min(r²/s², CUT²)) = EXPECTED. An outlier moves it little, and unlike a median it sees a second mode.
 */
export class ScaleWindow {
  readonly #arrived: number[] = []
  /** Of the same residuals, without signs, ascending. */
  readonly #sizes: number[] = []

  constructor(residuals: readonly number[] = []) {
    for (const residual of residuals.slice(-POOL)) this.add(residual)
  }

  /** Anything but a finite residual is left out. */
  add(residual: number): void {
    if (!Number.isFinite(residual)) return
    const size = Math.abs(residual)
    this.#arrived.push(size)
    this.#sizes.splice(this.#rank(size), 0, size)
    if (this.#arrived.length <= POOL) return
    const oldest = this.#arrived.shift()
    if (oldest !== undefined) this.#sizes.splice(this.#rank(oldest), 1)
  }

  /** 0 when there is no residual, or each is 0. The root mean square when so many are 0 that there is no such s. */
  get scale(): number {
    const n = this.#sizes.length
    const largest = this.#sizes[n - 1] ?? 0
    if (largest === 0) return 0
    // The left side falls with s, so s is unique: of all numbers of residuals that may lie within the cut, the
    // largest that agrees with the s it leads to. Relative to the largest, so that no square leaves the range.
    let squares = 0
    let within = 0
    let square = 0
    for (const size of this.#sizes) {
      const relative = size / largest
      squares += relative * relative
      within += 1
      const room = n * EXPECTED - (n - within) * CUT * CUT
      if (room <= 0) continue
      if (relative * relative * room > CUT * CUT * squares) break
      square = squares / room
    }
    return Math.min(Math.sqrt(square === 0 ? this.#meanSquare(largest) : square) * largest, Number.MAX_VALUE)
  }

  #meanSquare(unit: number): number {
    return this.#sizes.reduce((total, size) => total + (size / unit) ** 2, 0) / this.#sizes.length
  }

  /** The first place whose size is not smaller. */
  #rank(size: number): number {
    let low = 0
    let high = this.#sizes.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#sizes[middle] ?? size) < size) low = middle + 1
      else high = middle
    }
    return low
  }
}
