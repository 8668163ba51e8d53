/** The executor that a spec names. */
import { unreachable } from '../result.ts'
import { CommandExecutor } from './command.ts'
import type { Executor, ExecutorWorld } from './executor.ts'
import { LocalJobs } from './local.ts'
import { Slurm } from './slurm.ts'

export function openExecutor(world: ExecutorWorld): Executor {
  const { kind } = world.config
  switch (kind) {
    case 'local':
      return new LocalJobs(world)
    case 'slurm':
      return new Slurm(world)
    case 'command':
      return new CommandExecutor(world)
    default:
      return unreachable(kind)
  }
}
