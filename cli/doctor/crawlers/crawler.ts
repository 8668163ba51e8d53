import { STATE_FOLDER } from '../../paths.ts'
import type { Project } from './project.ts'

/** What is known of one tool in one folder. */
export interface Crawling {
  /** The file by which it was noticed. */
  config: string
  /** Whether it would go into the state folder; null: it depends on what this cannot see. */
  walks: boolean | null
  /** Whether it leaves out what `.git/info/exclude` names; null: not known for certain. */
  follows_exclude: boolean | null
  why: string
  /** What to write, and where. The folder is anchored to the root: worktrees of experiments lie below it. */
  ignore: { file: string; line: string }
}

export interface Crawler {
  tool: string
  /** null when the folder does not use the tool. */
  find(project: Project): Crawling | null
}

/** The name of the state folder, for lines that are shown to people. */
export const STATE = STATE_FOLDER

/** Whether a text that configures a tool speaks of the folder. A comment that does so is taken at its word. */
export const mentions = (text: string): boolean => text.includes(STATE_FOLDER)
