import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { EMAIL } from './testing/scenarios.ts';
import { serve, type TestRequest } from './testing/serve.ts';

/** JSON that a parser and a writer would change, around one text that is masked. */
const before = (text: string) =>
  `{ "id": 1234567890123456789,"10":1.0, "2" : [1e3, -0, 1E+2, 0.10],\n "note":"${text}", "\\u00e9":"caf\\u00e9\\/", "big":1e400}`;

const ask = (path: string, body: string): TestRequest => ({
  method: 'POST',
  path,
  headers: { 'content-type': 'application/json' },
  body,
});

const mask = { boundary: 'action', data_tags: ['personal'], action: 'redact' };
const rules = [
  { name: 'calls', ...mask },
  { name: 'results', ...mask, condition: { phase: 'response' } },
];

test('only what is masked changes in a JSON value: every other byte is copied', async () => {
  const stateDir = mkdtempSync(join(tmpdir(), 'digits-'));
  const service = await serve({ state_dir: stateDir, rules });
  const file = JSON.stringify(before(EMAIL));
  const cases: readonly [string, string, string][] = [
    ['/v1/scan/structured', `{"payload":${before(EMAIL)}}`, 'modified_payload'],
    ['/v1/intercept/tool', `{"tool":"t","input":${before(EMAIL)}}`, 'modified_input'],
    ['/v1/intercept/tool', `{"tool":"t","phase":"response","output":${before(EMAIL)}}`, 'modified_output'],
    ['/v1/scan/file', `{"name":"a.json","content":${file}}`, 'modified_payload'],
  ];
  let ran = 0;
  try {
    for (const [path, body, field] of cases) {
      const { status, text, json } = await service.ask(ask(path, body));
      assert.equal(status, 200, text);
      assert.equal(json.decision, 'modify', text);
      const at = text.indexOf(`"${field}":`) + field.length + 3;
      assert.equal(text.slice(at, at + before('[REDACTED]').length), before('[REDACTED]'), path);
      ran += 1;
    }
    assert.equal(ran, 4);
  } finally {
    await service.close();
    rmSync(stateDir, { recursive: true });
  }
});

test('numbers are judged with the digits that leave, and twin members are refused', async () => {
  const stateDir = mkdtempSync(join(tmpdir(), 'digits-'));
  const service = await serve({ state_dir: stateDir });
  const card = ['4111', '1111', '1111', '1111'].join('');
  const cases: readonly [string, string, number, string | undefined][] = [
    ['/v1/scan/structured', `{"payload":{"n":${card}.0}}`, 200, 'modify'],
    ['/v1/scan/structured', `{"payload":{"n":${card.slice(0, -1)}.1e1}}`, 200, 'modify'],
    ['/v1/scan/structured', '{"payload":{"a":1,"a":2}}', 400, undefined],
    ['/v1/scan/input', '{"text":"a","text":"b"}', 400, undefined],
    ['/v1/scan/input', '{"text":"a","context":{"tool":"x","\\u0074ool":"y"}}', 400, undefined],
    ['/v1/intercept/tool', '{"tool":"t","input":{"a":1,"a":2}}', 400, undefined],
    ['/v1/guard/output', '{"text":"a","agent_id":"a","agent_id":"b"}', 400, undefined],
  ];
  let ran = 0;
  try {
    for (const [path, body, status, decision] of cases) {
      const answer = await service.ask(ask(path, body));
      assert.equal(answer.status, status, `${body}: ${answer.text}`);
      assert.equal(answer.json.decision, decision, body);
      ran += 1;
    }
    assert.equal(ran, 7);
  } finally {
    await service.close();
    rmSync(stateDir, { recursive: true });
  }
});
