/** The machine of a measurement, as the page names its parts. Pure. */
import type { Machine } from '../ledger/events.ts'
import { plain } from '../text.ts'

const said = (text: string): string => plain(text, 80)

export const machineFacts = ({ os, cpu, cores, memory_gb, governor, microcode, libc, node }: Machine) => ({
  kernel: said(os),
  processor: said(cpu),
  cores: String(cores),
  memory: `${memory_gb} GB`,
  governor: governor === undefined ? null : said(governor),
  microcode: microcode === undefined ? null : said(microcode),
  libc: libc === undefined ? null : said(libc),
  'Node of the CLI': said(node),
})
