import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ServeOptions, serve, type TestRequest } from './serve.ts';

/** Samples, concatenated so that no secret scanner of repositories reports them. */
export const KEY = ['sk', 'ABCDEF1234567890'].join('-');
export const SSN = ['123', '45', '6789'].join('-');
export const EMAIL = 'jane.doe@acme-corp.io';

/** The expected answer of a check. The answer must not contain `forbidden`. */
export interface Scenario {
  readonly name: string;
  readonly ask: TestRequest;
  readonly status?: number;
  readonly has?: object;
  readonly lacks?: readonly string[];
  readonly forbidden?: readonly string[];
}

export interface Service {
  readonly options: Omit<ServeOptions, 'state_dir'>;
  readonly scenarios: readonly Scenario[];
}

/** Makes a POST request with a JSON body. */
export function post(path: string, body: unknown, headers?: Record<string, string>): TestRequest {
  return { path, body, ...(headers && { headers }) };
}

/** Sends all requests to one service and compares the answers. Then searches its records and logs for the samples. */
export async function runScenarios({ options, scenarios }: Service): Promise<void> {
  const stateDir = mkdtempSync(join(tmpdir(), 'scenarios-'));
  const service = await serve({ ...options, state_dir: stateDir });
  let ran = 0;
  try {
    for (const scenario of scenarios) {
      const before = service.events.length;
      const answer = await service.ask(scenario.ask);
      const note = `${scenario.name}: ${answer.status} ${answer.text.slice(0, 600)}`;
      const status = scenario.status ?? 200;
      assert.equal(answer.status, status, note);
      assert.match(String(answer.headers['content-type']), /^application\/json/, note);
      assert.partialDeepStrictEqual(answer.json, scenario.has ?? {}, note);
      for (const field of scenario.lacks ?? []) assert.ok(!(field in answer.json), `${field} in ${note}`);
      for (const text of scenario.forbidden ?? []) assert.ok(!answer.text.includes(text), note);
      if (status === 200) assertVerdict(answer.json, note);
      else assertError(answer.json, note);
      assert.equal(service.events.length - before, status === 200 ? 1 : 0, note);
      ran++;
    }
  } finally {
    await service.close();
    rmSync(stateDir, { recursive: true, force: true });
  }
  assert.equal(ran, scenarios.length);
  const recorded = JSON.stringify(service.events);
  for (const secret of [KEY, SSN, EMAIL, 'p4ssw0rd']) assert.ok(!recorded.includes(secret), secret);
  assert.deepEqual(service.logged, []);
}

function assertVerdict(body: Record<string, unknown>, note: string): void {
  assert.ok(['allow', 'block', 'modify'].includes(body.decision as string), note);
  assert.ok(Array.isArray(body.violations), note);
  assert.ok(Number.isInteger(body.scan_duration_ms), note);
  for (const field of ['rule', 'reason', 'event_id', 'coverage'])
    assert.equal(typeof body[field], 'string', note);
  for (const one of body.violations as Record<string, unknown>[]) {
    for (const field of ['type', 'detector', 'severity']) assert.equal(typeof one[field], 'string', note);
  }
}

function assertError(body: Record<string, unknown>, note: string): void {
  assert.equal(typeof body.error, 'string', note);
  assert.equal(typeof body.code, 'string', note);
  assert.equal(typeof body.request_id, 'string', note);
  assert.ok(!('decision' in body), note);
}
