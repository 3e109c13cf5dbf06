/** Runs the tests of the Python package, in front of a service where refunds need an approver. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CheckoutRun, root } from '../support/checkout.ts';
import { startTestService, type TestService } from '../support/service.ts';

/** Files of tests, below `python`, and the number of tests in them. */
export interface PackageTests {
  readonly files: readonly string[];
  readonly count: number;
}

const RULE = {
  name: 'refunds',
  boundary: 'action',
  condition: { tools: ['issue_refund'] },
  action: 'require_approval',
};

type Run = (words: readonly string[], env: Readonly<Record<string, string>>) => Promise<CheckoutRun>;

/** Starts the service that the tests of the package need. */
export function startPackageService(): Promise<TestService> {
  return startTestService({ config: { policies: [RULE] } });
}

/** @param folder - where the report is written */
export async function runPackageTests(
  run: Run,
  python: string,
  folder: string,
  service: TestService,
  { files, count }: PackageTests,
): Promise<void> {
  const report = join(folder, 'report.xml');
  const words = ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', `--junit-xml=${report}`];
  const ran = await run([python, ...words, ...files.map((file) => join(root, 'python', file))], {
    TEST_SERVICE_URL: service.url,
    TEST_OPERATOR_TOKEN: readFileSync(join(service.state_dir, 'operator-token'), 'utf8').trim(),
  });
  assert.equal(ran.code, 0, `${ran.stdout}\n${ran.stderr}`);
  const counts = readFileSync(report, 'utf8');
  assert.match(counts, /skipped="0"/);
  assert.equal(Number(/ tests="(\d+)"/.exec(counts)?.[1]), count);
}
