import { accessSync, constants, existsSync, lstatSync } from 'node:fs'
import { shellQuote } from '../../evaluate/command.ts'
import { type DoctorCheck, type FixableFinding, fine, problem, type Scene } from '../check.ts'

/** Whether this user may write to the state folder. */
export const permissions: DoctorCheck = {
  name: 'permissions',
  look(scene) {
    const { site } = scene
    if (!site) return []
    const found = placesOf(scene).flatMap((path) => whyNot(path) ?? [])
    return found.length > 0 ? found : [fine('permissions', `${site.state} can be written`)]
  },
}

function placesOf({ site, runs }: Scene): string[] {
  if (!site) return []
  const ofRuns = runs.flatMap(({ paths }) => [paths.folder, paths.ledger, paths.experiments])
  return [site.state, site.store, site.runs, ...ofRuns].filter((path) => existsSync(path))
}

function whyNot(path: string): FixableFinding | null {
  const us = process.getuid?.()
  const { uid } = lstatSync(path)
  const theirs = us !== undefined && uid !== us
  try {
    accessSync(path, constants.R_OK | constants.W_OK)
  } catch {
    return problem('not_writable', {
      what: `${path} cannot be written`,
      cause: theirs
        ? `it belongs to another user (uid ${uid})`
        : 'its permissions, a read-only file system, or a sandbox around this command',
      repair: theirs
        ? `as that user or root: chown -R ${us} ${shellQuote(path)}`
        : `chmod -R u+rwX ${shellQuote(path)}, or run outside of the sandbox`,
      at: path,
    })
  }
  return null
}
