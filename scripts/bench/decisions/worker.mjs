import { parentPort } from 'node:worker_threads'
import { lucky } from './deterministic.mjs'
import { gains, noOps } from './session.mjs'

const TASKS = { noOps, gains, lucky }

parentPort.on('message', ({ what, ...task }) => parentPort.postMessage(TASKS[what](task)))
