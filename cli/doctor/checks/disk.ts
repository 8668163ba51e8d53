import { statfsSync } from 'node:fs'
import { warnOfDiskSpace } from '../../measure/disk-space.ts'
import { runtimeFolder } from '../../paths.ts'
import { type DoctorCheck, type FixableFinding, fine, problem, warning } from '../check.ts'

/** Room for what is to be recorded, and whether the file system keeps the promises that the ledger relies on. */
export const disk: DoctorCheck = {
  name: 'disk',
  look({ site, cwd, env }) {
    const place = site?.state ?? cwd
    return [...space(place, statOf(place)), ...networkFolders([place, runtimeFolder(env)])]
  },
}

interface Room {
  type: number
  bsize: number
  bavail: number
  /** 0 = the file system does not count them. */
  files: number
  ffree: number
}

function statOf(folder: string): Room | null {
  try {
    return statfsSync(folder)
  } catch {
    return null
  }
}

const MIB = 1024 * 1024
const LITTLE_MB = 1024
const NONE_MB = 100
const LITTLE_INODES = 10_000
const NONE_INODES = 500

export function space(at: string, room: Room | null): FixableFinding[] {
  if (!room) return []
  const freeMb = Math.floor((room.bavail * room.bsize) / MIB)
  const inodes = room.files === 0 ? null : room.ffree
  const found: FixableFinding[] = []
  if (freeMb < LITTLE_MB) {
    found.push(
      (freeMb < NONE_MB ? problem : warning)('disk_low', {
        what: `${freeMb} MiB are free where the state lies`,
        cause: 'checkouts and outputs of samples need room; when it runs out, a command ends with disk_full',
        repair: 'free some space; nothing that was acknowledged is lost meanwhile',
        at,
        data: { free_mb: freeMb },
      }),
    )
  }
  if (inodes !== null && inodes < LITTLE_INODES) {
    found.push(
      (inodes < NONE_INODES ? problem : warning)('inodes_low', {
        what: `${inodes} files can still be made where the state lies`,
        cause: 'every checkout is many small files',
        repair: 'delete what is not needed; the trash of Assay is a start: assay doctor --fix',
        at,
        data: { free_inodes: inodes },
      }),
    )
  }
  return found.length > 0
    ? found
    : [fine('disk', `${freeMb} MiB are free`, { free_mb: freeMb, free_inodes: inodes })]
}

/** From the kernel's `magic.h`. */
const NETWORK = new Map<number, string>([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB'],
  [0x5346414f, 'AFS'],
  [0x00c36400, 'Ceph'],
  [0x01021997, '9p'],
  [0x786f4256, 'a VirtualBox share'],
  [0x0bd00bd0, 'Lustre'],
  [0x47504653, 'GPFS'],
])
const FUSE = 0x65735546

/** Those of the folders that lie on a network; off Linux no type is known. */
export function networkFolders(folders: readonly string[]): FixableFinding[] {
  if (process.platform !== 'linux') return []
  return [...new Set(folders)].flatMap((folder) => {
    const stat = statOf(folder)
    return stat ? fileSystem(folder, stat.type) : []
  })
}

export function fileSystem(at: string, type: number): FixableFinding[] {
  const name = NETWORK.get(type >>> 0)
  if (name === undefined && type !== FUSE) return []
  return [
    warning('network_file_system', {
      what: `${at} lies on ${name ?? 'a file system in user space (sshfs, a share, …)'}`,
      cause:
        'appends of two machines, or of two processes, may overwrite each other there, and locks may not hold',
      repair: 'keep the repository on a local disk, or use it from one machine and one process at a time',
      at,
    }),
  ]
}

/** Whether the disk has room for the next measurement, and how much space experiments that have ended still use. */
export const room: DoctorCheck = {
  name: 'room',
  look({ site, runs }) {
    const found = runs.flatMap(({ run, paths, state, spec }): FixableFinding[] =>
      site && state && spec
        ? warnOfDiskSpace({ site, run, paths, begun: spec, ledger: { state } }).map((what) =>
            warning('room_tight', {
              what: `${run}: ${what}`,
              cause:
                'each experiment has a checkout of its own, which stays after its end until assay gc deletes it',
              repair: `see what would be deleted: assay gc --dry-run --run ${run}; then: assay gc --run ${run}`,
              at: paths.folder,
            }),
          )
        : [],
    )
    return found.length > 0 || runs.length === 0
      ? found
      : [fine('room', 'the disk has room for the next measurement')]
  },
}
