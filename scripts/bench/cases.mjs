/** The registry: to add a benchmark, add a file beside this one and its cases here. */
import { ISOLATION } from './isolation.mjs'
import { LOOP } from './loop.mjs'
import { OVERHEAD } from './overhead.mjs'
import { SCALE } from './scale.mjs'
import { STARTUP } from './startup.mjs'
import { TIMEOUT } from './timeout.mjs'
import { WORKFLOW } from './workflow.mjs'

/** @type {readonly import('../bench.mjs').Case[]} */
export const CASES = [...STARTUP, ...TIMEOUT, ...WORKFLOW, ...ISOLATION, ...LOOP, ...OVERHEAD, ...SCALE]
