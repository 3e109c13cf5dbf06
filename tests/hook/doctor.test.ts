/** `./service doctor` on installed hooks: working ones, and ones that are broken in some way. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { codingAgents } from '../../src/coding-agents/coding-agents.ts';
import { formatHookCommand, quoteArg } from '../../src/coding-agents/record/hook-command.ts';

const service = resolve(import.meta.dirname, '../../service');
const top = mkdtempSync(join(tmpdir(), 'doctor it s-'));
after(() => rmSync(top, { recursive: true, force: true, maxRetries: 5 }));
/** A project and a home folder with spaces in their paths, which have to be quoted. */
interface Desk {
  readonly project: string;
  readonly home: string;
}

let desk_count = 0;
function newDesk(config = '{}\n'): Desk {
  desk_count += 1;
  const desk = { project: join(top, `${desk_count} project`), home: join(top, `${desk_count} home`) };
  for (const folder of [desk.project, desk.home]) mkdirSync(folder);
  writeFileSync(join(desk.project, 'service.yaml'), config);
  return desk;
}

interface DoctorCase {
  readonly coding_agent: string;
  readonly events?: readonly string[];
  /** Changes each hook entry in the agent's file. */
  readonly entry?: (entry: Record<string, unknown>) => void;
  /** Changes the whole file. */
  readonly document?: (document: Record<string, unknown>) => void;
  readonly scope?: 'project' | 'user';
}

/** Installs hooks as setup does, with the changes of a test, and returns the file. */
function enter(
  { project, home }: Desk,
  { coding_agent: name, events, entry, document, scope = 'project' }: DoctorCase,
): string {
  const { settings } = codingAgents.find((each) => each.name === name)!;
  const file = settings.targets({ project, home, env: {} }).find((place) => place.scope === scope)!.path;
  const hooks: Record<string, unknown[]> = {};
  for (const wanted of settings.wanted_hooks) {
    if (events !== undefined && !events.includes(wanted.event)) continue;
    const command = formatHookCommand({
      program: [service],
      config: join(project, 'service.yaml'),
      dialect: name,
      event: settings.needs_event ? wanted.event : null,
      guards_exit: settings.guards_exit,
    });
    const made = structuredClone(settings.hook_format.entry(wanted, command)) as Record<string, unknown>;
    const inner = Array.isArray(made.hooks) ? (made.hooks[0] as Record<string, unknown>) : made;
    entry?.(inner);
    if (inner.matcher !== undefined && inner !== made) {
      made.matcher = inner.matcher;
      delete inner.matcher;
    }
    hooks[wanted.event] = [made];
  }
  const whole = { ...settings.required_keys, hooks };
  document?.(whole);
  write(file, JSON.stringify(whole));
  return file;
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

interface Diagnosis {
  readonly status: string;
  readonly checks: readonly {
    readonly status: string;
    readonly name: string;
    readonly coding_agent: string | null;
    readonly event: string | null;
    readonly message: string;
    readonly next: string | null;
  }[];
  readonly sessions: readonly Record<string, unknown>[];
  readonly tried_count: number;
  readonly blocking_count: number;
}

interface DoctorRun {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
}

async function run(desk: Desk, words: readonly string[], stdin = ''): Promise<DoctorRun> {
  const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, HOME: desk.home, SERVICE_HOOK_DAEMON: 'off' };
  const child = spawn(service, words, { cwd: desk.project, env });
  const told = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      told[name] += text;
    });
  child.stdin.on('error', () => {});
  child.stdin.end(stdin);
  const [code] = (await once(child, 'close')) as [number | null];
  return { ...told, code };
}

async function diagnose(
  desk: Desk,
  ...words: readonly string[]
): Promise<Diagnosis & { readonly code: number }> {
  const { stdout, stderr, code } = await run(desk, ['doctor', '--json', ...words]);
  assert.equal(stderr, '');
  return { ...(JSON.parse(stdout) as Diagnosis), code: code! };
}

/** Lists the checks that do not pass: `fail hook.blocks PreToolUse`. */
function complaints({ checks }: Diagnosis): string[] {
  return checks
    .filter(({ status }) => status !== 'ok')
    .map(({ status, name, event }) => `${status} ${name}${event === null ? '' : ` ${event}`}`)
    .sort();
}

const FIRST = {
  'claude-code': 'PreToolUse',
  codex: 'PreToolUse',
  gemini: 'BeforeTool',
  copilot: 'preToolUse',
};

test('working hooks of every agent are reported to block, and their probes are in the audit log', async () => {
  const desk = newDesk();
  const files = new Map(codingAgents.map(({ name }) => [name, enter(desk, { coding_agent: name })]));
  const keys = ['pre_tool_use', 'post_tool_use', 'permission_request', 'user_prompt_submit'].map(
    (event) => `[hooks.state."${files.get('codex')}:${event}:0:0"]\ntrusted_hash = "sha256:0"\n`,
  );
  write(
    join(desk.home, '.codex/config.toml'),
    `${keys.join('')}[projects."${desk.project}"]\ntrust_level = "trusted"\n`,
  );
  const diagnosis = await diagnose(desk);
  assert.deepEqual(complaints(diagnosis), ['warn hook.blocks userPromptSubmitted', 'warn sessions.read']);
  const { status, code, tried_count, blocking_count, sessions } = diagnosis;
  assert.deepEqual([status, code, tried_count, blocking_count, sessions], ['warn', 0, 23, 22, []]);
  const trail = await run(desk, ['logs', '--json', '--last', '1h', '--tail', '1000']);
  const events = trail.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown> & { metadata: Record<string, unknown> });
  assert.equal(
    events.length,
    22 * 2 + 1 + 2,
    'two for each hook; one more for a file, one less where nothing is decided',
  );
  for (const { decision, session_id, metadata } of events) {
    assert.deepEqual([decision, session_id], ['allow', null]);
    assert.match(String(metadata.probe), /^service-doctor-[0-9a-f]{16}$/);
  }
  assert.match((await run(desk, ['observe', 'sessions', '--json'])).stdout, /"sessions":\[\]/);
});

test('the report for users has the same findings, with the fixes', async () => {
  const desk = newDesk();
  enter(desk, { coding_agent: 'claude-code', events: ['UserPromptSubmit'] });
  const { stdout, code } = await run(desk, ['doctor', '--coding-agent', 'claude-code', '--scope', 'project']);
  assert.equal(code, 1);
  assert.match(stdout, /^Program\n {2}ok {4}Version /);
  assert.match(stdout, /ok {4}UserPromptSubmit: It blocks, and allows a harmless call\./);
  assert.match(
    stdout,
    /fail {2}PreToolUse: No hook is installed for PreToolUse\..*\n {8}Run `.*service setup claude-code --scope project` again\./,
  );
  assert.match(stdout, /\n1 hook tested, 1 blocks; 1 failure, 2 warnings\.\n$/);
  assert.ok(!stdout.includes('\u001b'), 'no colours without a terminal');
});

test('a missing hook is reported, and is a failure for an agent that was named', async () => {
  const desk = newDesk();
  const without_agents = await diagnose(desk);
  assert.deepEqual([without_agents.code, complaints(without_agents)], [0, ['warn coding_agent.installed']]);
  const asked = await diagnose(desk, '--coding-agent', 'gemini');
  assert.deepEqual([asked.code, complaints(asked)], [1, ['fail coding_agent.installed']]);
  assert.equal((await run(desk, ['doctor', '--coding-agent', 'emacs'])).code, 2);
  assert.equal((await run(desk, ['doctor', '--since', 'yesterday'])).code, 2);
  const invalid = newDesk('policies: [{ name: a, boundary: sideways }]\n');
  assert.deepEqual(complaints(await diagnose(invalid)), ['fail config.valid', 'warn coding_agent.installed']);
});

/** Creates a program with our name that answers differently. */
function stub(desk: Desk, script: string): string {
  const file = join(desk.project, 'bin', 'service');
  write(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  return quoteArg(file);
}

/** Returns the arguments of a hook. */
function words({ project }: Desk): string {
  return `hook --config ${quoteArg(join(project, 'service.yaml'))}`;
}

interface Broken {
  readonly name: string;
  readonly coding_agent: keyof typeof FIRST;
  readonly config?: string;
  readonly entry?: (entry: Record<string, unknown>, desk: Desk) => void;
  readonly document?: (document: Record<string, unknown>) => void;
  readonly before?: (desk: Desk, file: string) => void;
  readonly found: readonly string[];
  readonly says?: RegExp;
}

const EVENTS_MISSING = {
  'claude-code': ['PermissionRequest', 'PostToolUse', 'UserPromptSubmit'],
  codex: ['PermissionRequest', 'PostToolUse', 'UserPromptSubmit'],
  gemini: ['AfterTool', 'BeforeAgent'],
  copilot: ['permissionRequest', 'postToolUse', 'userPromptSubmitted'],
};

function getCommand(entry: Record<string, unknown>, change: (command: string) => string): void {
  const key = entry.bash === undefined ? 'command' : 'bash';
  entry[key] = change(String(entry[key]));
}

const BROKEN: readonly Broken[] = [
  {
    name: 'a program that is not there lets everything through',
    coding_agent: 'claude-code',
    entry: (entry, desk) => getCommand(entry, () => `/nowhere/service ${words(desk)}`),
    found: ['fail hook.blocks', 'fail hook.program'],
    says: /NOT block: its program is not found \(exit code 127\), and the agent continues/,
  },
  {
    name: 'or stops everything, where the entry sees to that',
    coding_agent: 'claude-code',
    entry: (entry) => getCommand(entry, (command) => command.replace(quoteArg(service), '/nowhere/service')),
    found: ['fail hook.passes', 'fail hook.program'],
    says: /does not allow a harmless call: it denied the call/,
  },
  {
    name: 'at Copilot a program that is not there stops everything',
    coding_agent: 'copilot',
    entry: (entry, desk) => getCommand(entry, () => `/nowhere/service ${words(desk)} --event preToolUse`),
    found: ['fail hook.blocks', 'fail hook.program'],
    says: /broken \(its program is not found \(exit code 127\)\), so the agent denies everything/,
  },
  {
    name: 'a program that may not be run',
    coding_agent: 'gemini',
    entry: (entry, desk) => {
      getCommand(entry, () => `${stub(desk, 'exit 0')} ${words(desk)}`);
      chmodSync(join(desk.project, 'bin', 'service'), 0o644);
    },
    found: ['fail hook.blocks', 'fail hook.program'],
    says: /may not be run \(exit code 126\)/,
  },
  {
    name: 'exit code 1 is a yes',
    coding_agent: 'claude-code',
    entry: (entry, desk) => getCommand(entry, () => `${stub(desk, 'echo no >&2; exit 1')} ${words(desk)}`),
    found: ['fail hook.blocks'],
    says: /NOT block: it ended with exit code 1/,
  },
  {
    name: 'a hook that always says yes',
    coding_agent: 'codex',
    entry: (entry, desk) => getCommand(entry, () => `${stub(desk, 'cat >/dev/null')} ${words(desk)}`),
    found: ['fail hook.blocks', 'fail coding_agent.trusted', 'warn coding_agent.trusted'],
    says: /NOT block: it allowed the call/,
  },
  {
    name: 'a hook that always says no',
    coding_agent: 'codex',
    entry: (entry, desk) => getCommand(entry, () => `${stub(desk, 'echo never >&2; exit 2')} ${words(desk)}`),
    found: ['fail hook.passes', 'fail coding_agent.trusted', 'warn hook.blocks', 'warn coding_agent.trusted'],
    says: /does not allow a harmless call/,
  },
  {
    name: 'words that another agent would understand',
    coding_agent: 'gemini',
    entry: (entry) =>
      getCommand(entry, (command) => command.replace('--dialect gemini', '--dialect claude-code')),
    found: ['fail hook.dialect', 'fail hook.passes'],
  },
  {
    name: 'a configuration that is not there',
    coding_agent: 'claude-code',
    entry: (entry) => getCommand(entry, (command) => command.replace('service.yaml', 'other.yaml')),
    found: ['fail config.valid', 'fail hook.config', 'fail hook.passes', 'warn sessions.read'],
  },
  {
    name: 'a configuration that is not valid',
    coding_agent: 'claude-code',
    config: 'policies: [{ name: a, boundary: sideways }]\n',
    found: ['fail config.valid', 'fail hook.passes', 'warn sessions.read'],
  },
  {
    name: 'a configuration that is not named',
    coding_agent: 'claude-code',
    entry: (entry) => getCommand(entry, (command) => command.replace(/ --config '.*?'/, '')),
    found: ['warn hook.config'],
  },
  {
    name: 'what is found from the folder that an agent is in',
    coding_agent: 'claude-code',
    entry: (entry, desk) => {
      stub(desk, `exec ${quoteArg(service)} "$@"`);
      getCommand(entry, () => 'bin/service hook --config ./service.yaml');
    },
    found: ['warn hook.config', 'warn hook.program'],
  },
  {
    name: 'another configuration than the one that is named',
    coding_agent: 'claude-code',
    entry: (entry, desk) => {
      const other = newDesk();
      const script = `exec ${quoteArg(service)} hook --config ${quoteArg(join(other.project, 'service.yaml'))}`;
      getCommand(entry, () => `${stub(desk, script)} ${words(desk)}`);
    },
    found: ['fail state.trail'],
  },
  {
    name: 'options that the hook does not know',
    coding_agent: 'claude-code',
    entry: (entry) => getCommand(entry, (command) => command.replace(' --config', ' --bogus --config')),
    found: ['fail hook.options', 'fail hook.passes'],
    says: /refuses its own options/,
  },
  {
    name: 'an agent that waits too little',
    coding_agent: 'claude-code',
    entry: (entry) => {
      entry.timeout = 5;
    },
    found: ['fail hook.timeout'],
    says: /waits 5000 ms, and the hook itself denies after 8000 ms/,
  },
  {
    name: 'seconds where milliseconds are counted',
    coding_agent: 'gemini',
    entry: (entry) => {
      entry.timeout = 30;
    },
    found: ['fail hook.blocks', 'fail hook.timeout'],
    says: /no answer in the time that the agent waits/,
  },
  {
    name: 'tools that are left out',
    coding_agent: 'claude-code',
    entry: (entry) => {
      entry.matcher = 'Bash';
    },
    found: ['warn hook.matcher'],
    says: /only for tools that match `Bash`/,
  },
  {
    name: 'a hook that the agent does not wait for',
    coding_agent: 'claude-code',
    entry: (entry) => {
      entry.async = true;
    },
    found: ['fail hook.waits', 'warn hook.blocks'],
  },
  {
    name: 'hooks that are switched off',
    coding_agent: 'claude-code',
    document: (document) => {
      document.disableAllHooks = true;
    },
    found: ['fail coding_agent.hooks_on', 'warn hook.blocks'],
  },
  {
    name: 'hooks that are switched off at Gemini CLI',
    coding_agent: 'gemini',
    document: (document) => {
      document.hooksConfig = { enabled: false };
    },
    found: ['fail coding_agent.hooks_on', 'warn hook.blocks'],
  },
  {
    name: 'a file that is no JSON',
    coding_agent: 'claude-code',
    before: (_desk, file) => writeFileSync(file, '{"hooks": {'),
    found: ['fail coding_agent.installed', 'fail settings.readable'],
    says: /is not JSON at line 1/,
  },
  {
    name: 'a file that is a folder',
    coding_agent: 'claude-code',
    before: (_desk, file) => {
      rmSync(file);
      mkdirSync(file);
    },
    found: ['fail coding_agent.installed', 'fail settings.readable'],
  },
  {
    name: 'a policy that lets everything through',
    coding_agent: 'claude-code',
    config: 'policies: [{ name: all, boundary: action, action: allow, data_tags: [dangerous] }]\n',
    found: ['warn config.blocks'],
  },
  {
    name: 'a policy that lets nothing through',
    coding_agent: 'claude-code',
    config: 'policies: [{ name: none, boundary: action, action: require_approval }]\n',
    found: ['warn hook.passes'],
    says: /the policy answers it with `require_approval` \(rule none\)/,
  },
  {
    name: 'no audit log',
    coding_agent: 'claude-code',
    config: 'audit: { enabled: false }\n',
    found: ['warn sessions.read', 'warn state.trail'],
  },
  {
    name: 'a state folder into which others may look',
    coding_agent: 'claude-code',
    config: 'state_dir: open\n',
    before: ({ project }) => mkdirSync(join(project, 'open'), { mode: 0o755 }),
    found: ['warn state.folder'],
  },
];

for (const { name, coding_agent, config, entry, document, before, found, says } of BROKEN)
  test(`it reports ${name}`, async () => {
    const desk = newDesk(config);
    const file = enter(desk, {
      coding_agent,
      events: [FIRST[coding_agent]],
      ...(entry !== undefined && { entry: (each: Record<string, unknown>) => entry(each, desk) }),
      ...(document !== undefined && { document }),
    });
    before?.(desk, file);
    const diagnosis = await diagnose(desk, '--coding-agent', coding_agent);
    const missing = EVENTS_MISSING[coding_agent].map((event) => `warn coding_agent.events ${event}`);
    const own = complaints(diagnosis).filter((each) => !missing.includes(each));
    assert.deepEqual(
      own.map((each) => each.replace(` ${FIRST[coding_agent]}`, '')),
      found,
    );
    assert.equal(diagnosis.code, found.some((each) => each.startsWith('fail')) ? 1 : 0);
    const told = diagnosis.checks.map(({ message }) => message).join('\n');
    if (says !== undefined) assert.match(told, says);
    for (const { status, next } of diagnosis.checks) if (status === 'fail') assert.ok(next, told);
    assert.ok(!told.includes('service-doctor-probe'));
  });

test('there is a broken hook for every way to break one', () => assert.equal(BROKEN.length, 26));

test('Cursor without failClosed, and with it a program that is not there', async () => {
  const desk = newDesk();
  enter(desk, {
    coding_agent: 'cursor',
    entry: (entry) => {
      delete entry.failClosed;
    },
  });
  const open = await diagnose(desk, '--coding-agent', 'cursor');
  assert.deepEqual(
    [...new Set(complaints(open).map((each) => each.split(' ').slice(0, 2).join(' ')))],
    ['fail hook.fail_closed', 'warn sessions.read'],
  );
  assert.equal(open.blocking_count, 8, 'it blocks as long as nothing goes wrong');
  enter(desk, { coding_agent: 'cursor', entry: (entry) => getCommand(entry, () => '/nowhere/service hook') });
  const gone = await diagnose(desk, '--coding-agent', 'cursor');
  assert.match(gone.checks.map(({ message }) => message).join('\n'), /the agent denies everything/);
});

test('hooks of setup block, and are not run after setup removed them', async () => {
  const desk = newDesk();
  const set_up = await run(desk, ['setup', 'claude-code', '--yes']);
  assert.equal(set_up.code, 0, set_up.stderr);
  const { status, blocking_count } = await diagnose(desk, '--coding-agent', 'claude-code');
  assert.deepEqual([status, blocking_count], ['ok', 4]);
  assert.equal((await run(desk, ['setup', 'claude-code', '--uninstall', '--yes'])).code, 0);
  assert.deepEqual(complaints(await diagnose(desk, '--coding-agent', 'claude-code')), [
    'fail coding_agent.installed',
  ]);
});

test('an owner of the state folder that does not answer is reported without a wait', async () => {
  const desk = newDesk();
  const slow = { coding_agent: 'claude-code', events: ['PreToolUse'] };
  enter(desk, slow);
  assert.equal((await diagnose(desk, '--coding-agent', 'claude-code')).blocking_count, 1);
  enter(desk, {
    ...slow,
    entry: (entry) =>
      getCommand(entry, (command) => command.replace(' --config', ' --timeout-ms 1000 --config')),
  });
  const silent = createServer(() => {}).listen(join(desk.project, '.service', 'service.sock'));
  await once(silent, 'listening');
  const { checks } = await diagnose(desk, '--coding-agent', 'claude-code');
  silent.close();
  const failed = checks.filter((each) => each.status === 'fail').map(({ name }) => name);
  assert.deepEqual(failed, ['hook.passes', 'state.owner']);
});

test('hooks of others are not run', async () => {
  const desk = newDesk();
  const proof = join(desk.project, 'ran');
  enter(desk, {
    coding_agent: 'claude-code',
    document: ({ hooks }) => {
      const other = { matcher: '*', hooks: [{ type: 'command', command: `touch ${quoteArg(proof)}` }] };
      (hooks as Record<string, unknown[]>).PreToolUse!.push(other);
    },
  });
  const { checks, tried_count } = await diagnose(desk);
  assert.equal(tried_count, 4);
  assert.match(checks.map(({ message }) => message).join('\n'), /Hooks of other programs \(1\) were not run/);
  assert.throws(() => readFileSync(proof), /ENOENT/);
});

const AGO = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();

test('sessions in which tools ran unseen are listed, by what the audit log has', async () => {
  const desk = newDesk();
  enter(desk, { coding_agent: 'claude-code' });
  const asked = {
    session_id: 's-1',
    cwd: desk.project,
    hook_event_name: 'PreToolUse',
    tool_name: 'Bash',
    tool_input: { command: 'ls' },
    tool_use_id: 'toolu_seen',
  };
  const words = ['hook', '--dialect', 'claude-code', '--config', 'service.yaml'];
  assert.deepEqual(await run(desk, words, JSON.stringify(asked)), { stdout: '', stderr: '', code: 0 });
  const call = (sessionId: string, id: string, name: string, minutes: number) =>
    JSON.stringify({
      type: 'assistant',
      sessionId,
      cwd: desk.project,
      timestamp: AGO(minutes),
      message: { content: [{ type: 'tool_use', id, name, input: { command: 'private' } }] },
    });
  const folder = join(desk.home, '.claude/projects/p');
  write(join(folder, 's-1.jsonl'), `${call('s-1', 'toolu_seen', 'Bash', 5)}\n`);
  const fine = await diagnose(desk);
  assert.deepEqual([fine.status, fine.sessions], ['ok', []]);
  // The file is as old as the session, so that no call in it was before the hook was installed.
  write(join(folder, 's-1/subagents/agent-1.jsonl'), `${call('s-1', 'toolu_gone', 'Write', 3)}\n`);
  write(join(folder, 's-2.jsonl'), `${call('s-2', 'toolu_old', 'Bash', 60 * 24 * 9)}\n`);
  const early = await diagnose(desk);
  assert.deepEqual(
    early.sessions.map(({ session_id, kind, unseen }) => [session_id, kind, unseen]),
    [['s-1', 'before_setup', [{ tool: 'Write', count: 1 }]]],
  );
  assert.equal(early.code, 0);
  utimesSync(
    join(desk.project, '.claude/settings.json'),
    Date.now() / 1_000 - 3_600,
    Date.now() / 1_000 - 3_600,
  );
  const late = await diagnose(desk, '--since', '30d');
  assert.deepEqual(
    late.sessions.map(({ session_id, kind, coding_agent }) => [session_id, kind, coding_agent]),
    [
      ['s-1', 'unseen', 'claude-code'],
      ['s-2', 'before_setup', 'claude-code'],
    ],
  );
  assert.equal(late.code, 1);
  const told = (await run(desk, ['doctor'])).stdout;
  assert.match(told, /fail {2}In 1 session the agent ran tools without calling the hook\./);
  assert.match(told, /HOST +SESSION +LAST +KIND +TOOLS\nclaude-code +s-1 +\S+ +unseen +Write 1\n/);
  assert.ok(!told.includes('private'));
});

test('sessions of other projects count where the hook is for the user', async () => {
  const desk = newDesk();
  const elsewhere = (scope: 'project' | 'user') => enter(desk, { coding_agent: 'codex', scope });
  const rollout = [
    { timestamp: AGO(5), type: 'session_meta', payload: { id: 's-9', cwd: '/somewhere/else' } },
    {
      timestamp: AGO(5),
      type: 'response_item',
      payload: { type: 'function_call', name: 'shell_command', call_id: 'call_1', arguments: 'private' },
    },
  ];
  write(
    join(desk.home, '.codex/sessions/2026/11/21/rollout-1.jsonl'),
    rollout.map((line) => JSON.stringify(line)).join('\n'),
  );
  elsewhere('project');
  assert.deepEqual((await diagnose(desk, '--coding-agent', 'codex')).sessions, []);
  rmSync(join(desk.project, '.codex'), { recursive: true });
  elsewhere('user');
  const { sessions } = await diagnose(desk, '--coding-agent', 'codex');
  assert.deepEqual(
    sessions.map(({ session_id, unseen }) => [session_id, unseen]),
    [['s-9', [{ tool: 'shell_command', count: 1 }]]],
  );
});
