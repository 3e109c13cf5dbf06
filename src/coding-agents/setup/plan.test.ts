import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EARLIER_NAME } from '../../core/names.ts';
import { expectRows } from '../../core/testing/expect-rows.ts';
import { codingAgents } from '../coding-agents.ts';
import { listInstalledHooks, type SettingsFormat } from '../record/settings.ts';
import { planServerPart } from './parts.ts';
import { planInstall, planUninstall } from './plan.ts';
import { readDocument } from './settings-document.ts';
import { foreignFor, getFormat, getParts, getReceipt, PROGRAM, plain, WORDS } from './testing/settings.ts';

test('an empty file, none, and one with hooks of others hold what is wanted, once, and are left as they were', () => {
  let ran = 0;
  for (const agent of codingAgents) {
    const event = agent.settings.wanted_hooks[0]!.event;
    const [entry] = agent.settings.wanted_hooks.map((wanted) =>
      agent.settings.hook_format.entry(wanted, '/old/service hook --config /old.yaml'),
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
      JSON.stringify({ hooks: { [event]: [foreignFor(agent)], Stop: [foreignFor(agent)] }, z: 1 }, null, 2),
      `\ufeff${JSON.stringify({ hooks: { [event]: [foreignFor(agent)] } }, null, 2).replaceAll('\n', '\r\n')}\r\n`,
    ]) {
      const where = `${agent.name} ${JSON.stringify(before)}`;
      const parts = getParts(agent);
      const first = planInstall(before, getFormat(agent), parts, null);
      const hooks = agent.settings.hook_format
        .list(readDocument(first.after!, getFormat(agent)))
        .filter(({ is_ours }) => is_ours);
      assert.deepEqual(
        hooks.map((hook) => hook.event).sort(),
        listInstalledHooks(agent.settings)
          .map((each) => each.event)
          .sort(),
        where,
      );
      const again = planInstall(first.after, getFormat(agent), parts, getReceipt(first));
      assert.deepEqual([again.after, again.undo], [first.after, []], where);
      assert.equal(planUninstall(first.after, getFormat(agent), parts, getReceipt(first)), before, where);
      // Another configuration replaces the hook, and the undo restores the first text.
      const moved = planInstall(
        first.after,
        getFormat(agent),
        getParts(agent, '/new dir/service.yaml'),
        getReceipt(first),
      );
      const replaced = agent.settings.hook_format
        .list(readDocument(moved.after!, getFormat(agent)))
        .filter(({ is_ours }) => is_ours);
      assert.equal(replaced.length, listInstalledHooks(agent.settings).length, where);
      assert.ok(
        replaced.every(({ command }) => command.includes("'/new dir/service.yaml'")),
        where,
      );
      assert.equal(planUninstall(moved.after, getFormat(agent), parts, getReceipt(moved)), before, where);
      ran += 1;
    }
    // A hook that was entered by hand is removed too, because nothing of this program may remain.
    const byHand = JSON.stringify({ hooks: { [event]: [entry, foreignFor(agent)] } }, null, 2);
    const left = planUninstall(byHand, getFormat(agent), getParts(agent), null)!;
    assert.deepEqual(plain(readDocument(left, 'json')), { hooks: { [event]: [foreignFor(agent)] } });
  }
  assert.equal(ran, codingAgents.length * 10);
});

test('what a person changes afterwards stays, and only what is ours goes', () => {
  for (const agent of expectRows(5, codingAgents)) {
    const parts = getParts(agent);
    const created = planInstall(null, getFormat(agent), parts, null);
    const touched = created.after!.replace('{', '{\n  "mine": 1,');
    assert.deepEqual(
      Object.keys(
        plain(readDocument(planUninstall(touched, getFormat(agent), parts, getReceipt(created))!, 'json')),
      ),
      ['mine', ...Object.keys(agent.settings.required_keys)],
    );
    // An editor added only a blank line, so the file that setup created still counts as unchanged and is deleted.
    assert.equal(planUninstall(`${created.after}\n`, getFormat(agent), parts, getReceipt(created)), null);
    // Without a receipt setup cannot tell that it created the file.
    assert.notEqual(planUninstall(created.after, getFormat(agent), parts, null), null);
  }
});

test('a hook among others in a group, one twice, and one at an event that is not wanted are put right', () => {
  const agent = codingAgents.find(({ name }) => name === 'claude-code')!;
  const parts = getParts(agent);
  const [right] = (
    JSON.parse(planInstall(null, 'json', parts, null).after!) as { hooks: Record<string, object[]> }
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
  const after = planInstall(JSON.stringify({ hooks: before }, null, 2), 'json', parts, null).after!;
  const { hooks } = plain(readDocument(after, 'json')) as { hooks: Record<string, object[]> };
  assert.deepEqual(hooks.PreToolUse, [{ matcher: 'Bash', hooks: [lint] }, right]);
  assert.deepEqual(hooks.Stop, [{ hooks: [lint] }]);
  assert.deepEqual(
    Object.values(hooks).map(({ length }) => length),
    [2, 1, 1, 1, 1, 1],
  );
  const left = planUninstall(after, 'json', parts, null)!;
  assert.deepEqual(plain(readDocument(left, 'json')), {
    hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [lint] }], Stop: [{ hooks: [lint] }] },
  });
});

test('what cannot be read, or not changed without a loss, is refused', () => {
  const gemini = codingAgents.find(({ name }) => name === 'gemini')!;
  const cases: readonly (readonly [text: string, format: SettingsFormat, pattern: RegExp])[] = [
    ['{"hooks": ', 'json', /is not JSON at line 1/],
    ['{"hooks": 1}', 'json', /something other than an object at `hooks`/],
    ['{"hooks": {"BeforeTool": {}}}', 'json', /something other than a list at `hooks.BeforeTool`/],
    ['[]', 'json', /something other than an object at its outermost value/],
    ['{"hooks": {"x": []}, "hooks": {}}', 'json', /cannot be changed without losing something/],
    ['{"mcpServers": {"customshouse": {"command": "other"}}}', 'json', /another MCP server with the name/],
    [`{"a": ${'['.repeat(200_000)}${']'.repeat(200_000)}}`, 'json', /nested too deeply/],
    [
      JSON.stringify({ hooks: { BeforeTool: Array(101).fill({ hooks: [{ command: 'service hook' }] }) } }),
      'json',
      /more than 100 entries/,
    ],
  ];
  for (const [text, format, pattern] of cases) {
    assert.throws(() => planInstall(text, format, getParts(gemini), null), pattern);
  }
});

const TOML = '# mine\nmodel = "o4" # here\n\n[mcp_servers.other]\ncommand = "npx"\nargs = [\n  "-y",\n]\n';

test('nesting of any depth is read or refused, in every format', () => {
  let refused = 0;
  for (const agent of codingAgents)
    for (const depth of [500, 2_000, 4_000, 8_000, 16_000, 200_000]) {
      const text = `{"a": ${'['.repeat(depth)}${']'.repeat(depth)}}`;
      try {
        planInstall(text, getFormat(agent), getParts(agent), null);
      } catch (error) {
        assert.match(String(error), /nested too deeply/);
        refused += 1;
      }
    }
  assert.ok(refused >= codingAgents.length, `${refused}`);
  const toml = `a = ${'['.repeat(100_000)}`;
  assert.throws(() => readDocument(toml, 'toml'), /nested too deeply|not TOML/);
});

test('the list of Codex is TOML: a table at its end, and away again', () => {
  const codex = codingAgents.find(({ name }) => name === 'codex')!;
  const parts = [planServerPart(codex.settings, WORDS)];
  for (const before of [null, '', '# only a comment', TOML, TOML.replaceAll('\n', '\r\n'), 'a = 1']) {
    const plan = planInstall(before, 'toml', parts, null);
    assert.ok(plan.after!.startsWith(before ?? ''));
    const { mcp_servers } = readDocument(plan.after!, 'toml') as { mcp_servers: Record<string, unknown> };
    assert.deepEqual(plain(mcp_servers['customshouse']), { command: WORDS[0], args: WORDS.slice(1) });
    assert.equal(planInstall(plan.after, 'toml', parts, null).after, plan.after);
    assert.equal(planUninstall(plan.after, 'toml', parts, getReceipt(plan)), before);
    if (before !== null)
      assert.equal(planUninstall(plan.after, 'toml', parts, null)!.trimEnd(), before.trimEnd());
  }
  const between = `${planInstall(TOML, 'toml', parts, null).after}\n[mcp_servers.customshouse.env]\nA = "1"\n\n[tools]\nx = 1\n`;
  const kept = planInstall(between, 'toml', [planServerPart(codex.settings, [...PROGRAM, 'mcp'])], null)
    .after!;
  assert.deepEqual(
    plain(
      (readDocument(kept, 'toml') as { mcp_servers: { customshouse: object } }).mcp_servers['customshouse'],
    ),
    {
      command: PROGRAM[0],
      args: ['mcp'],
      env: { A: '1' },
    },
  );
  const away = planUninstall(between, 'toml', parts, null)!;
  assert.ok(
    away.startsWith(TOML.trimEnd()) && away.endsWith('[tools]\nx = 1\n') && !away.includes('customshouse'),
    away,
  );
  for (const inline of [
    'mcp_servers = {}\n',
    'mcp_servers.customshouse.command = "service"\nmcp_servers.customshouse.args = ["mcp"]\n',
  ])
    assert.throws(() => planInstall(inline, 'toml', parts, null), /losing something|remove it by hand/);
});

test('a server entry keeps the members that a user added, and gateways to other servers stay unchanged', () => {
  const cursor = codingAgents.find(({ name }) => name === 'cursor')!;
  const parts = [planServerPart(cursor.settings, WORDS)];
  const gateway = { command: 'service', args: ['mcp', '--wrap', '--', 'npx', 'x'] };
  const all = { command: 'service', args: ['mcp', '--gateway'] };
  const old = { command: 'service', args: ['mcp'], env: { A: '1' } };
  const before = JSON.stringify({ mcpServers: { files: gateway, all, mine: old } });
  const after = plain(readDocument(planInstall(before, 'json', parts, null).after!, 'json'));
  assert.deepEqual(after, {
    mcpServers: { files: gateway, all, mine: { command: WORDS[0], args: WORDS.slice(1), env: { A: '1' } } },
  });
  const left = planUninstall(before, 'json', parts, null)!;
  assert.deepEqual(plain(readDocument(left, 'json')), { mcpServers: { files: gateway, all } });
  const earlier = JSON.stringify({ mcpServers: { [EARLIER_NAME]: old } });
  const renamed = plain(readDocument(planInstall(earlier, 'json', parts, null).after!, 'json'));
  assert.deepEqual(renamed, {
    mcpServers: { customshouse: { command: WORDS[0], args: WORDS.slice(1), env: { A: '1' } } },
  });
});
