/** Where the agent programs are installed. */
export function hostsFolder(): string
/** Folders to put on PATH, in which the programs are. */
export function binFolders(): string[]
