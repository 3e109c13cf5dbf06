/** Tests of `npm run test:nightly`, which other rounds leave out because smaller ones cover the same in them. */
import { type TestContext, test } from 'node:test';

/** `true` in the nightly round, which runs every test and every row. */
export const isNightly = process.env.NIGHTLY !== undefined;

interface NightlyOptions {
  readonly skip?: string | false;
  readonly timeout?: number;
}

/** Declares a test in the nightly round alone. */
export function testNightly(
  name: string,
  options: NightlyOptions,
  work: (t: TestContext) => Promise<void> | void,
): void {
  if (isNightly) void test(name, options, work);
}

/** Returns every row in the nightly round, else the first of every `step` rows. */
export function sampleRows<Row>(rows: readonly Row[], step: number): readonly Row[] {
  return isNightly ? rows : rows.filter((_, at) => at % step === 0);
}
