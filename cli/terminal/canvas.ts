import { type Line, merged, type Role } from './lines.ts'

/** A grid of one-column marks; of two marks on one spot the heavier stays, of equals the later. */
export class Canvas {
  readonly width: number
  readonly height: number
  readonly #chars: string[]
  readonly #roles: Role[]
  readonly #weights: Float64Array

  constructor(width: number, height: number) {
    this.width = width
    this.height = height
    this.#chars = Array.from({ length: width * height }, () => ' ')
    this.#roles = Array.from({ length: width * height }, (): Role => 'plain')
    this.#weights = new Float64Array(width * height)
  }

  /** Marks outside the grid are ignored. */
  put(x: number, y: number, char: string, role: Role, weight: number): void {
    if (x < 0 || y < 0 || x >= this.width || y >= this.height) return
    const at = y * this.width + x
    if (weight < (this.#weights[at] ?? 0)) return
    this.#chars[at] = char
    this.#roles[at] = role
    this.#weights[at] = weight
  }

  row(y: number): Line {
    const from = y * this.width
    return merged(
      this.#chars
        .slice(from, from + this.width)
        .map((text, x) => ({ text, role: this.#roles[from + x] ?? 'plain' })),
    )
  }
}
