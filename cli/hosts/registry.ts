/** Every host that Assay can drive: one line each. A host's own code is loaded when it is used. */
export const HOSTS = {
  command: {
    summary: 'any program: the prompt on stdin, the answer on stdout',
    load: async () => (await import('./command.ts')).command,
  },
  tune: {
    summary: 'built in, no model: moves the numeric parameters that the spec declares',
    load: async () => (await import('./tune.ts')).tune,
  },
}

export type HostName = keyof typeof HOSTS
export const hostNames = Object.keys(HOSTS) as HostName[]
export const isHostName = (name: string): name is HostName => Object.hasOwn(HOSTS, name)
