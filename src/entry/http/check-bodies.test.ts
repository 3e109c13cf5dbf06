import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { AnyOperation } from '../../operations/operation.ts';
import { operations } from '../../server/operations.ts';
import { type Answer, serve, type TestServer } from './testing/serve.ts';

interface BodyCase {
  readonly name: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** The expected answer: the same as for the example, or a refusal that matches. */
  readonly wants: 'same' | RegExp;
}

type Properties = Readonly<Record<string, { readonly properties?: Properties; readonly type?: unknown }>>;

const checks = operations.filter(({ check_body }) => check_body !== undefined);
const MARKER = 'zqxMARKERxqz';

type Example = Readonly<Record<string, unknown>>;

function getCases({ input, example: written, check_body = {} }: AnyOperation): readonly BodyCase[] {
  const example = written as Example;
  const properties = input.properties as Properties;
  const required: readonly string[] = input.required ?? [];
  const own = Object.keys(properties).filter((name) => name !== 'metadata');
  const optional = own.filter((name) => !required.includes(name) && example[name] === undefined);
  const ids = Object.keys(properties.context?.properties ?? {}).filter(
    (name) => name.endsWith('_id') && Object.hasOwn(properties, name),
  );
  const extend = (more: object) => ({ ...example, ...more });
  return [
    { name: 'as it is', body: example, wants: 'same' },
    { name: 'unknown', body: extend({ [MARKER]: MARKER }), wants: /^A member of the body is not known here/ },
    { name: 'free', body: extend({ metadata: { a: [MARKER] }, 'x-mine': MARKER }), wants: 'same' },
    ...own.map((name) => {
      const misspelt = name.length > 5 ? `${name.slice(0, -2)}${name.at(-1)}` : `${name}x`;
      const wants = new RegExp(`^\`${misspelt}\` is not known here.*did you mean \`\\w+\`\\?$`);
      return { name: `misspelt ${name}`, body: extend({ [misspelt]: MARKER }), wants };
    }),
    ...optional
      .filter((name) => properties[name]!.type !== undefined)
      .map((name): BodyCase => ({ name: `null ${name}`, body: extend({ [name]: null }), wants: 'same' })),
    ...ids.flatMap((name): BodyCase[] => {
      const { [name]: _, ...without } = example;
      const differs = new RegExp(`^\`${name}\` is another one than \`context.${name}\``);
      return [
        { name: `${name} in context`, body: { ...without, context: { [name]: 'one' } }, wants: 'same' },
        {
          name: `${name} in both`,
          body: { ...without, [name]: 'one', context: { [name]: 'one' } },
          wants: 'same',
        },
        {
          name: `${name} in both, other`,
          body: { ...without, [name]: 'one', context: { [name]: 'two' } },
          wants: differs,
        },
        { name: `${name} null in context`, body: extend({ context: { [name]: null } }), wants: 'same' },
      ];
    }),
    ...(properties.context === undefined
      ? []
      : [
          {
            name: 'unknown in context',
            body: extend({ context: { [MARKER]: 1 } }),
            wants: /^A member of `context` is not/,
          },
          {
            name: 'misspelt in context',
            body: extend({ context: { sesion_id: 's' } }),
            wants: /`context.session_id`|`session_id`/,
          },
        ]),
    ...Object.entries(check_body).flatMap(([name, others]) =>
      (others as readonly string[]).flatMap((other): BodyCase[] => {
        const { [name]: value, ...without } = example;
        const both = new RegExp(`^\`${name}\`, \`${other}\` are names of one thing`);
        return [
          { name: other, body: { ...without, [other]: value }, wants: 'same' },
          { name: `${name} and ${other}`, body: extend({ [other]: value }), wants: both },
          { name: `${name} and null ${other}`, body: extend({ [other]: null }), wants: 'same' },
        ];
      }),
    ),
  ];
}

async function ask(service: TestServer, { http }: AnyOperation, body: object): Promise<Answer> {
  return service.ask({ path: http.path, body });
}

test('every check route refuses what it does not know, and takes names where callers write them', async () => {
  const stateDir = mkdtempSync(join(tmpdir(), 'bodies-'));
  const service = await serve({ state_dir: stateDir });
  const counts: Record<string, number> = {};
  try {
    for (const operation of checks) {
      const plain = await ask(service, operation, operation.example as Example);
      counts[operation.name] = 0;
      for (const { name, body, wants } of getCases(operation)) {
        const answer = await ask(service, operation, body);
        const note = `${operation.name}, ${name}: ${answer.status} ${answer.text.slice(0, 300)}`;
        if (wants === 'same') {
          assert.equal(answer.status, plain.status, note);
          assert.equal(answer.json.decision, plain.json.decision, note);
        } else {
          assert.equal(answer.status, 400, note);
          assert.equal(answer.json.code, 'invalid_request', note);
          assert.match(answer.json.error, wants, note);
        }
        assert.ok(!answer.text.includes(MARKER), note);
        counts[operation.name]! += 1;
      }
    }
  } finally {
    await service.close();
    rmSync(stateDir, { recursive: true });
  }
  assert.deepEqual(counts, {
    guard_output: 27,
    intercept_agent_message: 32,
    intercept_tool: 59,
    mcp_tools_check: 13,
    memory_read: 38,
    memory_resolve_handle: 34,
    memory_write: 39,
    proxy_forward: 43,
    scan_file: 33,
    scan_input: 27,
    scan_structured: 27,
  });
});

test('ids are the same at the top and in `context`', async () => {
  const stateDir = mkdtempSync(join(tmpdir(), 'bodies-'));
  const service = await serve({ state_dir: stateDir });
  const ids = { agent_id: 'a-7', session_id: 's-7', tenant_id: 't-7' };
  let ran = 0;
  try {
    // `proxy_forward` has no target here, and records nothing.
    const named = checks.filter(({ input }) => input.properties.context !== undefined);
    for (const operation of named.filter(({ name }) => name !== 'proxy_forward')) {
      for (const placed of [ids, { context: ids }]) {
        const before = service.events.length;
        const { agent_id: _a, session_id: _s, tenant_id: _t, ...example } = operation.example as Example;
        await ask(service, operation, { ...example, ...placed });
        const [event] = service.events.slice(before);
        const { agent_id, session_id, tenant_id } = event!;
        assert.deepEqual({ agent_id, session_id, tenant_id }, ids, operation.name);
        ran += 1;
      }
    }
  } finally {
    await service.close();
    rmSync(stateDir, { recursive: true });
  }
  assert.equal(ran, 18);
});
