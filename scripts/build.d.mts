/** Bundles the CLI into `bin/lib` unless it is up to date; resolves to whether anything had to be built. */
export function build(options: { root: string; force?: boolean }): Promise<boolean>
/** Files of `bin/lib` that are missing, or not what a fresh build would write. */
export function stale(options: { root: string }): Promise<string[]>
