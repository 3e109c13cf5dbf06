/** Renders a JSON Schema for readers: one line per key. */

/** The part of a JSON Schema that a table shows. */
export interface TableSchema {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly TableSchema[];
  readonly oneOf?: readonly TableSchema[];
  readonly items?: TableSchema;
  readonly properties?: Readonly<Record<string, TableSchema>>;
  readonly additionalProperties?: boolean | TableSchema;
  readonly required?: readonly string[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly description?: string;
  readonly $ref?: string;
}

interface Row {
  readonly key: string;
  readonly type: string;
  readonly default_text: string;
  readonly description: string;
}

/** Returns the cells of a table of every key below `schema`: the key, its type, its default and its purpose. */
export function listSchemaCells(schema: TableSchema): readonly (readonly string[])[] {
  return [...getRows(schema, '')].map(({ key, type, default_text: standing, description }) => [
    `\`${key}\``,
    type,
    standing,
    description,
  ]);
}

/** Returns a Markdown table of every key below `schema`, with its type, its default and its purpose. */
export function renderSchemaTable(schema: TableSchema, prefix = ''): string {
  const rows = [...getRows(schema, prefix)];
  const lines = rows.map(
    (row) => `| \`${row.key}\` | ${row.type} | ${row.default_text} | ${row.description} |`,
  );
  return ['| Key | Type | Default | |', '|---|---|---|---|', ...lines].join('\n');
}

function* getRows(schema: TableSchema, prefix: string, required = false): Generator<Row> {
  const inner = [...getChildren(schema, prefix)];
  if (
    prefix !== '' &&
    (inner.length === 0 || schema.items !== undefined || schema.description !== undefined)
  ) {
    yield getRow(schema, prefix, required);
  }
  for (const [key, child, needed] of inner) yield* getRows(child, key, needed);
}

function* getChildren(schema: TableSchema, prefix: string): Generator<[string, TableSchema, boolean]> {
  const dot = prefix === '' ? '' : '.';
  for (const [name, child] of Object.entries(schema.properties ?? {})) {
    yield [`${prefix}${dot}${name}`, child, schema.required?.includes(name) === true];
  }
  if (
    typeof schema.additionalProperties === 'object' &&
    schema.additionalProperties.properties !== undefined
  ) {
    yield [`${prefix}${dot}<name>`, schema.additionalProperties, false];
  }
  if (schema.items?.properties !== undefined) {
    for (const [key, child, needed] of getChildren(schema.items, `${prefix}[]`)) yield [key, child, needed];
  }
  for (const branch of schema.items?.oneOf ?? []) {
    for (const [key, child, needed] of getChildren(branch, `${prefix}[]`)) yield [key, child, needed];
  }
}

function getRow(schema: TableSchema, key: string, required: boolean): Row {
  const description = (schema.description ?? '').replaceAll('|', '\\|').replaceAll('\n', ' ');
  return { key, type: getType(schema), default_text: formatDefault(schema, required), description };
}

function formatDefault(schema: TableSchema, required: boolean): string {
  const isEmpty = typeof schema.default === 'object' && Object.keys(schema.default ?? {}).length === 0;
  if (schema.default !== undefined && schema.default !== null && !isEmpty) {
    return `\`${JSON.stringify(schema.default).replaceAll('"', '')}\``;
  }
  return required ? 'required' : '';
}

function getType(schema: TableSchema): string {
  if (schema.const !== undefined) return `\`${String(schema.const)}\``;
  if (schema.enum !== undefined) return schema.enum.map((each) => `\`${String(each)}\``).join(', ');
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map(getType))].join(' or ');
  if (schema.$ref !== undefined) return schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1);
  if (schema.items !== undefined && schema.type === 'array') return `list of ${getElement(schema.items)}`;
  const types = [schema.type ?? 'any'].flat().filter((each) => each !== 'null');
  return `${types.map((each) => (each === 'object' ? 'mapping' : each)).join(' or ')}${getRange(schema)}`;
}

function getElement(items: TableSchema): string {
  if (items.oneOf !== undefined || items.properties !== undefined) return 'mappings';
  if (items.$ref !== undefined) return `${getType(items)}s`;
  return items.enum === undefined && items.type === 'string' ? 'strings' : getType(items);
}

function getRange({ minimum, maximum }: TableSchema): string {
  if (minimum === undefined && maximum === undefined) return '';
  return `, ${minimum ?? ''} to ${maximum ?? ''}`;
}
