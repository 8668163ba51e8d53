/** As much of a terminal as the live view uses: a real grid, so that tests see what a person would. */
export class Screen {
  columns: number
  rows: number
  cursor = true
  writes = 0
  readonly listeners = new Set<() => void>()
  #grid: string[] = ['']
  #y = 0
  #x = 0

  constructor(columns: number, rows: number) {
    this.columns = columns
    this.rows = rows
  }

  on(_event: 'resize', listener: () => void): void {
    this.listeners.add(listener)
  }
  off(_event: 'resize', listener: () => void): void {
    this.listeners.delete(listener)
  }

  /** Lines are wrapped again, as terminals do it; the cursor stays at the end. */
  resize(columns: number, rows: number): void {
    const old = this.#grid
    this.columns = columns
    this.rows = rows
    this.#grid = old.flatMap((line) => line.match(new RegExp(`.{1,${columns}}`, 'gu')) ?? [''])
    this.#y = this.#grid.length - 1
    for (const listener of this.listeners) listener()
  }

  write(text: string): void {
    this.writes++
    for (const [, private_, count, command, char] of text.matchAll(
      /\x1b\[(\??)(\d*)([A-Za-z])|([^\x1b])/gu,
    )) {
      if (char !== undefined) this.#put(char)
      else if (private_ === '?') {
        if (count === '25') this.cursor = command === 'h'
      } else if (command === 'A') this.#y = Math.max(this.#top(), this.#y - Number(count || 1))
      else if (command === 'K') this.#set(this.#line().slice(0, this.#x))
      else if (command === 'J') {
        this.#set(this.#line().slice(0, this.#x))
        this.#grid.length = this.#y + 1
      } else throw new Error(`the screen does not know ${command}`)
    }
  }

  /** Everything, scrolled off or not. */
  text(): string {
    return this.#grid
      .map((line) => line.trimEnd())
      .join('\n')
      .trimEnd()
  }

  #top(): number {
    return Math.max(0, this.#grid.length - this.rows)
  }
  #line(): string {
    return this.#grid[this.#y] ?? ''
  }
  #set(line: string): void {
    this.#grid[this.#y] = line
  }
  #put(char: string): void {
    if (char === '\r') this.#x = 0
    else if (char === '\n') {
      this.#x = 0
      this.#y++
      if (this.#y === this.#grid.length) this.#grid.push('')
    } else {
      const line = this.#line().padEnd(this.#x)
      this.#set(line.slice(0, this.#x) + char + line.slice(this.#x + 1))
      this.#x++
    }
  }
}
