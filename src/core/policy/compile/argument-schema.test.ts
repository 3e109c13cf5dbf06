import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ARGUMENT_NODES_MAX,
  compileArgumentCheck,
  FORMAT_TEXT_LENGTH_MAX,
  PATTERN_TEXT_LENGTH_MAX,
  UNIQUE_ITEMS_MAX,
} from '../../decision/argument-check.ts';
import type { Json } from '../../types/index.ts';
import { findArgumentSchemaProblems } from './argument-schema.ts';

const PLACE = { file: 'c.yaml', path: 'contract.arguments' };
const getProblems = (schema: Json) => findArgumentSchemaProblems(schema, PLACE);

test('a schema that cannot be trusted is refused, with the place', () => {
  const chain = (length: number) => ({
    $defs: Object.fromEntries(
      Array.from({ length }, (_, at) => [
        `d${at}`,
        at === length - 1 ? {} : { allOf: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}` }] },
      ]),
    ),
    $ref: '#/$defs/d0',
  });
  const cases: [Json, string, RegExp][] = [
    [{ propertis: {} }, '.propertis', /did you mean `properties`/],
    [{ $dynamicRef: '#a' }, '["$dynamicRef"]', /not a supported keyword/],
    [{ $id: 'http://x' }, '["$id"]', /not a supported keyword/],
    [{ items: [{}] }, '.items', /must be a JSON Schema/],
    [{ type: 'strng' }, '.type', /did you mean `string`/],
    [{ type: [] }, '.type', /must be one of/],
    [{ required: 'a' }, '.required', /list of names/],
    [{ enum: [] }, '.enum', /list of values/],
    [{ minLength: -1 }, '.minLength', /whole number/],
    [{ minimum: '3' }, '.minimum', /number/],
    [{ multipleOf: 0 }, '.multipleOf', /greater than 0/],
    [{ format: 'emial' }, '.format', /did you mean `email`/],
    [{ format: 'regex' }, '.format', /must be one of/],
    [{ format: 'url' }, '.format', /must be one of/],
    [{ pattern: '(?<=a)b' }, '.pattern', /linear time/],
    [{ pattern: '(a)\\1' }, '.pattern', /linear time/],
    [{ pattern: 'a'.repeat(1_001) }, '.pattern', /longer than 1000/],
    [{ patternProperties: { '(a+)+': {} } }, '.patternProperties["(a+)+"]', /linear time/],
    [{ patternProperties: { '^a+b*': {} } }, '.patternProperties["^a+b*"]', /linear time/],
    [{ patternProperties: { 'a+': {} } }, '.patternProperties["a+"]', /begin with/],
    [{ $ref: 'http://elsewhere/x' }, '["$ref"]', /out of this schema/],
    [{ $ref: '#/$defs/none' }, '["$ref"]', /refers to nothing/],
    [{ $ref: '#/%' }, '["$ref"]', /not written/],
    [{ properties: { a: { $ref: '#' } } }, '', /refers to itself/],
    [{ properties: { const: { $ref: '#' } } }, '', /refers to itself/],
    [{ $defs: { a: { items: { $ref: '#/$defs/a' } } }, $ref: '#/$defs/a' }, '', /refers to itself/],
    [chain(24), '', /larger than/],
    [{ allOf: Array.from({ length: 2_100 }, () => ({})) }, '.allOf[1999]', /more than the 2000/],
  ];
  for (const [schema, path, message] of cases) {
    const [first] = getProblems(schema);
    assert.ok(first !== undefined, JSON.stringify(schema).slice(0, 100));
    assert.equal(first.path, `contract.arguments${path}`);
    assert.match(first.message, message);
  }
  assert.equal(cases.length, 28);
});

test('a schema that can be trusted is not', () => {
  const schemas: Json[] = [
    true,
    {},
    {
      type: ['string', 'null'],
      pattern: '^(a|b)+$',
      format: 'email',
      'x-note': 1,
      title: 't',
      default: { $ref: 1 },
    },
    { properties: { type: { type: 'string' }, $ref: { type: 'string' }, const: {} }, required: ['type'] },
    { $defs: { a: { type: 'string' } }, properties: { x: { $ref: '#/$defs/a' }, y: { $ref: '#/$defs/a' } } },
    { patternProperties: { '^x-': {}, '^[a-z]+$': {}, '^\\d$': {} } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
    { if: { required: ['a'] }, then: { required: ['b'] }, else: false },
  ];
  for (const schema of schemas) assert.deepEqual(getProblems(schema), []);
  assert.equal(schemas.length, 7);
});

test('arguments are checked as the schema says', () => {
  const cases: [Json, Json, string[]][] = [
    [{ type: 'object' }, {}, []],
    [{ type: 'object' }, 'text', ['type']],
    [false, {}, ['additionalProperties']],
    [{ properties: { a: { pattern: '^a$' } } }, { a: 'ab' }, ['format']],
    [{ properties: { a: { pattern: '^a$' } } }, { a: 'a' }, []],
    [{ allOf: [{ required: ['a'] }], pattern: 'x' }, {}, ['required']],
    [{ pattern: 'a' }, 'a'.repeat(PATTERN_TEXT_LENGTH_MAX), []],
    [{ pattern: 'a' }, 'a'.repeat(PATTERN_TEXT_LENGTH_MAX + 1), ['format']],
    [{ format: 'email' }, 'a@b.example', []],
    [{ format: 'email' }, 'a', ['format']],
    [{ format: 'uri' }, `http://a/${'b'.repeat(FORMAT_TEXT_LENGTH_MAX - 9)}`, []],
    [{ format: 'uri' }, `http://a/${'b'.repeat(FORMAT_TEXT_LENGTH_MAX - 8)}`, ['format']],
    [{ items: true }, Array.from({ length: ARGUMENT_NODES_MAX - 1 }, () => 1), []],
    [{ items: true }, Array.from({ length: ARGUMENT_NODES_MAX }, () => 1), ['schema']],
    [{ not: { pattern: 'a' } }, 'b', []],
    [{ not: { pattern: 'a' } }, 'a', ['not']],
    [{ uniqueItems: true }, [1, 2], []],
    [{ uniqueItems: true }, [1, 1], ['uniqueItems']],
    [{ uniqueItems: true }, 'text', []],
    [
      { uniqueItems: true },
      Array.from({ length: UNIQUE_ITEMS_MAX + 1 }, (_, at) => at),
      ['additionalProperties'],
    ],
    [{ $defs: { 'a/b': { type: 'string' } }, items: { $ref: '#/$defs/a~1b' } }, [1], ['type']],
    [{ properties: { constructor: { type: 'string' } } }, {}, []],
  ];
  for (const [schema, value, keywords] of cases) {
    assert.deepEqual(
      compileArgumentCheck(schema)(value).map(({ keyword }) => keyword),
      keywords,
      JSON.stringify(schema),
    );
  }
  assert.equal(cases.length, 22);
});
