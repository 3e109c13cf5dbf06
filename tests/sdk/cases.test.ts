/** The cases in `cases/`, with the guards of the SDK: all in process, and a sample of their files over HTTP. The verdicts equal those of `judge`. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import {
  type Case,
  type CaseGroup,
  differences,
  judgeCase,
  judgeOf,
  loadCases,
  policyOf,
  runAll,
} from '../../cases/run.ts';
import { auditImport } from '../../src/features/reported-decisions/operations.ts';
import { callOperation } from '../../src/operations/call.ts';
import { createTestRuntime } from '../../src/operations/testing/runtime.ts';
import { LOOPBACK_CALLER } from '../../src/runtime/access/callers.ts';
import { type RefusedDecision, reportDecisions } from '../../src/sdk/client/report-decisions.ts';
import {
  createClientGuard,
  createEmbeddedGuard,
  type DecisionRecord,
  type Guard,
  type GuardVerdict,
} from '../../src/sdk/index.ts';
import { sampleRows } from '../support/nightly.ts';
import { startTestService } from '../support/service.ts';

type Body = Readonly<Record<string, unknown>>;

/** Asks a guard what a case asks the service. */
function ask(guard: Guard, { request: { operation, body } }: Case): Promise<GuardVerdict> {
  const { text, payload, message, tool, input, output, phase, context, ...about } = body as Body;
  const { tool: aboutTool, ...who } = (context ?? {}) as Body;
  const subject = { ...who, ...about, ...(aboutTool !== undefined && { tool: aboutTool }) } as never;
  switch (operation) {
    case 'scan_input':
      return guard.input(text as string, subject);
    case 'scan_structured':
      return guard.structured(payload, subject);
    case 'guard_output':
      return guard.output(text as string, subject);
    case 'intercept_agent_message':
      return guard.message(message as string, subject);
    case 'intercept_tool':
      return phase === 'response'
        ? guard.toolResult(tool as string, output, subject)
        : guard.tool(tool as string, input, subject);
  }
}

/** Returns the faults of a group on a guard: against the expectation, and against `judge`. */
async function runGroup(group: CaseGroup, guard: Guard): Promise<readonly string[]> {
  const judgeNext = judgeOf(policyOf(group));
  const wrong: string[] = [];
  for (const each of group.cases) {
    const verdict = (await ask(guard, each)) as unknown as Body;
    const judged = judgeCase(each, judgeNext);
    const { monitored: _, ...expected } = each.expect;
    const found = [...differences(expected, verdict)];
    for (const field of ['decision', 'action', 'rule', 'reason'])
      if (verdict[field] !== judged[field]) found.push(`${field} is not that of judge: ${verdict[field]}`);
    wrong.push(...found.map((sentence) => `${group.file}: ${each.name}: ${sentence}`));
  }
  return wrong;
}

/** The cases that ran on each runtime. */
const ran = new Map<string, number>();
const subject = { agent_id: 'unknown', session_id: null } as const;

/** The files of cases that are tried over HTTP. */
const SAMPLE = sampleRows(loadCases(), 4);

after(() => {
  const sampled = SAMPLE.reduce((sum, { cases }) => sum + cases.length, 0);
  assert.deepEqual(Object.fromEntries(ran), { local: runAll().count, client: sampled });
  assert.ok(sampled > 0);
});

test('every case holds on a guard in process', async (t) => {
  const wrong: string[] = [];
  let count = 0;
  for (const group of loadCases()) {
    const documents = group.documents.map((value, at) => ({ file: `policies/${at}.yaml`, value }));
    const guard = createEmbeddedGuard({ ...subject, policy: { config: group.config, documents } });
    wrong.push(...(await runGroup(group, guard)));
    count += group.cases.length;
  }
  ran.set('local', count);
  t.diagnostic(`${count} cases in process`);
  assert.deepEqual(wrong, []);
});

test('a service records the decision on every case', async () => {
  const records: DecisionRecord[] = [];
  for (const group of loadCases()) {
    const documents = group.documents.map((value, at) => ({ file: `policies/${at}.yaml`, value }));
    const record = (event: DecisionRecord) => void records.push(event);
    await runGroup(
      group,
      createEmbeddedGuard({ ...subject, record, policy: { config: group.config, documents } }),
    );
  }
  const { runtime, events } = createTestRuntime();
  const context = { runtime, caller: LOOPBACK_CALLER, request_id: 'req' };
  const fetch = async (_url: string, { body }: RequestInit) =>
    Response.json(await callOperation(auditImport, JSON.parse(body as string), context));
  const refused: RefusedDecision[] = [];
  for (let from = 0; from < records.length; from += 100) {
    const address = { url: 'http://service', key: undefined, timeout_ms: 60_000, fetch };
    refused.push(...(await reportDecisions(address, records.slice(from, from + 100))).refused);
  }
  assert.deepEqual(refused, []);
  assert.equal(events.length, records.length);
  assert.ok(records.length >= runAll().count, `${records.length}`);
});

test('cases hold on a guard of a service', { timeout: 300_000 }, async (t) => {
  const wrong: string[] = [];
  let count = 0;
  for (const group of SAMPLE) {
    const files = group.documents.map((value, at) => [`policies/${at}.yaml`, JSON.stringify(value)]);
    const service = await startTestService({
      config: group.config,
      files: Object.fromEntries(files),
      workers: 1,
    });
    try {
      wrong.push(...(await runGroup(group, createClientGuard({ ...subject, url: service.url }))));
      count += group.cases.length;
    } finally {
      await service.stop();
    }
  }
  ran.set('client', count);
  t.diagnostic(`${count} cases over HTTP`);
  assert.deepEqual(wrong, []);
});
