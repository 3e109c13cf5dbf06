import { buildDocumentSchema, DOCUMENT_KINDS, ruleSchema } from '../../core/policy/schemas.ts';
import { caseFileSchema } from '../../core/review/case-schema.ts';
import type { ConfigSchema, KeyRequirement } from '../config/schema-types.ts';
import { manifestSchema } from '../packages/manifest-schema.ts';

/** A JSON Schema file for editors. */
export interface SchemaFile {
  /** `service.schema.json`, `policy.schema.json`. */
  readonly name: string;
  readonly text: string;
}

type Written = { readonly [key: string]: unknown };

/** The pattern of `${NAME}` and `${secret:name}` in a value. An editor cannot resolve them. */
const NAMED = '\\$\\{(?:[A-Za-z_][A-Za-z0-9_]*|secret:[A-Za-z0-9_./#-]+)\\}';
const REFERENCE = { type: 'string', pattern: NAMED } as const;
const WHOLE_REFERENCE = { type: 'string', pattern: `^${NAMED}$` } as const;

/**
 * Returns the schema of `service.yaml` and of each kind of v1alpha1 document, as the folder `schemas/` contains
 * them.
 *
 * @param configSchema - the schema of `service.yaml`
 */
export function buildEditorSchemas(configSchema: ConfigSchema): readonly SchemaFile[] {
  const service = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Configuration of the service',
    ...convertForEditors(configSchema),
    $defs: { rule: ruleSchema },
  };
  const documents = DOCUMENT_KINDS.map(({ kind }) =>
    buildSchemaFile(`${kind}.schema.json`, buildDocumentSchema(kind)),
  );
  const cases = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Cases that a policy is tested with, v1alpha1',
    ...caseFileSchema,
  };
  const skill = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Manifest of a skill, v1alpha1',
    ...manifestSchema,
  };
  return [
    buildSchemaFile('service.schema.json', service),
    ...documents,
    buildSchemaFile('policy-test.schema.json', cases),
    buildSchemaFile('skill.schema.json', skill),
  ];
}

function buildSchemaFile(name: string, schema: Written): SchemaFile {
  return { name, text: `${JSON.stringify(schema, null, 2)}\n` };
}

/** The keyword order in a published schema. Other keywords follow. */
const KEYWORDS = [
  'type',
  'const',
  'enum',
  'description',
  'default',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'maxItems',
  'items',
  'maxProperties',
  'propertyNames',
  'additionalProperties',
  'required',
  'properties',
];

/** Writes a schema's keywords in one order, however its parts were put together. */
export function orderKeywords(schema: Written): Written {
  const names = [...KEYWORDS.filter((name) => Object.hasOwn(schema, name)), ...Object.keys(schema)];
  return Object.fromEntries(names.map((name) => [name, schema[name]]));
}

/**
 * Expresses in JSON Schema the checks that the loader makes in addition to the schema: references, free keys,
 * required keys.
 */
function convertForEditors(schema: ConfigSchema): Written {
  const { 'x-expects': _, 'x-verbatim': __, 'x-credential': credential, 'x-needs': needs, ...kept } = schema;
  if (credential === true) return { ...WHOLE_REFERENCE, description: schema.description };
  const inner = orderKeywords({
    ...kept,
    ...getInside(schema),
    ...(needs === undefined ? {} : { allOf: needs.map(asCondition) }),
  });
  const type = schema.type === undefined ? [] : [schema.type].flat();
  const empty = typeof schema.default === 'object' && schema.default !== null;
  if (empty) return { ...inner, type: [...type, 'null'] };
  const plainText = type.includes('string') && schema.enum === undefined && schema.pattern === undefined;
  const isText = type.some((each) => each !== 'object' && each !== 'array' && each !== 'null');
  return isText && !plainText && schema.const === undefined ? allowReference(inner) : inner;
}

function getInside(schema: ConfigSchema): Written {
  const { properties, items, additionalProperties, oneOf } = schema;
  return {
    ...(items === undefined ? {} : { items: convertForEditors(items) }),
    ...(oneOf === undefined ? {} : { oneOf: oneOf.map(convertForEditors) }),
    ...(properties === undefined
      ? {}
      : {
          properties: convertProperties(properties),
          patternProperties: { '^x-': { description: 'Free.' } },
        }),
    ...(additionalProperties ? { additionalProperties: convertForEditors(additionalProperties) } : {}),
  };
}

function convertProperties(properties: Readonly<Record<string, ConfigSchema>>): Written {
  return Object.fromEntries(
    Object.entries(properties).map(([key, property]) => [key, convertForEditors(property)]),
  );
}

function allowReference({ description, default: defaultValue, ...rest }: Written): Written {
  return {
    ...(description === undefined ? {} : { description }),
    ...(defaultValue === undefined ? {} : { default: defaultValue }),
    anyOf: [rest, REFERENCE],
  };
}

function asCondition({ key, is, needs }: KeyRequirement): Written {
  const when = { properties: { [key]: { const: is } }, required: [key] };
  return { if: when, ...Object.fromEntries([['then', { required: [needs] }]]) };
}
