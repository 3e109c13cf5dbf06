/** `./service doctor` on installed hooks: working ones, and ones that are broken in some way. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { codingAgents } from '../../src/coding-agents/coding-agents.ts';
import { quoteArg } from '../../src/coding-agents/record/hook-command.ts';
import {
  createMachine,
  diagnose,
  installHooks,
  listComplaints,
  type Machine,
  runService,
  writeTestFile,
} from '../support/doctor.ts';
import { sampleRows, testNightly } from '../support/nightly.ts';

const service = resolve(import.meta.dirname, '../../service');

const FIRST = {
  'claude-code': 'PreToolUse',
  codex: 'PreToolUse',
  gemini: 'BeforeTool',
  copilot: 'preToolUse',
};

test('working hooks of every agent are reported to block, and their probes are in the audit log', async () => {
  const machine = createMachine();
  const files = new Map(
    codingAgents.map(({ name }) => [name, installHooks(machine, { coding_agent: name })]),
  );
  const keys = ['pre_tool_use', 'post_tool_use', 'permission_request', 'user_prompt_submit'].map(
    (event) => `[hooks.state."${files.get('codex')}:${event}:0:0"]\ntrusted_hash = "sha256:0"\n`,
  );
  writeTestFile(
    join(machine.home, '.codex/config.toml'),
    `${keys.join('')}[projects."${machine.project}"]\ntrust_level = "trusted"\n`,
  );
  const diagnosis = await diagnose(machine);
  assert.deepEqual(listComplaints(diagnosis), ['warn hook.blocks userPromptSubmitted', 'warn sessions.read']);
  const { status, code, tried_count, blocking_count, sessions } = diagnosis;
  assert.deepEqual([status, code, tried_count, blocking_count, sessions], ['warn', 0, 23, 22, []]);
  const trail = await runService(machine, ['logs', '--json', '--last', '1h', '--tail', '1000']);
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
  assert.match((await runService(machine, ['observe', 'sessions', '--json'])).stdout, /"sessions":\[\]/);
});

test('the report for users has the same findings, with the fixes', async () => {
  const machine = createMachine();
  installHooks(machine, { coding_agent: 'claude-code', events: ['UserPromptSubmit'] });
  const { stdout, code } = await runService(machine, [
    'doctor',
    '--coding-agent',
    'claude-code',
    '--scope',
    'project',
  ]);
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

test('a missing hook is a failure, also if no agent is named', async () => {
  const machine = createMachine();
  const withoutAgents = await diagnose(machine);
  assert.deepEqual([withoutAgents.code, listComplaints(withoutAgents)], [1, ['fail coding_agent.installed']]);
  const asked = await diagnose(machine, '--coding-agent', 'gemini');
  assert.deepEqual([asked.code, listComplaints(asked)], [1, ['fail coding_agent.installed']]);
  assert.equal((await runService(machine, ['doctor', '--coding-agent', 'emacs'])).code, 2);
  assert.equal((await runService(machine, ['doctor', '--since', 'yesterday'])).code, 2);
  const invalid = createMachine('policies: [{ name: a, boundary: sideways }]\n');
  assert.deepEqual(listComplaints(await diagnose(invalid)), [
    'fail coding_agent.installed',
    'fail config.valid',
  ]);
});

/** Creates a program with our name that answers differently. */
function stub(machine: Machine, script: string): string {
  const file = join(machine.project, 'bin', 'service');
  writeTestFile(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  return quoteArg(file);
}

/** Returns the arguments of a hook. */
function words({ project }: Machine): string {
  return `hook --config ${quoteArg(join(project, 'service.yaml'))}`;
}

interface Broken {
  readonly name: string;
  readonly coding_agent: keyof typeof FIRST;
  readonly config?: string;
  readonly entry?: (entry: Record<string, unknown>, machine: Machine) => void;
  readonly document?: (document: Record<string, unknown>) => void;
  readonly before?: (machine: Machine, file: string) => void;
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
    name: 'a program that is not there',
    coding_agent: 'claude-code',
    entry: (entry, machine) => getCommand(entry, () => `/nowhere/service ${words(machine)}`),
    found: ['fail hook.command', 'fail hook.program', 'warn sessions.read'],
    says: /program `\/nowhere\/service` of the hook does not exist/,
  },
  {
    name: 'a program that may not be run',
    coding_agent: 'gemini',
    entry: (entry, machine) => {
      getCommand(entry, () => `${stub(machine, 'exit 0')} ${words(machine)}`);
      chmodSync(join(machine.project, 'bin', 'service'), 0o644);
    },
    found: ['fail hook.command', 'fail hook.program', 'warn sessions.read'],
    says: /is not executable/,
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
    found: ['fail hook.command', 'warn hook.config', 'warn sessions.read'],
    says: /was not run, because its command is not the text that setup writes/,
  },
  {
    name: 'what is found from the folder that an agent is in',
    coding_agent: 'claude-code',
    entry: (entry, machine) => {
      stub(machine, `exec ${quoteArg(service)} "$@"`);
      getCommand(entry, () => 'bin/service hook --config ./service.yaml');
    },
    found: ['fail hook.command', 'warn hook.config', 'warn hook.program', 'warn sessions.read'],
  },
  {
    name: 'options that the hook does not know',
    coding_agent: 'claude-code',
    entry: (entry) => getCommand(entry, (command) => command.replace(' --config', ' --bogus --config')),
    found: ['fail hook.command', 'fail hook.options', 'warn sessions.read'],
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
    name: 'a folder with the name of a spool file',
    coding_agent: 'claude-code',
    config: 'state_dir: state\n',
    before: ({ project }) =>
      mkdirSync(join(project, 'state/journal/spool/1700000000004-0123456789abcdef.jsonl'), {
        recursive: true,
        mode: 0o700,
      }),
    found: ['fail state.entries'],
    says: /entries that are not of this service: journal\/spool\/1700000000004/,
  },
  {
    name: 'a state folder into which others may look',
    coding_agent: 'claude-code',
    config: 'state_dir: open\n',
    before: ({ project }) => mkdirSync(join(project, 'open'), { mode: 0o755 }),
    found: ['warn state.folder'],
  },
];

for (const { name, coding_agent, config, entry, document, before, found, says } of sampleRows(BROKEN, 7))
  test(`it reports ${name}`, async () => {
    const machine = createMachine(config);
    const file = installHooks(machine, {
      coding_agent,
      events: [FIRST[coding_agent]],
      ...(entry !== undefined && { entry: (each: Record<string, unknown>) => entry(each, machine) }),
      ...(document !== undefined && { document }),
    });
    before?.(machine, file);
    const diagnosis = await diagnose(machine, '--coding-agent', coding_agent);
    const missing = EVENTS_MISSING[coding_agent].map((event) => `warn coding_agent.events ${event}`);
    const own = listComplaints(diagnosis).filter((each) => !missing.includes(each));
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

test('there is a broken hook for every way to break one', () => assert.equal(BROKEN.length, 21));

testNightly('Cursor without failClosed, and with it a program that is not there', {}, async () => {
  const machine = createMachine();
  installHooks(machine, {
    coding_agent: 'cursor',
    entry: (entry) => {
      delete entry.failClosed;
    },
  });
  const open = await diagnose(machine, '--coding-agent', 'cursor');
  assert.deepEqual(
    [...new Set(listComplaints(open).map((each) => each.split(' ').slice(0, 2).join(' ')))],
    ['fail hook.fail_closed', 'warn sessions.read'],
  );
  assert.equal(open.blocking_count, 8, 'it blocks as long as nothing goes wrong');
  installHooks(machine, {
    coding_agent: 'cursor',
    entry: (entry) => getCommand(entry, () => '/nowhere/service hook'),
  });
  const gone = await diagnose(machine, '--coding-agent', 'cursor');
  assert.match(
    gone.checks.map(({ message }) => message).join('\n'),
    /\/nowhere\/service` of the hook does not exist/,
  );
});

/** Commands that a cloned project could bring. Each would create the file `@` in a shell, or run a file of the project. */
const HOSTILE: readonly ((command: string, proof: string) => string)[] = [
  (_own, proof) => `x/service hook; touch ${proof}`,
  () => 'payload/service hook',
  () => './payload/service hook --dialect plain --config service.yaml',
  (_own, proof) => `service hook --config "$(touch ${proof})"`,
  (own, proof) => `${own}; touch ${proof}`,
  (own, proof) => `${own} && touch ${proof}`,
  (own, proof) => `${own}\ntouch ${proof}`,
  (own, proof) => `touch ${proof}; ${own}`,
  (own, proof) => `${own} | tee ${proof}`,
  (own, proof) => `${own} > ${proof}`,
  (own, proof) => own.replace('--config ', `--config "$(touch ${proof})"`),
  (own, proof) => own.replace(' hook ', ` hook '\`touch ${proof}\`' `),
  (own) => `PATH=payload:$PATH ${own}`,
  (own) => own.replace(quoteArg(service), 'env PATH=payload service'),
  (own) => own.replace(quoteArg(service), '"$PWD"/payload/service'),
  (own) => own.replace(quoteArg(service), 'sh payload/service'),
  (own) => own.replace(quoteArg(service), `"${service}"`),
  (own) => own.replace(quoteArg(service), 'customshouse'),
];

test('a command that setup did not write is reported and never run', async () => {
  const machine = createMachine();
  const proof = join(machine.project, 'PWN');
  const payload = `#!/bin/sh\ntouch ${quoteArg(proof)}\n`;
  for (const name of ['payload/service', 'payload/customshouse', 'payload/node', 'x/service']) {
    writeTestFile(join(machine.project, name), payload);
    chmodSync(join(machine.project, name), 0o755);
  }
  for (const { name, settings } of codingAgents)
    installHooks(machine, {
      coding_agent: name,
      document: (document) => {
        const hooks = document.hooks as Record<string, [Record<string, unknown>]>;
        const { event } = settings.wanted_hooks[0]!;
        const setUp = hooks[event]![0];
        const change = (make: (entry: Record<string, unknown>) => void) => {
          const made = structuredClone(setUp);
          make(Array.isArray(made.hooks) ? (made.hooks[0] as Record<string, unknown>) : made);
          return made;
        };
        document.hooks = {
          [event]: [
            ...HOSTILE.map((make) =>
              change((entry) => getCommand(entry, (command) => make(command, quoteArg(proof)))),
            ),
            change((entry) => {
              entry.env = { NODE_OPTIONS: '--require ./payload/service', PATH: 'payload' };
            }),
            change((entry) => {
              entry.cwd = 'payload';
            }),
            change((entry) => {
              getCommand(entry, () => 'payload/service');
              entry.args = ['hook'];
            }),
          ],
        };
      },
    });
  const { checks, tried_count, code } = await diagnose(machine);
  assert.throws(() => readFileSync(proof), /ENOENT/);
  const refused = checks.filter(({ name }) => name === 'hook.command');
  // One of them begins with another program, so it is not a hook of ours.
  const expectedCount = codingAgents.length * (HOSTILE.length + 2);
  assert.deepEqual([tried_count, refused.length, code], [0, expectedCount, 1]);
  for (const { next } of refused) assert.match(next ?? '', /customshouse setup/);
});

testNightly(
  'hooks of setup block for every agent, and are not run after setup removed them',
  {},
  async () => {
    const machine = createMachine();
    for (const { name } of codingAgents) {
      const setUp = await runService(machine, ['setup', name, '--yes']);
      assert.equal(setUp.code, 0, setUp.stderr);
    }
    const { checks, tried_count, blocking_count } = await diagnose(machine);
    assert.deepEqual(
      checks.filter(({ name, status }) => status === 'fail' && name.startsWith('hook.')),
      [],
    );
    // Copilot ignores decisions on prompts, and Codex skips hooks until a person trusts them.
    assert.deepEqual([tried_count, blocking_count], [23, 18]);
    for (const { name } of codingAgents)
      assert.equal((await runService(machine, ['setup', name, '--uninstall', '--yes'])).code, 0);
    assert.deepEqual(listComplaints(await diagnose(machine)), ['fail coding_agent.installed']);
  },
);

testNightly('an owner of the state folder that does not answer is reported without a wait', {}, async () => {
  const machine = createMachine();
  const slow = { coding_agent: 'claude-code', events: ['PreToolUse'] };
  installHooks(machine, slow);
  assert.equal((await diagnose(machine, '--coding-agent', 'claude-code')).blocking_count, 1);
  installHooks(machine, {
    ...slow,
    entry: (entry) =>
      getCommand(entry, (command) => command.replace(' --config', ' --timeout-ms 1000 --config')),
  });
  const stateDir = join(machine.project, '.service');
  mkdirSync(join(stateDir, 'operator'), { recursive: true, mode: 0o700 });
  const silent = ['content.sock', 'operator/operator.sock'].map((name) =>
    createServer(() => {}).listen(join(stateDir, name)),
  );
  await Promise.all(silent.map((each) => once(each, 'listening')));
  const { checks } = await diagnose(machine, '--coding-agent', 'claude-code');
  for (const each of silent) each.close();
  const failed = checks.filter((each) => each.status === 'fail').map(({ name }) => name);
  assert.deepEqual(failed, ['hook.passes', 'state.owner']);
  chmodSync(join(stateDir, 'operator'), 0o755);
  const open = await diagnose(machine, '--coding-agent', 'claude-code');
  const [owner] = open.checks.filter((each) => each.status === 'fail');
  assert.equal(owner?.name, 'state.owner');
  assert.match(owner.message, /mode 755\). Run `chmod 700 .*operator`/);
});

test('hooks of others are not run', async () => {
  const machine = createMachine();
  const proof = join(machine.project, 'ran');
  installHooks(machine, {
    coding_agent: 'claude-code',
    document: ({ hooks }) => {
      const other = { matcher: '*', hooks: [{ type: 'command', command: `touch ${quoteArg(proof)}` }] };
      (hooks as Record<string, unknown[]>).PreToolUse!.push(other);
    },
  });
  const { checks, tried_count } = await diagnose(machine);
  assert.equal(tried_count, 4);
  assert.match(checks.map(({ message }) => message).join('\n'), /Hooks of other programs \(1\) were not run/);
  assert.throws(() => readFileSync(proof), /ENOENT/);
});

const AGO = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();

testNightly('sessions in which tools ran unseen are listed, by what the audit log has', {}, async () => {
  const machine = createMachine();
  installHooks(machine, { coding_agent: 'claude-code' });
  const asked = {
    session_id: 's-1',
    cwd: machine.project,
    hook_event_name: 'PreToolUse',
    tool_name: 'Bash',
    tool_input: { command: 'ls' },
    tool_use_id: 'toolu_seen',
  };
  const words = ['hook', '--dialect', 'claude-code', '--config', 'service.yaml'];
  assert.deepEqual(await runService(machine, words, JSON.stringify(asked)), {
    stdout: '',
    stderr: '',
    code: 0,
  });
  const call = (sessionId: string, id: string, name: string, minutes: number) =>
    JSON.stringify({
      type: 'assistant',
      sessionId,
      cwd: machine.project,
      timestamp: AGO(minutes),
      message: { content: [{ type: 'tool_use', id, name, input: { command: 'private' } }] },
    });
  const folder = join(machine.home, '.claude/projects/p');
  writeTestFile(join(folder, 's-1.jsonl'), `${call('s-1', 'toolu_seen', 'Bash', 5)}\n`);
  const fine = await diagnose(machine);
  assert.deepEqual([fine.status, fine.sessions], ['ok', []]);
  // The file is as old as the session, so that no call in it was before the hook was installed.
  writeTestFile(join(folder, 's-1/subagents/agent-1.jsonl'), `${call('s-1', 'toolu_gone', 'Write', 3)}\n`);
  writeTestFile(join(folder, 's-2.jsonl'), `${call('s-2', 'toolu_old', 'Bash', 60 * 24 * 9)}\n`);
  const early = await diagnose(machine);
  assert.deepEqual(
    early.sessions.map(({ session_id, kind, unseen }) => [session_id, kind, unseen]),
    [['s-1', 'before_setup', [{ tool: 'Write', count: 1 }]]],
  );
  assert.equal(early.code, 0);
  utimesSync(
    join(machine.project, '.claude/settings.json'),
    Date.now() / 1_000 - 3_600,
    Date.now() / 1_000 - 3_600,
  );
  const late = await diagnose(machine, '--since', '30d');
  assert.deepEqual(
    late.sessions.map(({ session_id, kind, coding_agent }) => [session_id, kind, coding_agent]),
    [
      ['s-1', 'unseen', 'claude-code'],
      ['s-2', 'before_setup', 'claude-code'],
    ],
  );
  assert.equal(late.code, 1);
  const told = (await runService(machine, ['doctor'])).stdout;
  assert.match(told, /fail {2}In 1 session the agent ran tools without calling the hook\./);
  assert.match(told, /HOST +SESSION +LAST +KIND +TOOLS\nclaude-code +s-1 +\S+ +unseen +Write 1\n/);
  assert.ok(!told.includes('private'));
});

testNightly('sessions of other projects count where the hook is for the user', {}, async () => {
  const machine = createMachine();
  const elsewhere = (scope: 'project' | 'user') => installHooks(machine, { coding_agent: 'codex', scope });
  const rollout = [
    { timestamp: AGO(5), type: 'session_meta', payload: { id: 's-9', cwd: '/somewhere/else' } },
    {
      timestamp: AGO(5),
      type: 'response_item',
      payload: { type: 'function_call', name: 'shell_command', call_id: 'call_1', arguments: 'private' },
    },
  ];
  writeTestFile(
    join(machine.home, '.codex/sessions/2026/11/21/rollout-1.jsonl'),
    rollout.map((line) => JSON.stringify(line)).join('\n'),
  );
  elsewhere('project');
  assert.deepEqual((await diagnose(machine, '--coding-agent', 'codex')).sessions, []);
  rmSync(join(machine.project, '.codex'), { recursive: true });
  elsewhere('user');
  const { sessions } = await diagnose(machine, '--coding-agent', 'codex');
  assert.deepEqual(
    sessions.map(({ session_id, unseen }) => [session_id, unseen]),
    [['s-9', [{ tool: 'shell_command', count: 1 }]]],
  );
});
