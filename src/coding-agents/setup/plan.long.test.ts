import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { codingAgents } from '../coding-agents.ts';
import { formatHookCommand } from '../record/hook-command.ts';
import { listInstalledHooks } from '../record/settings.ts';
import { planInstall, planUninstall } from './plan.ts';
import { readDocument } from './settings-document.ts';
import { foreignFor, getFormat, getParts, getReceipt, plain } from './testing/settings.ts';

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

/**
 * Writes a value as JSON. In a layout with line breaks every line gets a comment; the second result is their number.
 */
function writeLayout(
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
  for (const agent of codingAgents) {
    const parts = getParts(agent);
    const format = getFormat(agent);
    const event = fc.constantFrom(
      ...listInstalledHooks(agent.settings).map((each) => each.event),
      'SessionStart',
    );
    const foreign = fc.array(fc.constant(foreignFor(agent)), { minLength: 1, maxLength: 3 });
    const servers = fc.dictionary(
      key.filter((text) => text !== 'customshouse'),
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
          ...Object.entries(agent.settings.required_keys),
        ] as [string, unknown][];
        const value = Object.fromEntries(first ? members.toReversed() : members);
        const [before, comments] = writeLayout(value, look, format === 'jsonc');
        const plan = planInstall(before, format, parts, null);
        const after = readDocument(plan.after!, format);
        assert.equal(commentsIn(plan.after!), comments);
        assert.equal(planInstall(plan.after, format, parts, null).after, plan.after);
        assert.equal(planUninstall(plan.after, format, parts, getReceipt(plan)), before);
        const left = planUninstall(plan.after, format, parts, null)!;
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

/** The text between two tokens: blanks of any kind, and comments if the format has them. */
const GAPS = ['', '', ' ', '\n', '\r\n', '\t', ' \n  ', '\n\n'] as const;
const COMMENTS = ['// one\n', '/* two */', ' /* three\n */ ', '\n// four\n  ', '/* , */', '// ]}\n'] as const;

test('over random gaps and comments between tokens: nothing is refused, no comment is lost, and back is byte for byte', () => {
  let ran = 0;
  for (const agent of codingAgents) {
    const format = getFormat(agent);
    const lax = format === 'jsonc';
    const parts = getParts(agent);
    const command = formatHookCommand({
      program: ['service'],
      config: '/old.yaml',
      dialect: agent.name,
      event: null,
      guards_exit: true,
    });
    const old = agent.settings.hook_format.entry(agent.settings.wanted_hooks[0]!, command);
    const hooks = fc.dictionary(
      fc.constantFrom(...agent.settings.wanted_hooks.map((each) => each.event), 'Stop'),
      fc.array(fc.constantFrom(foreignFor(agent), old), { minLength: 1, maxLength: 3 }),
      { maxKeys: 3 },
    );
    const gap = lax ? fc.constantFrom(...GAPS, ...COMMENTS) : fc.constantFrom(...GAPS);
    const gaps = fc.infiniteStream(gap);
    fc.assert(
      fc.property(hooks, fc.option(extra), gaps, fc.boolean(), (entries, rest, between, trailing) => {
        const value = { ...rest, hooks: entries, ...agent.settings.required_keys };
        const tokens = JSON.stringify(value).match(/"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^{}[\]:,"]+/g)!;
        const text = tokens
          .flatMap((token, at) => {
            const closes = lax && trailing && '}]'.includes(token) && !'{['.includes(tokens[at - 1]!);
            return [between.next().value, closes ? ',' : '', token];
          })
          .join('');
        const comments = (each: string) => COMMENTS.map((one) => each.split(one.trim()).length - 1);
        const plan = planInstall(text, format, parts, null);
        // A comment inside of an older hook is removed with it.
        const isFresh = !text.includes('service hook');
        if (isFresh) assert.deepEqual(comments(plan.after!), comments(text));
        assert.equal(planInstall(plan.after, format, parts, null).after, plan.after);
        const mine = agent.settings.hook_format
          .list(readDocument(plan.after!, format))
          .filter(({ is_ours }) => is_ours);
        assert.equal(mine.length, listInstalledHooks(agent.settings).length);
        const back = planUninstall(plan.after, format, parts, getReceipt(plan))!;
        if (isFresh) assert.equal(back, text);
        for (const left of [back, planUninstall(plan.after, format, parts, null)!]) {
          assert.ok(!left.includes('service hook'));
          const foreign = Object.values(entries)
            .flat()
            .filter((each) => each !== old).length;
          assert.equal(agent.settings.hook_format.list(readDocument(left, format)).length, foreign);
        }
        ran += 1;
      }),
      { numRuns: 150 },
    );
  }
  assert.equal(ran, 750);
});
