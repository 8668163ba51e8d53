/** Seeded, so that the table is the same wherever it is made. sfc32 (Doty-Humphrey, PractRand). */
export class Random {
  #a = 0
  #b = 0
  #c = 0
  #d = 1
  /** The polar method makes normals in twos. */
  #spare = null

  /** @param {string} seed */
  constructor(seed) {
    // FNV-1a, one offset a word.
    const words = [0, 1, 2].map((salt) => {
      let hash = 0x811c9dc5 ^ salt
      for (let i = 0; i < seed.length; i++) hash = Math.imul(hash ^ seed.charCodeAt(i), 0x01000193)
      return hash | 0
    })
    ;[this.#a, this.#b, this.#c] = words
    for (let i = 0; i < 15; i++) this.uniform()
  }

  /** In [0, 1). */
  uniform() {
    const next = (((this.#a + this.#b) | 0) + this.#d) | 0
    this.#d = (this.#d + 1) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + next
    return (next >>> 0) / 2 ** 32
  }

  chance(probability) {
    return this.uniform() < probability
  }

  normal() {
    if (this.#spare !== null) {
      const spare = this.#spare
      this.#spare = null
      return spare
    }
    let u
    let v
    let square
    do {
      u = 2 * this.uniform() - 1
      v = 2 * this.uniform() - 1
      square = u * u + v * v
    } while (square >= 1 || square === 0)
    const factor = Math.sqrt((-2 * Math.log(square)) / square)
    this.#spare = v * factor
    return u * factor
  }
}
