/** The cases in `cases/`, over HTTP: the verdicts equal those of `judge`, and the whole answers those in `net/data`. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { differences, judgeCase, judgeOf, loadCases, policyOf } from '../cases/run.ts';
import {
  type CaseRun,
  describeJournals,
  describeMetrics,
  describeReplies,
  runCasesOverHttp,
} from './net/cases-over-http.ts';
import { compareWithData } from './net/lines.ts';

const CASES_MIN = 290;

let run: CaseRun;
before(
  async () => {
    run = await runCasesOverHttp();
  },
  { timeout: 300_000 },
);

test('every case holds over HTTP, with the verdict of judge', (t) => {
  const judges = new Map(loadCases().map((group) => [group.file, judgeOf(policyOf(group))]));
  const wrong = run.answers.flatMap(({ group, one, reply }) => {
    const judged = judgeCase(one, judges.get(group.file)!);
    const { monitored: _, ...expected } = one.expect;
    const unlike = ['decision', 'action', 'rule', 'reason'].filter((field) => reply[field] !== judged[field]);
    const found = [
      ...differences(expected, reply),
      ...unlike.map((field) => `${field} is not that of judge`),
    ];
    return found.map((sentence) => `${group.file}: ${one.name}: ${sentence}`);
  });
  t.diagnostic(`${run.answers.length} cases over HTTP`);
  assert.deepEqual(wrong, []);
  assert.ok(run.answers.length >= CASES_MIN, `only ${run.answers.length} cases ran`);
});

test('whole answers, events and metrics are unchanged', () => {
  assert.deepEqual(compareWithData('replies.txt', describeReplies(run)), []);
  assert.deepEqual(compareWithData('journal.txt', describeJournals(run)), []);
  assert.deepEqual(compareWithData('metrics.txt', describeMetrics(run)), []);
});
