import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Static, Type as TypeBox } from 'typebox';
import { Compile } from 'typebox/schema';
import { buildEnum, buildSection, Type } from './schema.ts';

const rule = Type.Object(
  {
    name: Type.String({ maxLength: 9 }),
    kind: Type.Enum(['a', 'b', null]),
    count: Type.Optional(Type.Integer({ minimum: 1 })),
    tags: Type.Array(Type.String(), { maxItems: 2 }),
    limits: Type.Record(Type.String(), Type.Number()),
    owner: Type.Nullable(Type.String(), { description: 'Who keeps it.' }),
    either: Type.Union([Type.Literal(true), Type.Null()]),
  },
  { additionalProperties: false },
);
const valid: Static<typeof rule> = {
  name: 'x',
  kind: null,
  tags: ['y'],
  limits: { z: 1.5 },
  owner: null,
  either: true,
};

test('schemas are those that TypeBox builds', () => {
  const build = (
    t: Pick<typeof TypeBox, 'Object' | 'String' | 'Integer' | 'Optional' | 'Array' | 'Boolean'>,
  ) =>
    t.Object(
      { a: t.String({ minLength: 1 }), b: t.Optional(t.Integer()), c: t.Array(t.Boolean()) },
      { description: 'An object.' },
    );
  const ours = build(Type as unknown as typeof TypeBox);
  assert.deepEqual(JSON.parse(JSON.stringify(ours)), JSON.parse(JSON.stringify(build(TypeBox))));
});

test('a schema refuses each wrong member', () => {
  const validator = Compile(rule);
  assert.ok(validator.Check(valid));
  const { name: _absent, ...nameless } = valid;
  const wrong = [
    nameless,
    { ...valid, name: 'ten letters' },
    { ...valid, kind: 'c' },
    { ...valid, count: 0 },
    { ...valid, tags: ['1', '2', '3'] },
    { ...valid, limits: { z: 'much' } },
    { ...valid, owner: 1 },
    { ...valid, either: false },
    { ...valid, more: 1 },
  ];
  assert.deepEqual(
    wrong.filter((each) => validator.Check(each)),
    [],
  );
});

test('an optional member with another description stays optional', () => {
  const member = { ...Type.Optional(Type.String()), description: 'Why.' };
  assert.deepEqual(JSON.parse(JSON.stringify(Type.Object({ member }))), {
    type: 'object',
    properties: { member: { type: 'string', description: 'Why.' } },
  });
});

test('a section has defaults, optional keys and no others', () => {
  const schema = buildSection(
    {
      name: Type.String(),
      port: Type.Integer({ default: 8000 }),
      mode: Type.Optional(buildEnum(['one', 'many'])),
    },
    { default: {} },
  );
  const parsed: Static<typeof schema> = { name: 'x', port: 1 };
  // @ts-expect-error A parsed section has every member with a default.
  const incomplete: Static<typeof schema> = { name: 'x' };
  const validator = Compile(schema);
  for (const written of [parsed, incomplete, { name: 'x', mode: 'one' }]) assert.ok(validator.Check(written));
  for (const wrong of [{ port: 1 }, { name: 'x', other: 1 }, { name: 'x', mode: 'two' }])
    assert.ok(!validator.Check(wrong), JSON.stringify(wrong));
  assert.deepEqual((schema as { readonly required?: unknown }).required, ['name']);
});
