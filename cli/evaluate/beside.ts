/** What stands directly before and behind the group of a pattern: it is part of the value. Pure. */
import { isUnit } from './units.ts'

export interface Beside {
  /** The word behind the group, as far as it may be a unit; null when there is none. */
  word: string | null
  /** The number or the word that the group cuts in two, whole; null when it cuts none. */
  cut: string | null
}

const INSIDE = "\\d.,_'’\\u00a0\\u2009\\u202f"
const BEFORE = new RegExp(`[${INSIDE}]*$`)
const BEHIND = new RegExp(`^[${INSIDE}]*(?:[eE][+-]?\\d+)?`)
/** Characters that are looked at on each side. */
const NEAR = 100
const GROUP_OF_THREE = /^[,_'’\u00a0\u2009\u202f]\d{3}(?!\d)/
/** Digits behind which a separator may stand. */
const LEADING_GROUPS = /(?:^|[^\d.,])[1-9]\d{0,2}(?:[,_'’\u00a0\u2009\u202f]\d{3})*$/
/** `12,5 s` as other languages write it. Without a unit the comma may separate fields. */
const DECIMALS = /^,\d+\s{0,8}(?:%|‰|\p{L})/u
/** A sign only where no word, number or other sign stands in front of it: `p95-12` has none. */
const SIGN = /(?:^|[\s=:([{,;|])[-−–]$/
/** Before `=` or `:` it is a name: `n=1 m=2`. */
const WORD = /^(?:%|‰|\p{L}{1,16}(?:\/\p{L}{1,16})?|\/\p{L}{1,16})(?![\p{L}\p{N}_]|\s*[=:])/u
/** Tables put more than one space between a number and its unit, prose does not. */
const SPACES = /^[ \t\u00a0\u2009\u202f]{0,8}/

/**
 * `upTo` and `rest` are what the line has on both sides of the group. `comma`: the pattern itself names a comma
 * right behind its group, so that it separates fields.
 */
export function beside(upTo: string, group: string, rest: string, comma = false): Beside {
  const [before, behind] = [upTo.slice(-NEAR), rest.slice(0, NEAR)]
  if (startsInside(before, group) || stopsInside(before + group, group, behind, comma)) {
    const left = /0[xX]$/.exec(before)?.[0] ?? BEFORE.exec(before)?.[0] ?? ''
    const sign = SIGN.test(before.slice(0, before.length - left.length)) ? '-' : ''
    const right = /\p{L}$/u.test(group)
      ? (/^[\p{L}/]*/u.exec(behind)?.[0] ?? '')
      : (BEHIND.exec(behind)?.[0] ?? '').replace(/[^\d]+$/, '')
    return { word: null, cut: `${sign}${left.replace(/^[^\d.]+/, '')}${group}${right}` }
  }
  // The group has its unit, or is no number at all.
  if (!/[\d.]$/.test(group)) return { word: null, cut: null }
  const spaces = SPACES.exec(behind)?.[0].length ?? 0
  const word = WORD.exec(behind.slice(spaces))?.[0] ?? null
  return { word: word !== null && (spaces <= 1 || isUnit(word)) ? word : null, cut: null }
}

function startsInside(before: string, group: string): boolean {
  if (!/^[\d.,]/.test(group)) return false
  if (/\d$/.test(before) || /\d\.$/.test(before) || /(?:^|[\s=:([])\.$/.test(before)) return true
  if (/(?:^|[^\p{L}\d])0[xX]$/u.test(before)) return true
  if (LEADING_GROUPS.test(before.slice(0, -1)) && GROUP_OF_THREE.test(before.slice(-1) + group)) return true
  return SIGN.test(before)
}

function stopsInside(upTo: string, group: string, behind: string, comma: boolean): boolean {
  if (/\p{L}$/u.test(group)) return /\d/.test(group) && /^[\p{L}/]/u.test(behind)
  if (!/[\d.,]$/.test(group)) return false
  if (/^\d/.test(behind) || (/\d$/.test(group) && /^\.\d/.test(behind))) return true
  if (/^[eE][+-]?\d/.test(behind) || (/^[+-]?0$/.test(group) && /^[xX][\da-fA-F]/.test(behind))) return true
  if (comma && behind.startsWith(',')) return false
  if (DECIMALS.test(behind) && /(?:^|[^\d.,;])\d+$/.test(upTo)) return true
  return GROUP_OF_THREE.test(behind) && LEADING_GROUPS.test(upTo)
}

/** Whether the pattern has a comma, which it cannot do without, right behind its one group. */
export function namesComma(pattern: string): boolean {
  let open = 0
  let inClass = false
  let group = -1
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at]
    if (char === '\\') at++
    else if (inClass) inClass = char !== ']'
    else if (char === '[') inClass = true
    else if (char === '(') {
      open++
      const rest = pattern.slice(at + 1)
      if (group < 0 && (!rest.startsWith('?') || /^\?<[^=!]/.test(rest))) group = open
    } else if (char === ')') {
      if (open === group) return /^,(?![?*{])/.test(pattern.slice(at + 1))
      open--
    }
  }
  return false
}
