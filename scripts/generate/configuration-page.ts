import { DOCUMENT_KINDS } from '../../src/core/schemas.ts';
import { configSchema } from '../../src/runtime/config/schema.ts';
import { schemaTable, type TableSchema } from './schema-table.ts';

const HEAD = `# Configuration

<!-- Made by \`npm run generate\` from the schemas that the program checks with. -->

The service runs without any configuration. Where there is a \`service.yaml\` in the current folder, or one is
named with \`--config\` or \`SERVICE_CONFIG\`, it is read; \`service init\` writes one to grow from, and
\`service validate\` says everything that is wrong with it.

- \`\${NAME}\` in a value takes it from the environment. An unset variable is an error that names the key, and so is
  a credential that is written out instead of referenced.
- Unknown keys are refused with the nearest known name. Keys that begin with \`x-\` are free.
- Rules, documents and most settings are read again on \`service policy reload\`, \`POST /v1/policies/reload\`, SIGHUP,
  and when a file changes: all or nothing. A file with a mistake changes nothing, and says why. Settings that need a
  restart say so below.
- Editors complete and check the file with \`schemas/service.schema.json\`
  (\`# yaml-language-server: $schema=...\` as its first line).
`;

/** `docs/configuration.md`, whole. */
export function configurationPage(): string {
  const { properties } = configSchema as unknown as Required<Pick<TableSchema, 'properties'>>;
  const sections = Object.entries(properties).map(([key, schema]) => section(`\`${key}\``, schema, key));
  const documents = DOCUMENT_KINDS.map(({ kind, one, many, record }) =>
    section(
      `${kind.startsWith('a') ? 'An' : 'A'} ${kind} document`,
      record as TableSchema,
      '',
      documentHead(one, many),
    ),
  );
  return `${[HEAD, '## service.yaml', ...sections, '## Documents', DOCUMENTS, ...documents].join('\n\n')}\n`;
}

const DOCUMENTS = `Files of their own, under \`paths\`. Each is a mapping with \`version: v1alpha1\` and one record or a list of
records; a rule is the same here as under \`policies\` of \`service.yaml\`. How rules are asked is told in
[policies.md](policies.md).`;

function documentHead(one: string, many: string): string {
  return `One under \`${one}\`, or a list under \`${many}\`.`;
}

function section(title: string, schema: TableSchema, prefix: string, head = ''): string {
  const { description, ...rest } = schema;
  const text = [`### ${title}`, description ?? '', head].filter((each) => each !== '');
  return [...text, schemaTable(rest, prefix)].join('\n\n');
}
