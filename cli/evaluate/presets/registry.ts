/** The tools whose output is read as it is. Validation, proposals, the guide and the tests read them from here. Pure. */
import { catch2 } from './catch2.ts'
import { criterion } from './criterion.ts'
import { gnuTime } from './gnu-time.ts'
import { goTestBench } from './go-test-bench.ts'
import { googleBenchmark } from './google-benchmark.ts'
import { hyperfine } from './hyperfine.ts'
import { jmh } from './jmh.ts'
import { k6 } from './k6.ts'
import { lighthouse } from './lighthouse.ts'
import { mitata } from './mitata.ts'
import type { OutputPlace, Preset } from './preset.ts'
import { pytestBenchmark } from './pytest-benchmark.ts'
import { vitestBench } from './vitest-bench.ts'

const ALL = [
  hyperfine,
  pytestBenchmark,
  googleBenchmark,
  criterion,
  goTestBench,
  vitestBench,
  mitata,
  jmh,
  k6,
  lighthouse,
  gnuTime,
  catch2,
] as const

export type PresetName = (typeof ALL)[number]['name']

export const PRESETS: readonly Preset<PresetName>[] = ALL
export const PRESET_NAMES: readonly PresetName[] = ALL.map(({ name }) => name)

export const presetOf = (name: PresetName): Preset<PresetName> => {
  const found = PRESETS.find((preset) => preset.name === name)
  if (!found) throw new Error(`there is no preset ${name}`)
  return found
}

export type Texts = Record<OutputPlace, string | null>

/** The tool whose output is there, and where; null when none is known. */
export function recognise(texts: Texts): { preset: Preset<PresetName>; hint: string | null } | null {
  for (const preset of PRESETS)
    for (const place of preset.places) {
      const text = texts[place]
      if (text !== null && preset.recognises(text)) return { preset, hint: null }
    }
  for (const preset of PRESETS) {
    const { instead } = preset
    if (!instead) continue
    if (Object.values(texts).some((text) => text !== null && instead.recognises(text)))
      return { preset, hint: instead.hint }
  }
  return null
}
