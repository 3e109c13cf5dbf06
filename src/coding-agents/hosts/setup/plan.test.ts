import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SettingsFormat } from '../host.ts';
import { hosts, installed, readDocument } from '../index.ts';
import { serverPart } from './parts.ts';
import { planned, plannedAway } from './plan.ts';
import { foreignFor, formatOf, PROGRAM, partsOf, plain, receiptOf, WORDS } from './testing/settings.ts';

test('an empty file, none, and one with hooks of others hold what is wanted, once, and are left as they were', () => {
  let ran = 0;
  for (const host of hosts) {
    const event = host.wanted[0]!.event;
    const [entry] = host.wanted.map((wanted) =>
      host.shape.entry(wanted, '/old/service hook --config /old.yaml'),
    );
    for (const before of [
      null,
      '',
      ' \n',
      '{}',
      '{ }\n',
      JSON.stringify({ a: [1, { b: null }] }),
      JSON.stringify({ hooks: {}, mcpServers: {} }, null, 4),
      JSON.stringify({ hooks: { [event]: [] }, z: 1 }, null, '\t'),
      JSON.stringify({ hooks: { [event]: [foreignFor(host)], Stop: [foreignFor(host)] }, z: 1 }, null, 2),
      `\ufeff${JSON.stringify({ hooks: { [event]: [foreignFor(host)] } }, null, 2).replaceAll('\n', '\r\n')}\r\n`,
    ]) {
      const where = `${host.name} ${JSON.stringify(before)}`;
      const parts = partsOf(host);
      const first = planned(before, formatOf(host), parts, null);
      const hooks = installed(host, first.after!, formatOf(host)).filter(({ is_ours }) => is_ours);
      assert.deepEqual(
        hooks.map((hook) => hook.event).sort(),
        host.wanted.map((each) => each.event).sort(),
        where,
      );
      const again = planned(first.after, formatOf(host), parts, receiptOf(first));
      assert.deepEqual([again.after, again.undo], [first.after, []], where);
      assert.equal(plannedAway(first.after, formatOf(host), parts, receiptOf(first)), before, where);
      // Another configuration replaces, and the way back leads to the first text.
      const moved = planned(
        first.after,
        formatOf(host),
        partsOf(host, '/new dir/service.yaml'),
        receiptOf(first),
      );
      const replaced = installed(host, moved.after!, formatOf(host)).filter(({ is_ours }) => is_ours);
      assert.equal(replaced.length, host.wanted.length, where);
      assert.ok(
        replaced.every(({ command }) => command.includes("'/new dir/service.yaml'")),
        where,
      );
      assert.equal(plannedAway(moved.after, formatOf(host), parts, receiptOf(moved)), before, where);
      ran += 1;
    }
    // One that was entered by hand goes too, for nothing of this program is to be left.
    const by_hand = JSON.stringify({ hooks: { [event]: [entry, foreignFor(host)] } }, null, 2);
    const left = plannedAway(by_hand, formatOf(host), partsOf(host), null)!;
    assert.deepEqual(plain(readDocument(left, 'json')), { hooks: { [event]: [foreignFor(host)] } });
  }
  assert.equal(ran, hosts.length * 10);
});

test('what a person changes afterwards stays, and only what is ours goes', () => {
  let ran = 0;
  for (const host of hosts) {
    const parts = partsOf(host);
    const created = planned(null, formatOf(host), parts, null);
    const touched = created.after!.replace('{', '{\n  "mine": 1,');
    assert.deepEqual(
      Object.keys(
        plain(readDocument(plannedAway(touched, formatOf(host), parts, receiptOf(created))!, 'json')),
      ),
      ['mine', ...Object.keys(host.frame)],
    );
    // A blank line by an editor, and nothing else: the file was made here and is empty again.
    assert.equal(plannedAway(`${created.after}\n`, formatOf(host), parts, receiptOf(created)), null);
    // Without a receipt nobody knows who made it.
    assert.notEqual(plannedAway(created.after, formatOf(host), parts, null), null);
    ran += 1;
  }
  assert.equal(ran, 5);
});

test('a hook among others in a group, one twice, and one at an event that is not wanted are put right', () => {
  const host = hosts.find(({ name }) => name === 'claude-code')!;
  const parts = partsOf(host);
  const [right] = (
    JSON.parse(planned(null, 'json', parts, null).after!) as { hooks: Record<string, object[]> }
  ).hooks.PreToolUse!;
  const ours = { type: 'command', command: '/old/service hook' };
  const lint = { type: 'command', command: 'lint' };
  const before = {
    PreToolUse: [
      { matcher: 'Bash', hooks: [lint, ours] },
      right,
      right,
      '/old/service hook --profile claude-code',
    ],
    PostToolUse: [{ matcher: '*', hooks: [ours, ours] }],
    Stop: [{ hooks: [ours] }, { hooks: [lint] }],
  };
  const after = planned(JSON.stringify({ hooks: before }, null, 2), 'json', parts, null).after!;
  const { hooks } = plain(readDocument(after, 'json')) as { hooks: Record<string, object[]> };
  assert.deepEqual(hooks.PreToolUse, [{ matcher: 'Bash', hooks: [lint] }, right]);
  assert.deepEqual(hooks.Stop, [{ hooks: [lint] }]);
  assert.deepEqual(
    Object.values(hooks).map(({ length }) => length),
    [2, 1, 1, 1, 1],
  );
  const left = plannedAway(after, 'json', parts, null)!;
  assert.deepEqual(plain(readDocument(left, 'json')), {
    hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [lint] }], Stop: [{ hooks: [lint] }] },
  });
});

test('what cannot be read, or not changed without a loss, is refused', () => {
  const gemini = hosts.find(({ name }) => name === 'gemini')!;
  const cases: readonly (readonly [text: string, format: SettingsFormat, pattern: RegExp])[] = [
    ['{"hooks": ', 'json', /is not JSON at line 1/],
    ['{"hooks": 1}', 'json', /something else than an object at `hooks`/],
    ['{"hooks": {"BeforeTool": {}}}', 'json', /something else than a list at `hooks.BeforeTool`/],
    ['[]', 'json', /something else than an object at its outermost value/],
    ['{"hooks": {"x": []}, "hooks": {}}', 'json', /cannot be changed without losing something/],
    ['{"mcpServers": {"agent-safety": {"command": "other"}}}', 'json', /another MCP server by the name/],
    [`{"a": ${'['.repeat(200_000)}${']'.repeat(200_000)}}`, 'json', /nested too deeply/],
    [
      JSON.stringify({ hooks: { BeforeTool: Array(101).fill({ hooks: [{ command: 'service hook' }] }) } }),
      'json',
      /more than 100 entries/,
    ],
  ];
  let ran = 0;
  for (const [text, format, pattern] of cases) {
    assert.throws(() => planned(text, format, partsOf(gemini), null), pattern);
    ran += 1;
  }
  assert.equal(ran, cases.length);
});

const TOML = '# mine\nmodel = "o4" # here\n\n[mcp_servers.other]\ncommand = "npx"\nargs = [\n  "-y",\n]\n';

test('nesting of any depth is read or refused, in every format', () => {
  let refused = 0;
  for (const host of hosts)
    for (const depth of [500, 2_000, 4_000, 8_000, 16_000, 200_000]) {
      const text = `{"a": ${'['.repeat(depth)}${']'.repeat(depth)}}`;
      try {
        planned(text, formatOf(host), partsOf(host), null);
      } catch (error) {
        assert.match(String(error), /nested too deeply/);
        refused += 1;
      }
    }
  assert.ok(refused >= hosts.length, `${refused}`);
  const toml = `a = ${'['.repeat(100_000)}`;
  assert.throws(() => readDocument(toml, 'toml'), /nested too deeply|not TOML/);
});

test('the list of Codex is TOML: a table at its end, and away again', () => {
  const codex = hosts.find(({ name }) => name === 'codex')!;
  const parts = [serverPart(codex, WORDS)];
  for (const before of [null, '', '# only a comment', TOML, TOML.replaceAll('\n', '\r\n'), 'a = 1']) {
    const plan = planned(before, 'toml', parts, null);
    assert.ok(plan.after!.startsWith(before ?? ''));
    const { mcp_servers } = readDocument(plan.after!, 'toml') as { mcp_servers: Record<string, unknown> };
    assert.deepEqual(plain(mcp_servers['agent-safety']), { command: WORDS[0], args: WORDS.slice(1) });
    assert.equal(planned(plan.after, 'toml', parts, null).after, plan.after);
    assert.equal(plannedAway(plan.after, 'toml', parts, receiptOf(plan)), before);
    if (before !== null)
      assert.equal(plannedAway(plan.after, 'toml', parts, null)!.trimEnd(), before.trimEnd());
  }
  const between = `${planned(TOML, 'toml', parts, null).after}\n[mcp_servers.agent-safety.env]\nA = "1"\n\n[tools]\nx = 1\n`;
  const kept = planned(between, 'toml', [serverPart(codex, [...PROGRAM, 'mcp'])], null).after!;
  assert.deepEqual(
    plain(
      (readDocument(kept, 'toml') as { mcp_servers: { 'agent-safety': object } }).mcp_servers['agent-safety'],
    ),
    {
      command: PROGRAM[0],
      args: ['mcp'],
      env: { A: '1' },
    },
  );
  const away = plannedAway(between, 'toml', parts, null)!;
  assert.ok(
    away.startsWith(TOML.trimEnd()) && away.endsWith('[tools]\nx = 1\n') && !away.includes('agent-safety'),
    away,
  );
  for (const inline of [
    'mcp_servers = {}\n',
    'mcp_servers.agent-safety.command = "service"\nmcp_servers.agent-safety.args = ["mcp"]\n',
  ])
    assert.throws(() => planned(inline, 'toml', parts, null), /losing something|removed by hand/);
});

test('a server keeps what a person added, and gateways to other servers are let be', () => {
  const cursor = hosts.find(({ name }) => name === 'cursor')!;
  const parts = [serverPart(cursor, WORDS)];
  const gateway = { command: 'service', args: ['mcp', '--wrap', '--', 'npx', 'x'] };
  const all = { command: 'service', args: ['mcp', '--gateway'] };
  const old = { command: 'service', args: ['mcp'], env: { A: '1' } };
  const before = JSON.stringify({ mcpServers: { files: gateway, all, mine: old } });
  const after = plain(readDocument(planned(before, 'json', parts, null).after!, 'json'));
  assert.deepEqual(after, {
    mcpServers: { files: gateway, all, mine: { command: WORDS[0], args: WORDS.slice(1), env: { A: '1' } } },
  });
  const left = plannedAway(before, 'json', parts, null)!;
  assert.deepEqual(plain(readDocument(left, 'json')), { mcpServers: { files: gateway, all } });
});
