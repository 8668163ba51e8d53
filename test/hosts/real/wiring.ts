/** How each real program is made to talk to a scripted model: dummy keys, a fresh home, loopback only. */
import type { ProgramName } from '../../../cli/hosts/registry.ts'
import type { Files } from '../../rig/repo.ts'

export interface Wiring {
  /** The model of most calls, and of hard ones, in the program's own words. */
  models: { plain: string; strong: string }
  env: (url: string, home: string) => Record<string, string>
  /** In its home. */
  files?: (url: string) => Files
  /** How its model writes a file. */
  write: (path: string, text: string) => { tool: string; input: Record<string, unknown> }
  /** How its model starts a command; null = with `safe` it has no shell. */
  shell: ((command: string) => { tool: string; input: Record<string, unknown> }) | null
  /** It asks by itself again when the provider says so, and for ever; then other words are needed for an error. */
  patient?: true
  /** Whether `safe` keeps it from writing outside of its folder. */
  fenced: boolean
}

const OPEN_MODELS = { plain: 'plain-model', strong: 'strong-model' }
const SCRIPTED = { plain: 'scripted/plain-model', strong: 'scripted/strong-model' }

export const WIRINGS: Record<ProgramName, Wiring> = {
  'claude-code': {
    models: { plain: 'claude-sonnet-4-5', strong: 'claude-opus-4-5' },
    env: (url) => ({
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: 'dummy',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    }),
    write: (file_path, content) => ({ tool: 'Write', input: { file_path, content } }),
    shell: (command) => ({ tool: 'Bash', input: { command, description: 'read' } }),
    fenced: true,
  },
  codex: {
    models: OPEN_MODELS,
    env: (_url, home) => ({ CODEX_HOME: `${home}/.codex`, SCRIPTED_KEY: 'dummy' }),
    files: (url) => ({
      '.codex/config.toml': `model_provider = "scripted"
[model_providers.scripted]
name = "scripted"
base_url = "${url}/v1"
env_key = "SCRIPTED_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
`,
    }),
    write: (path, text) => ({ tool: 'exec_command', input: { cmd: `printf '%s' '${text}' > '${path}'` } }),
    shell: (cmd) => ({ tool: 'exec_command', input: { cmd } }),
    fenced: true,
  },
  copilot: {
    models: OPEN_MODELS,
    env: (url) => ({
      COPILOT_OFFLINE: 'true',
      COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
      COPILOT_PROVIDER_API_KEY: 'dummy',
    }),
    write: (path, file_text) => ({ tool: 'create', input: { path, file_text } }),
    shell: (command) => ({ tool: 'bash', input: { command, description: 'read' } }),
    fenced: true,
  },
  gemini: {
    models: { plain: 'gemini-2.5-flash', strong: 'gemini-2.5-pro' },
    env: (url) => ({ GEMINI_API_KEY: 'dummy', GOOGLE_GEMINI_BASE_URL: url }),
    files: () => ({
      '.gemini/settings.json': JSON.stringify({
        security: { auth: { selectedType: 'gemini-api-key' } },
        privacy: { usageStatisticsEnabled: false },
        general: { disableAutoUpdate: true, enableAutoUpdate: false },
        telemetry: { enabled: false },
      }),
    }),
    write: (file_path, content) => ({ tool: 'write_file', input: { file_path, content } }),
    shell: (command) => ({ tool: 'run_shell_command', input: { command, description: 'read' } }),
    fenced: true,
  },
  opencode: {
    models: SCRIPTED,
    env: (url) => ({
      OPENCODE_CONFIG_CONTENT: JSON.stringify({
        small_model: SCRIPTED.plain,
        provider: {
          scripted: {
            npm: '@ai-sdk/openai-compatible',
            options: { baseURL: `${url}/v1`, apiKey: 'dummy' },
            models: Object.fromEntries(
              Object.values(OPEN_MODELS).map((id) => [
                id,
                { name: id, limit: { context: 200_000, output: 8000 }, cost: { input: 1, output: 2 } },
              ]),
            ),
          },
        },
      }),
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    }),
    write: (filePath, content) => ({ tool: 'write', input: { filePath, content } }),
    patient: true,
    shell: (command) => ({ tool: 'bash', input: { command, description: 'read' } }),
    fenced: true,
  },
  pi: {
    models: SCRIPTED,
    env: () => ({ PI_OFFLINE: '1', PI_TELEMETRY: '0' }),
    files: (url) => ({
      '.pi/agent/models.json': JSON.stringify({
        providers: {
          scripted: {
            baseUrl: `${url}/v1`,
            api: 'openai-completions',
            apiKey: 'dummy',
            models: Object.values(OPEN_MODELS).map((id) => ({
              id,
              contextWindow: 200_000,
              maxTokens: 8000,
              cost: { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 },
            })),
          },
        },
      }),
    }),
    write: (path, content) => ({ tool: 'write', input: { path, content } }),
    shell: null,
    fenced: false,
  },
  qwen: {
    models: OPEN_MODELS,
    env: (url) => ({ OPENAI_API_KEY: 'dummy', OPENAI_BASE_URL: `${url}/v1` }),
    files: () => ({
      '.qwen/settings.json': JSON.stringify({
        security: { auth: { selectedType: 'openai' } },
        privacy: { usageStatisticsEnabled: false },
        general: { disableAutoUpdate: true, enableAutoUpdate: false },
        telemetry: { enabled: false },
      }),
    }),
    write: (file_path, content) => ({ tool: 'write_file', input: { file_path, content } }),
    shell: (command) => ({
      tool: 'run_shell_command',
      input: { command, is_background: false, description: 'read' },
    }),
    fenced: false,
  },
}
