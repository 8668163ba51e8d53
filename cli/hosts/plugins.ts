/** How each agent program takes a plugin or loose skills; all of this was seen with the versions in the guide to hosts. */
import { homedir } from 'node:os'
import { join } from 'node:path'

export type Scope = 'user' | 'project'

/** What a host's own plugin commands leave behind although they removed everything that we asked for. */
export interface PluginTrace {
  /** A folder of ours, absolute; gone after uninstall if it was not there before. */
  folder?: string
  /** A configuration of the host, absolute; entries of ours in it, and what holds nothing else. */
  file?: string
  /** Keys at the top of a JSON file. */
  keys?: readonly string[]
}

export interface PluginCommands {
  /** In which scopes; the others get copied skills. */
  scopes: readonly Scope[]
  install: (folder: string, scope: Scope) => string[][]
  uninstall: (folder: string, scope: Scope) => string[][]
  list: (scope: Scope) => string[]
  /** In the output of `list`: the plugin is there. */
  listed: RegExp
  traces: (env: NodeJS.ProcessEnv, scope: Scope, project: string) => PluginTrace[]
}

export interface PluginHost {
  program: string
  plugin: PluginCommands | null
  /** Where a folder for each skill is looked for. */
  skills: { user: (env: NodeJS.ProcessEnv) => string; project: string }
  /** How a person calls the skill, from the plugin and from a copy. */
  call: { plugin: string; copied: string }
  /** What to allow, so that it does not ask for every command. */
  permissions: readonly string[]
}

const home = (env: NodeJS.ProcessEnv): string => env.HOME || homedir()
const claude = (env: NodeJS.ProcessEnv): string => env.CLAUDE_CONFIG_DIR || join(home(env), '.claude')
const codex = (env: NodeJS.ProcessEnv): string => env.CODEX_HOME || join(home(env), '.codex')
const pi = (env: NodeJS.ProcessEnv): string => env.PI_CODING_AGENT_DIR || join(home(env), '.pi', 'agent')
const xdgConfig = (env: NodeJS.ProcessEnv): string => env.XDG_CONFIG_HOME || join(home(env), '.config')
const ASK = 'allow the shell command assay when it asks'
const MARKET_KEYS = ['enabledPlugins', 'extraKnownMarketplaces']

/** One entry each, in the order in which they are listed. */
const PLUGIN_HOSTS = {
  'claude-code': {
    program: 'claude',
    plugin: {
      scopes: ['user', 'project'],
      // `local`: the path in it means nothing on another machine, so it must not be committed.
      install: (folder, scope) => [
        ['claude', 'plugin', 'marketplace', 'add', folder, '--scope', claudeScope(scope)],
        ['claude', 'plugin', 'install', 'assay@assay', '--scope', claudeScope(scope)],
      ],
      uninstall: (_, scope) => [
        ['claude', 'plugin', 'uninstall', 'assay@assay', '--scope', claudeScope(scope)],
        ['claude', 'plugin', 'marketplace', 'remove', 'assay', '--scope', claudeScope(scope)],
      ],
      list: () => ['claude', 'plugin', 'list', '--json'],
      listed: /assay@assay/,
      traces: (env, scope, project) => [
        { folder: join(claude(env), 'plugins', 'cache', 'assay') },
        scope === 'user'
          ? { file: join(claude(env), 'settings.json'), keys: MARKET_KEYS }
          : { file: join(project, '.claude', 'settings.local.json'), keys: MARKET_KEYS },
      ],
    },
    skills: { user: (env) => join(claude(env), 'skills'), project: '.claude/skills' },
    call: { plugin: '/assay:discover', copied: '/assay-discover' },
    permissions: [
      'in ~/.claude/settings.json, or .claude/settings.json of a folder that you trust: "permissions": { "allow": ["Bash(assay *)", "Edit(.assay/w/**)", "Workflow"] }',
      'headless: claude --allowedTools "Bash(assay *),Edit(.assay/w/**),Workflow"',
    ],
  },
  codex: {
    program: 'codex',
    plugin: {
      scopes: ['user'],
      install: (folder) => [
        ['codex', 'plugin', 'marketplace', 'add', folder],
        ['codex', 'plugin', 'add', 'assay@assay'],
      ],
      uninstall: () => [
        ['codex', 'plugin', 'remove', 'assay@assay'],
        ['codex', 'plugin', 'marketplace', 'remove', 'assay'],
      ],
      list: () => ['codex', 'plugin', 'list'],
      listed: /assay@assay\s+installed/,
      traces: (env) => [
        { folder: join(codex(env), 'plugins', 'cache', 'assay') },
        { file: join(codex(env), 'config.toml') },
      ],
    },
    skills: { user: (env) => join(codex(env), 'skills'), project: '.codex/skills' },
    call: { plugin: '$assay:discover', copied: '$assay-discover' },
    permissions: [ASK],
  },
  opencode: {
    program: 'opencode',
    plugin: null,
    skills: { user: (env) => join(xdgConfig(env), 'opencode', 'skills'), project: '.opencode/skills' },
    call: { plugin: '', copied: 'use the skill assay-discover' },
    permissions: ['in opencode.json: "permission": { "bash": { "*": "ask", "assay *": "allow" } }'],
  },
  pi: {
    program: 'pi',
    plugin: {
      scopes: ['user'],
      install: (folder) => [['pi', 'install', folder]],
      uninstall: (folder) => [['pi', 'remove', folder]],
      list: () => ['pi', 'list'],
      listed: /assay[/\\]installs[/\\]pi/,
      traces: (env) => [{ file: join(pi(env), 'settings.json'), keys: ['packages'] }],
    },
    skills: { user: (env) => join(pi(env), 'skills'), project: '.pi/skills' },
    call: { plugin: '/skill:discover', copied: '/skill:assay-discover' },
    permissions: ['none: pi asks for nothing'],
  },
  gemini: {
    program: 'gemini',
    // Its command to install an extension has to trust the folder first, and leaves that behind.
    plugin: null,
    skills: { user: (env) => join(home(env), '.gemini', 'skills'), project: '.gemini/skills' },
    call: { plugin: '', copied: 'use the skill assay-discover' },
    permissions: [ASK],
  },
  qwen: {
    program: 'qwen',
    plugin: {
      scopes: ['user'],
      install: (folder) => [['qwen', 'extensions', 'install', `${folder}:assay`, '--consent']],
      uninstall: () => [['qwen', 'extensions', 'uninstall', 'assay']],
      list: () => ['qwen', 'extensions', 'list'],
      listed: /\bassay\b/,
      traces: (env) => {
        const extensions = join(home(env), '.qwen', 'extensions')
        return [
          { folder: join(extensions, 'assay') },
          { file: join(extensions, 'extension-enablement.json'), keys: ['assay'] },
        ]
      },
    },
    skills: { user: (env) => join(home(env), '.qwen', 'skills'), project: '.qwen/skills' },
    call: { plugin: 'use the skill discover', copied: 'use the skill assay-discover' },
    permissions: [ASK],
  },
  copilot: {
    program: 'copilot',
    plugin: {
      scopes: ['user'],
      install: (folder) => [
        ['copilot', 'plugin', 'marketplace', 'add', folder],
        ['copilot', 'plugin', 'install', 'assay@assay'],
      ],
      uninstall: () => [
        ['copilot', 'plugin', 'uninstall', 'assay@assay'],
        ['copilot', 'plugin', 'marketplace', 'remove', 'assay'],
      ],
      list: () => ['copilot', 'plugin', 'list'],
      listed: /assay@assay .*\(enabled\)/,
      traces: (env) => [{ file: join(home(env), '.copilot', 'settings.json'), keys: MARKET_KEYS }],
    },
    skills: { user: (env) => join(home(env), '.copilot', 'skills'), project: '.github/skills' },
    call: { plugin: '/assay:discover', copied: '/assay-discover' },
    permissions: ["copilot --allow-tool 'shell(assay:*)'"],
  },
} satisfies Record<string, PluginHost>

export type PluginHostName = keyof typeof PLUGIN_HOSTS
export const pluginHostNames = Object.keys(PLUGIN_HOSTS) as PluginHostName[]
export const pluginHost = (name: PluginHostName): PluginHost => PLUGIN_HOSTS[name]

function claudeScope(scope: Scope): string {
  return scope === 'project' ? 'local' : 'user'
}
