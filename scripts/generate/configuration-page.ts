import { DOCUMENT_KINDS } from '../../src/core/policy/schemas.ts';
import { configSchema } from '../../src/runtime/config/schema.ts';
import { schemaTable, type TableSchema } from './schema-table.ts';

const HEAD = `# Configuration

<!-- Made by \`npm run generate\` from the schemas that the program checks with. -->

The service runs without any configuration. It reads \`service.yaml\` in the current folder, or the file that
\`--config\` or \`SERVICE_CONFIG\` names. \`service init\` writes a first one, and
\`service validate\` reports every problem in it.

- \`\${NAME}\` in a value takes it from the environment. An unset variable is an error that names the key, and so is
  a credential that is written out instead of referenced.
- Unknown keys are refused with the nearest known name. Keys that begin with \`x-\` are free.
- Rules, documents and most settings are read again on \`service policy reload\`, \`POST /v1/policies/reload\`, SIGHUP,
  and when a file changes: all or nothing. A file with a mistake changes nothing, and the problem is reported. Settings that need a
  restart say so below.
- Editors complete and check the file with \`schemas/service.schema.json\`
  (\`# yaml-language-server: $schema=...\` as its first line).
`;

/** `docs/reference/configuration.md`, whole. */
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
records; a rule is the same here as under \`policies\` of \`service.yaml\`. The order of evaluation is in
[policies.md](policies.md).`;

const DETECTION = `A detector is named by its id, its family or a tag. Tags cover those below them, so that \`secret\` means every
secret; an id counts before a family, a family before a tag, a long tag before a short one. Unknown names are refused
with the nearest known one.

\`\`\`yaml
injection_detection: {flag_threshold: 5, block_threshold: 10}
command_detection: {enabled: false}
detection:
  detectors:
    personal.pii.ip_address: {enabled: false}
    generic.assigned_key: {severity: high, entropy_min: 3.5}
    acme.employee_number: {severity: low}
  patterns:
    - id: acme.employee_number
      pattern: '\\bEMP-\\d{6}\\b'
      tags: [internal.staff]
      severity: medium
      description: Numbers of our staff.
      examples: {hits: ['ask «EMP-123456».'], misses: [EMP-1234567]}
policies:
  - {name: staff, boundary: [input, output], data_tags: [internal.staff], action: redact}
\`\`\`

A **pattern** runs on RE2: no look-around and no back-references, and time that is linear whatever the text. It is tried
only at its anchor: a run of three characters or more of which each is one of a few, derived from the pattern
if every match must have one (\`EMP-\` above), or named under \`anchor\`. A pattern without one is refused, and so is one
that matches the empty text, with more than 2,000 instructions, or that fails an example. A match has at most
1,024 UTF-16 units, of which 256 may precede the anchor; of a longer run that much is found. The work that patterns
do counts towards the bound of 8 times the work of clean text, past which a check is blocked. Disguised and encoded text
is decoded as for every detector, and the switch of a family applies to patterns too: one with a tag under \`secret\`
is active while \`secret_detection\` is on.

An **allowlisted value** is listed by its fingerprint: HMAC-SHA-256, with a key, over the detector's id and the
exact text. Until the entry expires, the value is not a finding for any rule and is not masked; the audit event names it under
\`allowlisted_fingerprints\`, and a text that is logged has it masked. Another spelling of the value is another value. Commands
and instructions cannot be allowlisted, because the danger is in the text around them; write a rule instead.

\`\`\`sh
service fingerprint add --reason "test tenant" --owner payments --expires 90d < key.txt
\`\`\`

The first \`add\` creates the key in the state folder (mode 0600), unless \`detection.fingerprint_key\` gives one; a service
whose list has no key does not start. Back it up with the folder: without it, create the entries again. With the
key and the list, values of a small range can be guessed, and every caller of the service
can find out which values are allowlisted. So list test data and false positives, not personal data.`;

function documentHead(one: string, many: string): string {
  return `One under \`${one}\`, or a list under \`${many}\`.`;
}

function section(title: string, schema: TableSchema, prefix: string, head = ''): string {
  const { description, ...rest } = schema;
  const text = [`### ${title}`, description ?? '', head].filter((each) => each !== '');
  const more = prefix === 'detection' ? [DETECTION] : [];
  return [...text, schemaTable(rest, prefix), ...more].join('\n\n');
}
