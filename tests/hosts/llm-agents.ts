/**
 * The command that runs each coding agent once against an LLM proxy, without a user and without its vendor's servers.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export interface LlmStage {
  readonly home: string;
  readonly project: string;
  /** The URL of the service. */
  readonly url: string;
}

/** A program that the agent starts as an MCP server. */
export interface McpProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface LlmAgent {
  readonly name: string;
  /** Its main module in `node_modules`. No install script has run. */
  readonly main: string;
  readonly is_binary?: true;
  /** The number of model calls for a plain answer, including those for the titles of conversations. */
  readonly calls: number;
  /** The maximum number of times that it sends a blocked prompt. */
  readonly asks_max: number;
  /** Its tool that runs commands. */
  readonly tool: { readonly name: string; readonly key: string };
  readonly prepare?: (stage: LlmStage) => void;
  /** Configures the MCP server `notes`. Returns further arguments. */
  readonly addMcp: (stage: LlmStage, program: McpProgram) => readonly string[];
  /** Stops processes that its runs leave behind. */
  readonly stop?: (stage: LlmStage) => void;
  readonly args: (prompt: string) => readonly string[];
  readonly env: (stage: LlmStage) => Readonly<Record<string, string>>;
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** Adds members to a JSON file, which is created if it is missing. */
function addTo(file: string, members: object): void {
  const before = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as object) : {};
  write(file, JSON.stringify({ ...before, ...members }));
}

export const llmAgents: readonly LlmAgent[] = [
  {
    name: 'Claude Code',
    main: '@anthropic-ai/claude-code/cli-wrapper.cjs',
    calls: 1,
    // At any 400 it omits one optional feature after the other, and retries without it.
    asks_max: 6,
    tool: { name: 'Bash', key: 'command' },
    addMcp: ({ home }, notes) => {
      const file = join(home, 'mcp.json');
      write(file, JSON.stringify({ mcpServers: { notes } }));
      return ['--mcp-config', file, '--strict-mcp-config', '--allowedTools', 'mcp__notes'];
    },
    args: (prompt) => ['-p', prompt, '--allowedTools', 'Bash'],
    env: ({ url }) => ({
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: 'none',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      // Each request has the MCP tool definitions.
      ENABLE_TOOL_SEARCH: 'false',
      // The first request waits for the MCP server.
      MCP_CONNECTION_NONBLOCKING: 'false',
      MCP_CONNECT_TIMEOUT_MS: '60000',
    }),
  },
  {
    name: 'Codex',
    main: '@openai/codex/bin/codex.js',
    calls: 1,
    asks_max: 1,
    tool: { name: 'exec_command', key: 'cmd' },
    prepare: ({ home, url }) => {
      const provider = `name = "own"\nbase_url = "${url}/v1"\nwire_api = "responses"\nenv_key = "OWN_KEY"\n`;
      const chosen = 'model = "gpt-5"\nmodel_provider = "own"\n\n';
      write(join(home, '.codex', 'config.toml'), `${chosen}[model_providers.own]\n${provider}`);
    },
    addMcp: ({ home }, { command, args, env }) => {
      const file = join(home, '.codex', 'config.toml');
      const variables = Object.entries(env).map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
      const started = `command = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args)}\nstartup_timeout_sec = 60\nrequired = true\n`;
      const table = `\n[mcp_servers.notes]\n${started}env = { ${variables.join(', ')} }\n`;
      write(file, readFileSync(file, 'utf8') + table);
      return [];
    },
    args: (prompt) => ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', prompt],
    env: () => ({ OWN_KEY: 'none' }),
  },
  {
    name: 'Gemini CLI',
    main: '@google/gemini-cli/bundle/gemini.js',
    calls: 1,
    asks_max: 1,
    tool: { name: 'run_shell_command', key: 'command' },
    prepare: ({ home }) => {
      const security = { auth: { selectedType: 'gemini-api-key' } };
      write(join(home, '.gemini', 'settings.json'), JSON.stringify({ security }));
    },
    addMcp: ({ home }, program) => {
      const notes = { ...program, trust: true };
      addTo(join(home, '.gemini', 'settings.json'), { mcpServers: { notes } });
      return [];
    },
    args: (prompt) => ['-m', 'gemini-2.5-flash', '--yolo', '--skip-trust', '-p', prompt],
    env: ({ url }) => ({
      GEMINI_API_KEY: 'none',
      GOOGLE_GEMINI_BASE_URL: url,
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
    }),
  },
  {
    name: 'Copilot CLI',
    main: '@github/copilot/npm-loader.js',
    calls: 1,
    asks_max: 1,
    tool: { name: 'bash', key: 'command' },
    addMcp: ({ home }, program) => {
      const notes = { type: 'local', tools: ['*'], ...program };
      addTo(join(home, '.copilot', 'mcp-config.json'), { mcpServers: { notes } });
      return [];
    },
    args: (prompt) => ['--allow-all', '-p', prompt],
    env: ({ url }) => ({
      COPILOT_OFFLINE: 'true',
      COPILOT_AUTO_UPDATE: 'false',
      COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
      COPILOT_MODEL: 'gpt-5-mini',
    }),
  },
  {
    name: 'Qwen Code',
    main: '@qwen-code/qwen-code/cli-entry.js',
    // The model also names the conversation.
    calls: 2,
    asks_max: 1,
    tool: { name: 'run_shell_command', key: 'command' },
    prepare: ({ home }) => {
      const security = { auth: { selectedType: 'openai' } };
      // Each request has the MCP tool definitions.
      const tools = { toolSearch: { enabled: false } };
      write(join(home, '.qwen', 'settings.json'), JSON.stringify({ security, tools, $version: 4 }));
    },
    addMcp: ({ home }, program) => {
      const notes = { ...program, trust: true };
      addTo(join(home, '.qwen', 'settings.json'), { mcpServers: { notes } });
      return [];
    },
    args: (prompt) => ['--yolo', '-p', prompt],
    env: ({ url }) => ({
      OPENAI_BASE_URL: `${url}/v1`,
      OPENAI_API_KEY: 'none',
      OPENAI_MODEL: 'qwen3-coder',
    }),
  },
  {
    name: 'opencode',
    main: 'opencode-linux-x64/bin/opencode',
    is_binary: true,
    calls: 2,
    asks_max: 2,
    tool: { name: 'bash', key: 'command' },
    prepare: ({ project, url }) => {
      const models = { m: { name: 'm', tool_call: true, limit: { context: 100_000, output: 4_000 } } };
      const options = { baseURL: `${url}/v1`, apiKey: 'none' };
      const own = { npm: '@ai-sdk/openai-compatible', name: 'own', options, models };
      const settings = { share: 'disabled', autoupdate: false, permission: { bash: 'allow', edit: 'allow' } };
      const config = { ...settings, provider: { own }, model: 'own/m', small_model: 'own/m' };
      write(join(project, 'opencode.json'), JSON.stringify(config));
    },
    addMcp: ({ project }, { command, args, env: environment }) => {
      const notes = {
        type: 'local',
        command: [command, ...args],
        environment,
        enabled: true,
        timeout: 60_000,
      };
      addTo(join(project, 'opencode.json'), { mcp: { notes } });
      return [];
    },
    args: (prompt) => ['run', prompt],
    env: ({ home }) => ({
      XDG_CONFIG_HOME: join(home, '.config'),
      XDG_DATA_HOME: join(home, '.local', 'share'),
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    }),
  },
  {
    name: 'Cline',
    main: '@cline/cli-linux-x64/bin/cline',
    is_binary: true,
    calls: 1,
    asks_max: 1,
    tool: { name: 'execute_command', key: 'command' },
    prepare: ({ home, url }) => {
      const own = { provider: 'openai-compatible', apiKey: 'none', model: 'm', baseUrl: `${url}/v1` };
      const providers = {
        'openai-compatible': { settings: own, updatedAt: new Date().toISOString(), tokenSource: 'manual' },
      };
      const saved = { version: 1, lastUsedProvider: 'openai-compatible', modes: {}, providers };
      write(join(home, '.cline', 'data', 'settings', 'providers.json'), JSON.stringify(saved));
    },
    addMcp: ({ home }, program) => {
      const notes = { transport: { type: 'stdio', ...program }, disabled: false, timeout: 60 };
      addTo(join(home, '.cline', 'data', 'settings', 'cline_mcp_settings.json'), { mcpServers: { notes } });
      return [];
    },
    args: (prompt) => ['-P', 'openai-compatible', '-m', 'm', '--json', prompt],
    env: () => ({ CLINE_TELEMETRY_DISABLED: '1' }),
    // It leaves a process behind that serves its next start.
    stop: ({ home }) => {
      const lock = join(home, '.cline', 'data', 'locks', 'hub', 'production.json');
      if (existsSync(lock)) process.kill((JSON.parse(readFileSync(lock, 'utf8')) as { pid: number }).pid);
    },
  },
];
