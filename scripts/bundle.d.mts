export function render(root: string): Map<string, string>
export function stale(root: string): string[]
