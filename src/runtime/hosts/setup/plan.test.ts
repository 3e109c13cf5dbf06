import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Host, SettingsFormat } from '../host.ts';
import { hookCommand, hosts, installed, readDocument } from '../index.ts';
import { hooksPart, type Part, serverPart } from './parts.ts';
import { planned, plannedAway, type Receipt, sha256Of } from './plan.ts';

const PROGRAM = ['/opt/a b/service'];
const WORDS = [...PROGRAM, 'mcp', '--config', '/etc/service.yaml'];

function partsOf(host: Host, config = '/etc/service.yaml'): readonly Part[] {
  const { name, needs_event, guards_exit } = host;
  const command = (event: string) =>
    hookCommand({ program: PROGRAM, config, dialect: name, event: needs_event ? event : null, guards_exit });
  return [hooksPart(host, command), serverPart(host, WORDS)];
}

function receiptOf({ after, undo, created }: ReturnType<typeof planned>): Receipt {
  return { created, folders: [], after_sha256: sha256Of(after ?? ''), undo };
}

const formatOf = (host: Host): SettingsFormat =>
  host.targets({ project: '/p', home: '/h', env: {} })[0]!.format;

const FOREIGN = { matcher: 'Bash', hooks: [{ type: 'command', command: 'lint --hook', timeout: 5 }] };
const FLAT_FOREIGN = { command: 'lint --hook', timeout: 5 };
const foreignFor = (host: Host) => (['cursor', 'copilot'].includes(host.name) ? FLAT_FOREIGN : FOREIGN);

const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as Record<string, unknown>;

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

const key = fc.string({ maxLength: 6 }).filter((text) => !['hooks', 'mcpServers', 'version'].includes(text));
const extra = fc.dictionary(key, fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<unknown>, { maxKeys: 4 });

interface Layout {
  readonly indent: string;
  readonly eol: string;
  readonly mark: string;
  readonly end: string;
  readonly comments: boolean;
}

const layout: fc.Arbitrary<Layout> = fc.record({
  indent: fc.constantFrom('', '  ', '    ', '\t'),
  eol: fc.constantFrom('\n', '\r\n'),
  mark: fc.constantFrom('', '\ufeff'),
  end: fc.constantFrom('', '\n', ' \n\n'),
  comments: fc.boolean(),
});

/** Every line of a layout with lines gets a comment behind it; how many there are is the second value. */
function written(
  value: unknown,
  { indent, eol, mark, end, comments }: Layout,
  lax: boolean,
): [string, number] {
  const lines = JSON.stringify(value, null, indent).split('\n');
  const commented = lax && comments && lines.length > 1;
  const text = lines.map((line, at) =>
    commented ? `${line} ${at % 2 ? '//' : '/*'}c${at}${at % 2 ? '' : '*/'}` : line,
  );
  return [mark + text.join(eol) + end, commented ? lines.length : 0];
}

const commentsIn = (text: string) => text.match(/(?:\/\/|\/\*)c\d+/g)?.length ?? 0;

test('over random settings: all of them stay, twice is once, and back is byte for byte', () => {
  let ran = 0;
  for (const host of hosts) {
    const parts = partsOf(host);
    const format = formatOf(host);
    const event = fc.constantFrom(...host.wanted.map((each) => each.event), 'SessionStart');
    const foreign = fc.array(fc.constant(foreignFor(host)), { minLength: 1, maxLength: 3 });
    const servers = fc.dictionary(
      key.filter((text) => text !== 'agent-safety'),
      fc.constant({ command: 'x' }),
      { minKeys: 1, maxKeys: 2 },
    );
    const settings = fc.record(
      {
        rest: extra,
        hooks: fc.option(fc.dictionary(event, foreign, { minKeys: 1 })),
        servers: fc.option(servers),
        first: fc.boolean(),
      },
      { requiredKeys: ['rest', 'hooks', 'servers', 'first'] },
    );
    fc.assert(
      fc.property(settings, layout, ({ rest, hooks, servers, first }, look) => {
        const members = [
          ...Object.entries(rest),
          ...(hooks === null ? [] : [['hooks', hooks]]),
          ...(servers === null ? [] : [['mcpServers', servers]]),
          ...Object.entries(host.frame),
        ] as [string, unknown][];
        const value = Object.fromEntries(first ? members.toReversed() : members);
        const [before, comments] = written(value, look, format === 'jsonc');
        const plan = planned(before, format, parts, null);
        const after = readDocument(plan.after!, format);
        assert.equal(commentsIn(plan.after!), comments);
        assert.equal(planned(plan.after, format, parts, null).after, plan.after);
        assert.equal(plannedAway(plan.after, format, parts, receiptOf(plan)), before);
        const left = plannedAway(plan.after, format, parts, null)!;
        assert.deepEqual(plain(readDocument(left, format)), plain(readDocument(before, format)));
        assert.equal(commentsIn(left), comments);
        for (const [name, member] of Object.entries(rest))
          assert.deepEqual(
            plain({ member: (after as Record<string, unknown>)[name] }),
            plain({ member }),
            name,
          );
        ran += 1;
      }),
      { numRuns: 100 },
    );
  }
  assert.equal(ran, 500);
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
    assert.throws(() => planned(inline, 'toml', parts, null), /losing something|only a person/);
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
