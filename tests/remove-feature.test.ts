/** A feature is removed with its folder and its lines in four lists. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { listFeatureUses } from '../scripts/figures/figures.ts';
import { getProgram } from '../scripts/tidy/layers.ts';
import { FEATURE_LISTS } from '../scripts/tidy/rules/features.ts';
import { readTree } from '../scripts/tidy/tree.ts';
import { root } from './support/checkout.ts';
import { copySource } from './support/extensions.ts';
import { testNightly } from './support/nightly.ts';
import { startTestService, type TestService } from './support/service.ts';

/** The features that nothing but the list names. */
function listRemovable(): readonly string[] {
  const uses = listFeatureUses(getProgram(readTree(root).sources));
  return [...uses]
    .filter(([, paths]) => paths.every((path) => FEATURE_LISTS.includes(path)))
    .map(([name]) => name);
}

/** Copies the sources without some features. */
function copyWithout(names: readonly string[]): string {
  const copy = copySource();
  const texts = FEATURE_LISTS.map((list) => readFileSync(join(copy, list), 'utf8')).join('');
  const constants = names.flatMap((name) =>
    [...texts.matchAll(new RegExp(`import \\{ (\\w+) \\} from '[./]+/features/${name}/`, 'g'))].map(
      ([, constant]) => constant!,
    ),
  );
  const isNamed = (line: string) =>
    constants.some((each) => new RegExp(`\\b${each}\\b`).test(line)) ||
    names.some((name) => line.includes(`/features/${name}/`));
  for (const list of FEATURE_LISTS) {
    const lines = readFileSync(join(copy, list), 'utf8').split('\n');
    writeFileSync(join(copy, list), lines.filter((line) => !isNamed(line)).join('\n'));
  }
  for (const name of names) rmSync(join(copy, 'src', 'features', name), { recursive: true });
  return copy;
}

async function decide({ url }: TestService, path: string, body: object): Promise<Record<string, unknown>> {
  const answer = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return (await answer.json()) as Record<string, unknown>;
}

const SECRET = { text: 'AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzzKEY' };
const TOOL_CALL = { tool: 'send_email', input: {}, agent_id: 'bot', source_agent_id: 'bot' };

const CONFIG = `policies:
  - { name: pay-asks, boundary: action, action: require_approval, condition: { tools: [pay] } }
`;

test('the service answers without removable features', async () => {
  const names = listRemovable();
  assert.ok(
    ['accounts', 'agent-blocks', 'capabilities', 'memory', 'tasks', 'tenants'].every((each) =>
      names.includes(each),
    ),
    `${names}`,
  );
  // `alerts` and `evidence`, which need `approvals`, are among them.
  const copy = copyWithout([...names, 'approvals']);
  const service = await startTestService({
    main: join(copy, 'src/entry/cli/main.ts'),
    config: CONFIG,
  });
  try {
    assert.equal((await fetch(`${service.url}/v1/health`)).status, 200);
    assert.notEqual((await decide(service, '/v1/guard/output', SECRET)).decision, 'allow');
    assert.equal((await decide(service, '/v1/intercept/tool', TOOL_CALL)).decision, 'allow');
    const pay = await decide(service, '/v1/intercept/tool', { ...TOOL_CALL, tool: 'pay' });
    assert.partialDeepStrictEqual(pay, { decision: 'block', rule: 'pay-asks' });
    assert.ok(!('approval' in pay));
    const withToken = { ...TOOL_CALL, capability_token_id: `svc_cap_${'0'.repeat(24)}_${'A'.repeat(43)}` };
    assert.partialDeepStrictEqual(await decide(service, '/v1/intercept/tool', withToken), {
      decision: 'block',
      rule: 'capability_token.unknown',
    });
    const inTask = { ...TOOL_CALL, context: { task_id: `tsk_${'0'.repeat(24)}` } };
    assert.partialDeepStrictEqual(await decide(service, '/v1/intercept/tool', inTask), {
      decision: 'block',
      rule: 'task.unknown',
    });
    // The agents' block list works without the feature that writes it.
    writeFileSync(join(service.state_dir, 'blocked-agents.json'), '["rogue"]', { mode: 0o600 });
    await sleep(500);
    const rogue = await decide(service, '/v1/intercept/tool', { ...TOOL_CALL, agent_id: 'rogue' });
    assert.partialDeepStrictEqual(rogue, { decision: 'block', rule: 'agent.blocked' });
    const removed = await fetch(`${service.url}/v1/memory/read`, { method: 'POST' });
    assert.equal(removed.status, 404);
    assert.equal((await fetch(`${service.url}/v1/auth/methods`)).status, 404);
  } finally {
    await service.stop();
    rmSync(copy, { recursive: true, force: true });
  }
});

/** A section of each feature that has one, with a setting that the whole program accepts. */
const SECTIONS: Readonly<Record<string, string>> = {
  accounts: 'auth: {sign_in: {link_ttl: 2h}}',
  advisors: 'intelligence: {enabled: false}',
  alerts: 'alerts: {channels: [{type: file, path: a.jsonl}]}',
  approvals: 'approvals: {pending_max: 5}',
  capabilities: 'capability_tokens: {max_ttl: 2h}',
  costs: 'cost: {budgets: [{name: all, limit_usd: 1}]}',
  'log-export': 'log_export: {timeout_ms: 500}',
  memory: 'memory: {agent_entries_max: 5}',
};

test('the section of a removed feature is an unknown key', () => {
  const names = Object.keys(SECTIONS);
  assert.deepEqual(
    readdirSync(join(root, 'src/features')).filter((name) =>
      existsSync(join(root, 'src/features', name, 'settings.ts')),
    ),
    names,
  );
  // `evidence` needs `approvals`.
  const copy = copyWithout([...names, 'evidence']);
  const validate = (tree: string, section: string) => {
    const path = join(copy, 'service.yaml');
    writeFileSync(path, `${section}\n`);
    const words = [join(tree, 'src/entry/cli/main.ts'), 'validate', '--config', path];
    return spawnSync(process.execPath, words, { encoding: 'utf8' });
  };
  try {
    for (const section of Object.values(SECTIONS)) {
      const refused = validate(copy, section);
      assert.equal(refused.status, 1, refused.stderr);
      assert.match(refused.stderr, new RegExp(`unknown key \`${section.split(':', 1)[0]}[\`.]`));
    }
    // Negative controls: the whole program accepts all of them, and the smaller one other sections.
    assert.equal(validate(root, Object.values(SECTIONS).join('\n')).status, 0);
    assert.equal(validate(copy, 'scan: {depth_max: 5}\nauth: {required: true}').status, 0);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
});

test('the program lacks only the commands of removed features', () => {
  const copy = copyWithout(['evidence', 'policy-versions', 'quality', 'tool-pins']);
  const run = (...words: string[]) =>
    spawnSync(process.execPath, [join(copy, 'src/entry/cli/main.ts'), ...words], { encoding: 'utf8' });
  try {
    const { stdout } = run('help');
    assert.match(stdout, /^ {2}cost /m);
    assert.doesNotMatch(stdout, /^ {2}(?:bench|wrong) /m);
    assert.match(run('mcp', '--help').stdout, /--gateway/);
    assert.equal(run('mcp', 'pins', 'show', 'files', 'read').status, 2);
    const pack = run('audit', 'verify', 'evidence.tar.gz');
    assert.equal(pack.status, 2, pack.stderr);
    assert.match(pack.stderr, /has no evidence packs/);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
});

/** Gateways, other features or `entry/cli/commands` name the other features' members and operations. */
const WITHOUT_COMMANDS = [
  'alerts',
  'costs',
  'policy-versions',
  'accounts',
  'agent-blocks',
  'allowlist',
  'api-keys',
  'capabilities',
  'evidence',
  'memory',
  'quality',
  'reported-decisions',
  'secrets',
  'tasks',
];

for (const name of WITHOUT_COMMANDS)
  testNightly(`the program compiles without ${name}`, {}, () => {
    const copy = copyWithout([name]);
    try {
      const config = join(copy, 'tsconfig.program.json');
      const extended = join(root, 'tsconfig.json');
      const include = [join(copy, 'src/**/*.ts')];
      const exclude = ['src/**/*.test.ts', 'src/**/testing/**'].map((each) => join(copy, each));
      writeFileSync(config, JSON.stringify({ extends: extended, include, exclude }));
      const compiler = join(root, 'node_modules/typescript/bin/tsc');
      const { status, stdout } = spawnSync(process.execPath, [compiler, '-p', config, '--noEmit'], {
        encoding: 'utf8',
      });
      assert.equal(status, 0, stdout);
    } finally {
      rmSync(copy, { recursive: true, force: true });
    }
  });
