import { gitVersion } from '../../git/repository.ts'
import { type DoctorCheck, type FixableFinding, fine, problem } from '../check.ts'

const NODE = [20, 19] as const
const GIT = [2, 34] as const

export const versions: DoctorCheck = {
  name: 'versions',
  async look() {
    const found: FixableFinding[] = [node(process.versions.node), platform(process.platform)]
    const git = await gitVersion()
    if (git.ok) found.push(gitOf(git.value))
    else
      found.push(
        problem(git.problem.code, {
          what: git.problem.message,
          cause: 'Assay stores every candidate with git',
          repair: git.problem.hint?.toString() ?? null,
        }),
      )
    return found
  },
}

export function node(version: string): FixableFinding {
  if (atLeast(version, NODE)) return fine('node', `Node ${version}`)
  return problem('node_old', {
    what: `Node ${version} is older than ${NODE.join('.')}`,
    cause: 'Assay needs a newer one',
    repair: `install Node ${NODE.join('.')} or newer`,
  })
}

export function platform(name: string): FixableFinding {
  if (name === 'linux') return fine('platform', 'Linux')
  if (name === 'darwin')
    return fine('platform', 'macOS: processes that leave their group cannot be searched for here')
  return problem('platform', {
    what: `${name} is not supported`,
    cause: 'Assay needs process groups and symbolic links as Linux and macOS have them',
    repair: name === 'win32' ? 'use WSL' : 'use Linux or macOS',
  })
}

export function gitOf(version: string): FixableFinding {
  if (atLeast(version, GIT)) return fine('git', `git ${version}`)
  return problem('git_old', {
    what: `git ${version} is older than ${GIT.join('.')}`,
    cause: 'it lacks options that Assay calls',
    repair: `install git ${GIT.join('.')} or newer`,
  })
}

function atLeast(version: string, [major, minor]: readonly [number, number]): boolean {
  const [a = 0, b = 0] = version.split('.').map(Number)
  return a > major || (a === major && b >= minor)
}
