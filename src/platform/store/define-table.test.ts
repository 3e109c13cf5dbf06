import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Compile } from 'typebox/schema';
import { Type } from '../../core/schema.ts';
import {
  bytes,
  count,
  duration,
  emptyAsNull,
  flag,
  integer,
  json,
  nullable,
  oneOf,
  text,
  textList,
  time,
} from './columns.ts';
import { createTables, defineTable, type Row } from './define-table.ts';

const things = defineTable('things', {
  thing_id: text({ key: true, example: 'th_1', description: 'The thing.' }),
  secret: text({ shown: false }),
  kind: oneOf(['small', 'large']),
  version: integer({ shown: 'number' }),
  size: count({ example: 5 }),
  is_active: flag(),
  made_ms: time(),
  ended_ms: nullable(time()),
  window_ms: duration({ shown: 'window' }),
  group: json(Type.Record(Type.String(), Type.String()), { example: { a: 'b' } }),
  tags: textList(),
  agents: nullable(textList()),
  tenant_id: emptyAsNull(text()),
  sealed: bytes(),
});

const row: Row<typeof things> = {
  thing_id: 'th_2',
  secret: 'hidden',
  kind: 'large',
  version: 3,
  size: 2 ** 53 - 1,
  is_active: 1,
  made_ms: 0,
  ended_ms: null,
  window_ms: 5_400_000,
  group: '{"agent":"bot"}',
  tags: '["a"]',
  agents: null,
  tenant_id: '',
  sealed: new Uint8Array(1),
};

test('a row is shown by the types of its columns', () => {
  const shown = things.show(row);
  assert.deepEqual(shown, {
    thing_id: 'th_2',
    kind: 'large',
    number: 3,
    size: 2 ** 53 - 1,
    is_active: true,
    made_at: '1970-01-01T00:00:00.000Z',
    ended_at: null,
    window: '90m',
    group: { agent: 'bot' },
    tags: ['a'],
    agents: null,
    tenant_id: null,
  });
  const other = things.show({ ...row, ended_ms: 1, agents: '["x"]', tenant_id: 'acme', is_active: 0 });
  assert.deepEqual(
    [other.ended_at, other.agents, other.tenant_id, other.is_active],
    ['1970-01-01T00:00:00.001Z', ['x'], 'acme', false],
  );
});

test('the schema accepts shown rows and the example', () => {
  const schema = Compile(things.schema);
  for (const record of [things.show(row), things.show({ ...row, ended_ms: 1, agents: '[]' }), things.example])
    assert.deepEqual(schema.Errors(record)[1], []);
  assert.deepEqual(things.schema.properties.thing_id, { type: 'string', description: 'The thing.' });
  assert.deepEqual(things.schema.properties.ended_at, { type: ['string', 'null'] });
  assert.deepEqual(
    [things.example.thing_id, things.example.group, things.example.ended_at],
    ['th_1', { a: 'b' }, null],
  );
});

test('the schema refuses a changed record', () => {
  const schema = Compile(things.schema);
  const shown = things.show(row);
  const { kind: _kind, ...incomplete } = shown;
  const wrong: unknown[] = [
    incomplete,
    { ...shown, kind: 'other' },
    { ...shown, made_at: null },
    { ...shown, size: '5' },
  ];
  for (const record of wrong) assert.equal(schema.Check(record), false, JSON.stringify(record));
  assert.equal(wrong.length, 4);
});

test('types follow the columns', () => {
  const shown = things.show(row);
  const kind: 'small' | 'large' = shown.kind;
  const ended: string | null = shown.ended_at;
  const group: Readonly<Record<string, string>> = shown.group;
  // @ts-expect-error: a hidden column is not shown.
  assert.equal(shown.secret, undefined);
  // @ts-expect-error: a renamed column is shown under its new name alone.
  assert.equal(shown.version, undefined);
  // @ts-expect-error: the column holds one of two texts.
  const other: Row<typeof things> = { ...row, kind: 'other' };
  assert.deepEqual([kind, ended, group, other.kind], ['large', null, { agent: 'bot' }, 'other']);
});

test('a feature has one migration under its name', () => {
  assert.deepEqual(Object.keys(createTables('things', [things])), ['0001_things']);
});
