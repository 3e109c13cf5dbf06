import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { operations } from '../../server/operations.ts';
import { serve, type TestRequest, type TestServer } from './testing/serve.ts';

const scratch = mkdtempSync(join(tmpdir(), 'bad-input-'));
const LIMIT = 65_536;
/** A marker in every bad input; no answer and no log may contain it. */
const MARKER = 'zqxMARKERxqz';

let service: TestServer;
before(async () => {
  service = await serve({ state_dir: scratch, body_bytes_max: LIMIT });
});
after(async () => {
  await service.close();
  rmSync(scratch, { recursive: true, force: true });
});

const JSON_TYPE = { 'content-type': 'application/json' };
const raw = (
  body: string | Buffer,
  headers: Record<string, string> = JSON_TYPE,
  path = '/v1/scan/input',
): TestRequest => ({
  path,
  body,
  headers,
});
const text = (value: unknown) => ({ text: value });
const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

interface Bad {
  readonly name: string;
  readonly ask: TestRequest;
  readonly status: number;
  readonly code: string;
  readonly paths?: readonly string[];
}

const invalid = (name: string, ask: TestRequest, ...paths: string[]): Bad => ({
  name,
  ask,
  status: 400,
  code: 'invalid_request',
  ...(paths.length > 0 && { paths }),
});
const unsupported = (name: string, ask: TestRequest): Bad => ({
  name,
  ask,
  status: 415,
  code: 'unsupported_media_type',
});
const scan = (body: unknown): TestRequest => ({ path: '/v1/scan/input', body });
const tool = (body: unknown): TestRequest => ({ path: '/v1/intercept/tool', body });
const audit = (body: unknown): TestRequest => ({ path: '/v1/audit/query', body });

const bad: readonly Bad[] = [
  invalid('no body', { path: '/v1/scan/input', method: 'POST' }, 'text'),
  invalid('an empty body', raw(''), 'text'),
  invalid('an empty object', scan({}), 'text'),
  invalid('cut off', raw(`{"text": "${MARKER}`)),
  invalid('two values', raw(`{"text":"a"} "${MARKER}"`)),
  invalid('a comma too many', raw('{"text":"a",}')),
  invalid('single quotes', raw(`{'text':'${MARKER}'}`)),
  invalid('a bare word', raw(MARKER)),
  invalid('NaN', raw('{"text":NaN}')),
  invalid('a control character in a string', raw(`{"text":"${MARKER}\n"}`)),
  invalid('two members of one name', raw(`{"text":"${MARKER}","text":"a"}`)),
  invalid('two members of one name, deep', raw('{"text":"a","context":{"tool":"a","t\\u006fol":"b"}}')),
  invalid('an array', raw('[]')),
  invalid('an array in an array, as often as the body allows', raw(nested(LIMIT / 2))),
  invalid('a deep list where an agent belongs', raw(`{"text":"a","agent_id":${nested(30_000)}}`), 'agent_id'),
  invalid('a string', raw(`"${MARKER}"`)),
  invalid('a number', raw('7')),
  invalid('null', raw('null')),
  invalid('invalid UTF-8', raw(Buffer.from([...Buffer.from('{"text":"'), 0xff, 0xfe, ...Buffer.from('"}')]))),
  invalid(
    'a surrogate written in UTF-8',
    raw(Buffer.from([...Buffer.from('{"text":"'), 0xed, 0xa0, 0x80, ...Buffer.from('"}')])),
  ),
  invalid(
    'an overlong encoding',
    raw(Buffer.from([...Buffer.from('{"text":"'), 0xc0, 0xaf, ...Buffer.from('"}')])),
  ),
  invalid('UTF-16', raw(Buffer.from('\ufeff{"text":"a"}', 'utf16le'))),
  ...[7, true, null, [MARKER], { text: MARKER }].map((value) =>
    invalid(`text that is ${JSON.stringify(value)}`, scan(text(value)), 'text'),
  ),
  invalid('an agent that is a number', scan({ text: 'a', agent_id: 7 }), 'agent_id'),
  invalid('an agent that is a list', scan({ text: 'a', agent_id: [MARKER] }), 'agent_id'),
  invalid('an agent with a line break', scan({ text: 'a', agent_id: `${MARKER}\nx` }), 'agent_id'),
  invalid('an agent that is half a character', scan({ text: 'a', agent_id: '\ud800' }), 'agent_id'),
  invalid('an agent too long', scan({ text: 'a', agent_id: MARKER.repeat(30) }), 'agent_id'),
  invalid('a tenant too long', scan({ text: 'a', tenant_id: MARKER.repeat(30) }), 'tenant_id'),
  invalid('a context that is a list', scan({ text: 'a', context: [MARKER] }), 'context'),
  invalid(
    'a session that is a number',
    scan({ text: 'a', context: { session_id: 7 } }),
    'context.session_id',
  ),
  invalid(
    'several mistakes at once',
    scan({ text: 7, agent_id: 7, context: 7 }),
    'text',
    'agent_id',
    'context',
  ),
  invalid('a payload that is missing', { path: '/v1/scan/structured', body: {} }, 'payload'),
  invalid('no tool', tool({ input: {} }), 'tool'),
  invalid('an empty tool', tool({ tool: '' }), 'tool'),
  invalid('a tool with a line break', tool({ tool: `${MARKER}\r` }), 'tool'),
  invalid('two names of the tool', tool({ tool: 'x', tool_name: MARKER }), 'tool_name'),
  invalid('two names of the arguments', tool({ tool: 'x', args: { a: MARKER }, params: {} }), 'params'),
  invalid('a result without its phase', tool({ tool: 'x', output: MARKER }), 'output'),
  invalid('a field that nobody knows', tool({ tool: 'x', [MARKER]: MARKER }), ''),
  invalid('arguments that are a list', tool({ tool: 'x', input: [MARKER] }), 'input'),
  invalid('arguments that are a text', tool({ tool: 'x', input: MARKER }), 'input'),
  invalid('an unknown phase', tool({ tool: 'x', phase: MARKER }), 'phase'),
  invalid('tags that are a text', tool({ tool: 'x', data_tags: MARKER }), 'data_tags'),
  invalid('a tag with a space', tool({ tool: 'x', data_tags: ['a', `${MARKER} x`] }), 'data_tags[1]'),
  invalid('a tag with a slash', tool({ tool: 'x', data_tags: [`pii/${MARKER}`] }), 'data_tags[0]'),
  invalid('too many tags', tool({ tool: 'x', data_tags: Array(65).fill('a') }), 'data_tags'),
  invalid('a limit that is a text', audit({ limit: '5' }), 'limit'),
  invalid('a limit of nothing', audit({ limit: 0 }), 'limit'),
  invalid('a limit too high', audit({ limit: 10_001 }), 'limit'),
  invalid('a limit between two', audit({ limit: 1.5 }), 'limit'),
  invalid('a duration that is none', audit({ last: MARKER }), 'last'),
  invalid('a time that is none', audit({ since: MARKER }), 'since'),
  invalid('a boundary that is none', audit({ boundary: MARKER }), 'boundary'),
  invalid('a path that is none', { path: `/v1/policies/templates/%zz${MARKER}` }),
  {
    name: 'a template that is none',
    ask: { path: `/v1/policies/templates/${MARKER}` },
    status: 404,
    code: 'not_found',
  },
  {
    name: 'a name too long for a path',
    ask: { path: `/v1/policies/templates/${MARKER.repeat(30)}` },
    status: 404,
    code: 'not_found',
  },
  { name: 'no such route', ask: { path: `/v1/${MARKER}?q=${MARKER}` }, status: 404, code: 'not_found' },
  {
    name: 'no such route, with a broken body',
    ask: raw(`{"${MARKER}`, JSON_TYPE, '/v1/nothing'),
    status: 404,
    code: 'not_found',
  },
  { name: 'a trailing slash', ask: { path: '/v1/health/' }, status: 404, code: 'not_found' },
  { name: 'the wrong method', ask: { path: '/v1/scan/input' }, status: 405, code: 'method_not_allowed' },
  {
    name: 'the wrong method, with a broken body',
    ask: { ...raw(`{"${MARKER}`), method: 'PUT' },
    status: 405,
    code: 'method_not_allowed',
  },
  {
    name: 'a body where none is taken',
    ask: { path: '/v1/health', method: 'DELETE' },
    status: 405,
    code: 'method_not_allowed',
  },
  { name: 'a body over the limit', ask: scan(text('a'.repeat(LIMIT))), status: 413, code: 'too_large' },
  {
    name: 'an upload over the limit',
    ask: raw(
      Buffer.alloc(LIMIT + 1, 97),
      { 'content-type': 'multipart/form-data; boundary=x' },
      '/v1/scan/file',
    ),
    status: 413,
    code: 'too_large',
  },
  {
    name: 'a body without a length, over the limit',
    ask: raw('a'.repeat(LIMIT * 4), { ...JSON_TYPE, 'transfer-encoding': 'chunked' }),
    status: 413,
    code: 'too_large',
  },
  unsupported('no content type', raw('{"text":"a"}', {})),
  unsupported('plain text', raw(MARKER, { 'content-type': 'text/plain' })),
  unsupported('a form', raw(`text=${MARKER}`, { 'content-type': 'application/x-www-form-urlencoded' })),
  unsupported(
    'a type that only begins like JSON',
    raw('{"text":"a"}', { 'content-type': 'application/jsonp' }),
  ),
  unsupported('a type that is none', raw('{"text":"a"}', { 'content-type': MARKER })),
  unsupported('another charset', raw('{"text":"a"}', { 'content-type': 'application/json; charset=utf-16' })),
  unsupported('compressed', raw('{"text":"a"}', { ...JSON_TYPE, 'content-encoding': 'gzip' })),
  invalid(
    'an upload where none is taken',
    raw(MARKER, { 'content-type': 'multipart/form-data; boundary=x' }),
  ),
  invalid(
    'an upload without a boundary',
    raw(MARKER, { 'content-type': 'multipart/form-data' }, '/v1/scan/file'),
  ),
  invalid(
    'an upload cut off',
    raw(
      `--x\r\ncontent-disposition: form-data; name="f"; filename="${MARKER}"\r\n\r\nab`,
      { 'content-type': 'multipart/form-data; boundary=x' },
      '/v1/scan/file',
    ),
  ),
];

test('bad input gets a clear answer, and nothing of it is repeated', async () => {
  let ran = 0;
  for (const { name, ask, status, code, paths } of bad) {
    const answer = await service.ask(ask);
    const note = `${name}: ${answer.status} ${answer.text.slice(0, 300)}`;
    assert.equal(answer.status, status, note);
    assert.equal(answer.json?.code, code, note);
    assert.match(answer.json.error, /^.+[.]$/, note);
    assert.ok(
      !('statusCode' in answer.json) && !('message' in answer.json) && !('stack' in answer.json),
      note,
    );
    assert.equal(answer.headers['x-request-id'], answer.json.request_id, note);
    assert.ok(!answer.text.includes(MARKER) && !JSON.stringify(answer.headers).includes(MARKER), note);
    if (paths !== undefined) {
      assert.deepEqual(
        answer.json.details.map((one: { path: string }) => one.path).sort(),
        [...paths].sort(),
        note,
      );
    }
    ran++;
  }
  assert.equal(ran, bad.length);
  assert.ok(ran >= 70, String(ran));
  assert.deepEqual(service.logged, []);
  assert.equal(service.events.length, 0);
});

const odd: readonly { name: string; ask: TestRequest; decision: string; violation?: string }[] = [
  { name: 'a NUL', ask: scan(text('a\0b')), decision: 'allow' },
  { name: 'half a character', ask: raw('{"text":"a\\ud800b"}'), decision: 'allow' },
  {
    name: 'a key between NULs',
    ask: scan(text(`\0${['sk', 'ABCDEF1234567890'].join('-')}\0`)),
    decision: 'block',
  },
  {
    name: 'JSON by another name',
    ask: raw('{"text":"a"}', { 'content-type': 'Application/Vnd.Api+JSON; Charset="UTF-8"' }),
    decision: 'allow',
  },
  {
    name: '10,000 arrays in each other',
    ask: raw(`{"payload":${'['.repeat(10_000)}${']'.repeat(10_000)}}`, JSON_TYPE, '/v1/scan/structured'),
    decision: 'block',
    violation: 'coverage_exceeded',
  },
  {
    name: '10,000 objects in each other',
    ask: raw(
      `{"tool":"x","input":${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}}`,
      JSON_TYPE,
      '/v1/intercept/tool',
    ),
    decision: 'block',
    violation: 'coverage_exceeded',
  },
  {
    name: 'deep where nothing is looked for',
    ask: raw(`{"text":"a","x-a":${'['.repeat(10_000)}${']'.repeat(10_000)}}`),
    decision: 'allow',
  },
];

test('odd input gets a decision', async () => {
  let ran = 0;
  for (const { name, ask, decision, violation } of odd) {
    const answer = await service.ask(ask);
    const note = `${name}: ${answer.status} ${answer.text.slice(0, 300)}`;
    assert.equal(answer.status, 200, note);
    assert.equal(answer.json.decision, decision, note);
    if (violation !== undefined) {
      assert.equal(answer.json.violations[0].type, violation, note);
      assert.equal(answer.json.coverage, 'partial', note);
      assert.equal(typeof answer.json.coverage_reason, 'string', note);
      assert.ok(Number.isInteger(answer.json.coverage_bytes), note);
    }
    ran++;
  }
  assert.equal(ran, odd.length);
});

test('no body, whatever it is, meets a fault of ours', async () => {
  const paths = operations.filter(({ http }) => http.method === 'POST').map(({ http }) => http.path);
  const types = ['application/json', 'multipart/form-data; boundary=x', 'text/plain'];
  const shaped = fc.record(
    {
      text: fc.oneof(fc.string({ unit: 'binary' }), fc.jsonValue()),
      payload: fc.jsonValue(),
      tool: fc.oneof(fc.string(), fc.jsonValue()),
      message: fc.string({ unit: 'binary' }),
      input: fc.dictionary(fc.string(), fc.jsonValue()),
      output: fc.jsonValue(),
      phase: fc.constantFrom('request', 'response', 7),
      data_tags: fc.oneof(fc.array(fc.stringMatching(/^[a-z.]{1,12}$/)), fc.jsonValue()),
      source_agent_id: fc.oneof(fc.string(), fc.jsonValue()),
      destination_agent_id: fc.oneof(fc.string(), fc.jsonValue()),
      context: fc.jsonValue(),
      name: fc.constantFrom('a.json', 'a.txt', 7),
      content: fc.oneof(fc.json(), fc.string()),
      content_base64: fc.oneof(fc.base64String(), fc.string()),
      boundary: fc.constantFrom('input', 'output', 'x'),
      last: fc.string(),
      limit: fc.oneof(fc.integer(), fc.double()),
    },
    { requiredKeys: [] },
  );
  const body = fc.oneof(
    { weight: 3, arbitrary: shaped.map((value) => Buffer.from(JSON.stringify(value))) },
    { weight: 1, arbitrary: fc.json().map((json) => Buffer.from(json)) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)) },
  );
  let ran = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...paths),
      fc.constantFrom(...types),
      body,
      async (path, type, bytes) => {
        const answer = await service.ask({ path, body: bytes, headers: { 'content-type': type } });
        ran++;
        const configured = answer.json?.code !== 'not_configured';
        assert.ok(!configured || answer.status < 500, `${path} ${answer.status} ${answer.text}`);
        assert.ok(answer.json !== null, path);
      },
    ),
    { numRuns: 400 },
  );
  assert.ok(ran >= 400, String(ran));
  assert.deepEqual(service.logged, []);
});
