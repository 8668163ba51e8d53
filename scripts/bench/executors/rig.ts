/** The rig of the tests, for a benchmark. */
export { noSlurm, startCluster } from '../../../test/rig/slurm.ts'
export { cleanUp } from './cleanups.ts'
