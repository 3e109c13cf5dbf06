/** The command that runs each coding agent once, without a user and without its vendor's servers. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Stage {
  readonly home: string;
  readonly project: string;
  readonly model_url: string;
}

export interface Agent {
  /** The name in `customshouse setup`. */
  readonly name: string;
  /** Its main module in `node_modules`. No install script has run. */
  readonly main: string;
  /** `true` if its hooks can block a prompt. */
  readonly holds_prompts: boolean;
  /** The states that `customshouse doctor` reports for its hooks. */
  readonly doctor_says: readonly string[];
  readonly prepare?: (stage: Stage) => void;
  readonly args: (prompt: string) => readonly string[];
  readonly env: (stage: Stage) => Readonly<Record<string, string>>;
}

export const agents: readonly Agent[] = [
  {
    name: 'claude-code',
    main: '@anthropic-ai/claude-code/cli-wrapper.cjs',
    holds_prompts: true,
    doctor_says: ['ok'],
    args: (prompt) => ['-p', prompt, '--allowedTools', 'Bash'],
    env: ({ model_url }) => ({
      ANTHROPIC_BASE_URL: model_url,
      ANTHROPIC_API_KEY: 'none',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    }),
  },
  {
    name: 'codex',
    main: '@openai/codex/bin/codex.js',
    holds_prompts: true,
    // The hooks have not been trusted yet.
    doctor_says: ['warn'],
    prepare: ({ home, model_url }) => {
      const provider = `name = "own"\nbase_url = "${model_url}/v1"\nwire_api = "responses"\nenv_key = "OWN_KEY"\n`;
      mkdirSync(join(home, '.codex'), { recursive: true });
      writeFileSync(
        join(home, '.codex', 'config.toml'),
        `model = "gpt-5"\nmodel_provider = "own"\n\n[model_providers.own]\n${provider}`,
      );
    },
    args: (prompt) => [
      ...['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox'],
      // A user would trust the hooks with `/hooks`.
      ...['--dangerously-bypass-hook-trust', prompt],
    ],
    env: () => ({ OWN_KEY: 'none' }),
  },
  {
    name: 'gemini',
    main: '@google/gemini-cli/bundle/gemini.js',
    holds_prompts: true,
    doctor_says: ['ok'],
    prepare: ({ home }) => {
      const security = { auth: { selectedType: 'gemini-api-key' } };
      mkdirSync(join(home, '.gemini'), { recursive: true });
      writeFileSync(join(home, '.gemini', 'settings.json'), JSON.stringify({ security }, null, 2));
    },
    args: (prompt) => ['-m', 'gemini-2.5-flash', '--yolo', '--skip-trust', '-p', prompt],
    env: ({ model_url }) => ({
      GEMINI_API_KEY: 'none',
      GOOGLE_GEMINI_BASE_URL: model_url,
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
    }),
  },
  {
    name: 'copilot',
    main: '@github/copilot/npm-loader.js',
    holds_prompts: false,
    // The hook for prompts is called, but cannot deny.
    doctor_says: ['ok', 'warn'],
    args: (prompt) => ['--allow-all', '-p', prompt],
    env: ({ model_url }) => ({
      COPILOT_OFFLINE: 'true',
      COPILOT_AUTO_UPDATE: 'false',
      COPILOT_PROVIDER_BASE_URL: `${model_url}/v1`,
      COPILOT_MODEL: 'gpt-5-mini',
    }),
  },
];
