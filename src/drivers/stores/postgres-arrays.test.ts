import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CompiledQuery } from 'kysely';
import { explainMissingPostgres } from '../../platform/store/testing/postgres-server.ts';
import { getSharedServer } from '../../platform/store/testing/stores.ts';
import { postgres } from './postgres.ts';
import { encodeNumberArray, encodeTextArray } from './postgres-arrays.ts';

const TEXTS = [
  '',
  'plain',
  '{"a":"b\\"c"}',
  'a,b{}\\',
  '\u{1F600} größer',
  'NUL \0',
  'half \uD800',
  '\uF8FF',
  null,
];
const NUMBERS = [0, 1, -1, 2 ** 31, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER];

test('arrays arrive as they were', { skip: explainMissingPostgres() ?? false }, async (t) => {
  const db = await postgres.open({ url: await (await getSharedServer()).makeDatabase() });
  t.after(() => db.destroy());
  const read = async (array: Buffer, type: string) => {
    const statement = `select each from unnest($1::${type}[]) with ordinality as u (each, place) order by place`;
    const { rows } = await db.executeQuery<{ each: unknown }>(CompiledQuery.raw(statement, [array]));
    return rows.map(({ each }) => each);
  };
  assert.deepEqual(await read(encodeTextArray(TEXTS), 'text'), TEXTS);
  assert.deepEqual(await read(encodeNumberArray(NUMBERS), 'bigint'), NUMBERS);
  assert.deepEqual(await read(encodeTextArray([]), 'text'), []);
  assert.throws(() => encodeNumberArray([1.5]), RangeError);
});
