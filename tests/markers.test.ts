/**
 * Raw text stops at the boundary: values are planted in every place that a caller can write to. Then every byte that
 * the service wrote (journal, index, policies, logs, metrics, errors) is searched for them.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { startTestService, type TestService } from './support/service.ts';

const marker = 'Zq7Marker';
const secret = ['sk-', `${marker}ABCDEF1234567890`].join('');
const mail = `${marker.toLowerCase()}@corp-mail.io`;
const password = `${marker}p4ss`;
const connection = `postgresql://admin:${password}@db.internal:5432/prod`;

let service: TestService;
before(async () => {
  service = await startTestService({ workers: 2 });
});
after(() => service.stop());

interface PlantedMarker {
  readonly path: string;
  readonly body: string;
  readonly type?: string;
}

const text = `key ${secret} mail ${mail} url ${connection}`;
const planted: readonly PlantedMarker[] = [
  { path: '/v1/scan/input', body: JSON.stringify({ text }) },
  { path: '/v1/guard/output', body: JSON.stringify({ text }) },
  { path: '/v1/scan/structured', body: JSON.stringify({ payload: { [secret]: 1, list: [text, { mail }] } }) },
  {
    path: '/v1/scan/structured',
    body: JSON.stringify({ payload: { inner: JSON.stringify({ [mail]: text }) } }),
  },
  { path: '/v1/scan/file', body: JSON.stringify({ name: `${secret}.txt`, content: text }) },
  { path: '/v1/scan/file', body: JSON.stringify({ name: 'a.json', content: JSON.stringify({ a: text }) }) },
  {
    path: '/v1/intercept/tool',
    body: JSON.stringify({ tool: 'send', input: { [mail]: secret, url: connection } }),
  },
  {
    path: '/v1/intercept/tool',
    body: JSON.stringify({ tool: 'fetch', phase: 'response', input: {}, output: { body: text } }),
  },
  {
    path: '/v1/intercept/agent-message',
    body: JSON.stringify({ message: text, source_agent_id: 'a', destination_agent_id: 'b' }),
  },
  // Malformed requests, whose errors must not repeat their content.
  { path: '/v1/scan/input', body: JSON.stringify({ text: { wrong: text } }) },
  { path: '/v1/scan/input', body: `{"text": "${secret}` },
  { path: '/v1/scan/input', body: text, type: 'text/plain' },
  { path: `/v1/${marker}/${mail}`, body: '{}' },
  { path: '/v1/audit/query', body: JSON.stringify({ since: text, limit: mail }) },
  { path: '/v1/audit/query', body: JSON.stringify({ last: secret }) },
];

/** Yields every file below `dir`, decompressed if it is gzip. */
function* filesBelow(dir: string): Generator<{ name: string; bytes: string }> {
  for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true })) {
    const name = join(entry.parentPath, entry.name);
    if (!statSync(name, { throwIfNoEntry: false })?.isFile()) continue;
    const raw = readFileSync(name);
    yield { name, bytes: (name.endsWith('.gz') ? gunzipSync(raw) : raw).toString('latin1') };
  }
}

function assertClean(place: string, bytes: string): void {
  for (const part of [marker, marker.toLowerCase(), password]) {
    assert.ok(!bytes.includes(part), `${place} holds a planted value`);
  }
}

test('nothing that was matched is written anywhere', async () => {
  let refused = 0;
  for (const { path, body, type } of planted) {
    const answer = await fetch(`${service.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': type ?? 'application/json', 'user-agent': secret, 'x-request-id': mail },
      body,
    });
    const reply = await answer.text();
    if (answer.ok) continue;
    refused += 1;
    assertClean(`the error of ${path.slice(0, 12)}`, reply);
    assert.ok(answer.status < 500, `${answer.status}`);
  }
  assert.equal(refused, 6);
  assertClean('the metrics', await (await fetch(`${service.url}/v1/metrics`)).text());
  const audit = await fetch(`${service.url}/v1/audit/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"limit":100}',
  });
  const page = (await audit.json()) as { count: number };
  assert.equal(page.count, planted.length - refused);
  assertClean('the audit query', JSON.stringify(page));
  assertClean('the log', service.logs());
  let files = 0;
  for (const { name, bytes } of filesBelow(service.state_dir)) {
    assertClean(name, bytes);
    files += 1;
  }
  assert.ok(files >= 4, `only ${files} files were searched`);
});

test('the search finds what is there', () => {
  assert.throws(() => assertClean('a control', `x ${secret} y`));
});
