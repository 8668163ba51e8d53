import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { build } from 'esbuild'

/**
 * Answers of the tasks, in their order. The entry's worker gets one task as a message and answers with one; the entry is bundled
 * first, because Node 20 does not read TypeScript, and each processor works on one task at a time.
 * @param {string} entry path of the worker's source
 * @param {object[]} tasks
 */
export async function inWorkers(entry, tasks) {
  const dir = mkdtempSync(join(tmpdir(), 'assay-bench-'))
  try {
    const outfile = join(dir, 'worker.mjs')
    await build({ entryPoints: [entry], bundle: true, platform: 'node', format: 'esm', outfile })
    const answers = new Array(tasks.length)
    const left = tasks.entries()
    await Promise.all(Array.from({ length: availableParallelism() }, () => work(outfile, left, answers)))
    return answers
  } finally {
    rmSync(dir, { recursive: true })
  }
}

/** Takes tasks off the common list, one after another. */
function work(file, left, answers) {
  return new Promise((resolve, reject) => {
    const worker = new Worker(file)
    let at
    const next = () => {
      const { value, done } = left.next()
      if (done) {
        resolve(worker.terminate())
        return
      }
      at = value[0]
      worker.postMessage(value[1])
    }
    worker.on('message', (answer) => {
      answers[at] = answer
      next()
    })
    worker.on('error', reject)
    next()
  })
}
