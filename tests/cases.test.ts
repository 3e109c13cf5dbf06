/** The cases in `cases/`, over HTTP: the verdicts equal those of `judge`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import {
  type Case,
  type CaseGroup,
  differences,
  judgeCase,
  judgeOf,
  loadCases,
  pathOf,
  policyOf,
} from '../cases/run.ts';
import { startTestService, type TestService } from './support/service.ts';

const CASES_MIN = 290;

function documentFiles({ documents }: CaseGroup): Record<string, string> {
  return Object.fromEntries(documents.map((value, at) => [`policies/${at}.yaml`, JSON.stringify(value)]));
}

async function ask(service: TestService, { request }: Case): Promise<Record<string, unknown>> {
  const answer = await fetch(`${service.url}${pathOf(request.operation)}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: jsonText(request.body),
  });
  const reply = (await answer.json()) as Record<string, unknown>;
  assert.equal(answer.status, 200, `status ${answer.status}: ${JSON.stringify(reply)}`);
  return reply;
}

/** Does the same as `JSON.stringify`, for values that are nested deeper than its stack allows. */
function jsonText(value: unknown): string {
  let levels = 0;
  const shallow = JSON.stringify(value, (_key, part) => {
    if (!isNestOfLists(part)) return part;
    for (let inner: unknown = part; Array.isArray(inner); inner = inner[0]) levels += 1;
    return NEST;
  });
  return shallow.replace(`"${NEST}"`, `${'['.repeat(levels)}"deep"${']'.repeat(levels)}`);
}

const NEST = 'the nest of lists';

function isNestOfLists(part: unknown): part is unknown[] {
  return Array.isArray(part) && part.length === 1 && Array.isArray(part[0]) && part[0].length === 1;
}

/** Lists the faults in the answer to one case; empty if it is as expected and equals the verdict of `judge`. */
async function wrongWith(
  service: TestService,
  judgeNext: ReturnType<typeof judgeOf>,
  group: CaseGroup,
  each: Case,
): Promise<string[]> {
  const reply = await ask(service, each).catch((fault: unknown) => {
    // A case without an answer is reported with its name and the service's output, because it may only fail on a busy
    // machine.
    const cause = inspect(fault, { depth: 4 });
    throw new Error(`${group.file}: ${each.name}: ${cause}\n${service.logs().slice(-4_000)}`);
  });
  const judged = judgeCase(each, judgeNext);
  const { monitored: _, ...expected } = each.expect;
  const wrong = [...differences(expected, reply)];
  for (const field of ['decision', 'action', 'rule', 'reason']) {
    if (reply[field] !== judged[field]) wrong.push(`${field} is not that of judge`);
  }
  return wrong.map((sentence) => `${group.file}: ${each.name}: ${sentence}`);
}

test('every case holds over HTTP, with the verdict of judge', { timeout: 300_000 }, async (t) => {
  let ran = 0;
  const wrong: string[] = [];
  for (const group of loadCases()) {
    const service = await startTestService({ config: group.config, files: documentFiles(group), workers: 1 });
    const judgeNext = judgeOf(policyOf(group));
    try {
      for (const each of group.cases) {
        wrong.push(...(await wrongWith(service, judgeNext, group, each)));
        ran += 1;
      }
    } finally {
      await service.stop();
    }
  }
  t.diagnostic(`${ran} cases over HTTP`);
  assert.deepEqual(wrong, []);
  assert.ok(ran >= CASES_MIN, `only ${ran} cases ran`);
});
