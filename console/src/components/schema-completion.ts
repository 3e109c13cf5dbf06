/** The parts of a JSON Schema that completion reads. */
export interface DocumentSchema {
  readonly properties?: Readonly<Record<string, DocumentSchema | boolean>>;
  readonly items?: DocumentSchema | boolean;
  readonly anyOf?: readonly DocumentSchema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly type?: string | readonly string[];
  readonly description?: string;
}

/** A place in a YAML text: the keys above it, and if a value or a key is typed there. */
export interface YamlPlace {
  readonly path: readonly string[];
  readonly is_value: boolean;
  /** The length of the word before the cursor. */
  readonly typed: number;
}

/** A key or a value that completion offers, with the fields that the editor reads. */
export interface SchemaCompletion {
  readonly label: string;
  /** The inserted text, if it is not the label. */
  readonly apply?: string;
  readonly type: 'property' | 'enum';
  readonly info?: string;
}

const LINES_MAX = 2_000;
const KEY = /^([\w.-]+):(?:\s|$)/;

/** Returns the completions for a place. */
export function listCompletions(roots: readonly DocumentSchema[], place: YamlPlace): SchemaCompletion[] {
  const schemas = place.path.reduce<readonly DocumentSchema[]>(descend, roots.flatMap(unwrap));
  const found = new Map<string, SchemaCompletion>();
  for (const schema of schemas.flatMap(unwrap))
    for (const option of place.is_value ? listValues(schema) : listKeys(schema))
      if (!found.has(option.label)) found.set(option.label, option);
  return [...found.values()];
}

/** Returns the place at the end of a YAML text, from the columns of the keys above it. */
export function findYamlPlace(before: string): YamlPlace {
  const lines = before.split('\n').slice(-LINES_MAX);
  const { column, content } = splitLine(lines.pop() ?? '');
  const own = KEY.exec(content)?.[1];
  const parents = listParents(lines, column);
  if (own === undefined)
    return { path: parents, is_value: false, typed: /[\w.-]*$/.exec(content)?.[0].length ?? 0 };
  const rest = content.slice(own.length + 1);
  const flow = rest.lastIndexOf('{');
  const member =
    flow === -1
      ? null
      : (rest
          .slice(flow + 1)
          .split(',')
          .at(-1)
          ?.trimStart() ?? '');
  const inner = member === null ? undefined : KEY.exec(member)?.[1];
  const path = [...parents, own, ...(inner === undefined ? [] : [inner])];
  const isValue = member === null || inner !== undefined;
  return { path, is_value: isValue, typed: /[\w.-]*$/.exec(rest)?.[0].length ?? 0 };
}

/** Splits a line into the column of its content and the content, both after the signs of list entries. */
function splitLine(line: string): { dash: number | null; column: number; content: string } {
  const [, indent = '', dashes = '', content = ''] = /^(\s*)((?:-\s+|-$)*)(.*)$/.exec(line) ?? [];
  return {
    dash: dashes === '' ? null : indent.length,
    column: indent.length + dashes.length,
    content,
  };
}

function listParents(lines: readonly string[], column: number): string[] {
  const path: string[] = [];
  let limit = column;
  for (const line of lines.toReversed()) {
    if (limit === 0 || line.startsWith('---')) break;
    const { dash, column: at, content } = splitLine(line);
    if (content === '' || content.startsWith('#')) continue;
    const key = KEY.exec(content)?.[1];
    if (key !== undefined && at < limit) {
      path.unshift(key);
      limit = at;
    }
    // A list may begin in the column of its key.
    if (dash !== null && dash < limit) limit = dash + 1;
  }
  return path;
}

/** Returns the alternatives of a schema, and those of the entries of its lists. */
function unwrap(schema: DocumentSchema): readonly DocumentSchema[] {
  const { items, anyOf = [] } = schema;
  const entries = typeof items === 'object' ? unwrap(items) : [];
  return [schema, ...entries, ...anyOf.flatMap(unwrap)];
}

function descend(schemas: readonly DocumentSchema[], key: string): readonly DocumentSchema[] {
  return schemas.flatMap(unwrap).flatMap(({ properties = {} }) => {
    const found = Object.hasOwn(properties, key) ? properties[key] : undefined;
    return typeof found === 'object' ? [found] : [];
  });
}

function listKeys({ properties = {} }: DocumentSchema): SchemaCompletion[] {
  return Object.entries(properties).map(([label, schema]) => ({
    label,
    apply: `${label}: `,
    type: 'property',
    ...(typeof schema === 'object' && schema.description !== undefined ? { info: schema.description } : {}),
  }));
}

function listValues({
  enum: values = [],
  const: only,
  type,
  description,
}: DocumentSchema): SchemaCompletion[] {
  const all = [
    ...values,
    ...(only === undefined ? [] : [only]),
    ...(type === 'boolean' ? ['true', 'false'] : []),
  ];
  return all.map((value) => ({
    label: String(value),
    type: 'enum',
    ...(description === undefined ? {} : { info: description }),
  }));
}
