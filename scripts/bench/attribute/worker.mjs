export { CASES, reduce } from './eliminate.mjs'
export { combine, MERGES } from './merge.mjs'
