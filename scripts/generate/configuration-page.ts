import { DOCUMENT_KINDS } from '../../src/core/policy/schemas.ts';
import { configSchema } from '../../src/server/load-config.ts';
import { renderSchemaTable, type TableSchema } from './schema-table.ts';

const HEAD = `# Configuration

<!-- Made by \`npm run generate\` from the schemas that the program checks with. -->

This reference is for operators and policy authors. It lists every key of \`service.yaml\` and of the documents next to it, with type, default and limit. The
service runs without a configuration. It reads the file that \`--config\` or \`SERVICE_CONFIG\` names, else \`service.yaml\` in the
current folder, else the file that [\`setup\`](../how-to/set-up-agents.md) wrote for this folder below \`~/.config\`.
\`customshouse init\` writes a first one, and \`customshouse validate\` lists all problems.

- \`\${NAME}\` in a value is an environment variable, or the content of the file that the variable \`NAME_FILE\` names, without a line break at its end. An unset variable is an error that names the key, and so is a written-out credential.
- An unknown key is refused with the nearest known name. Keys that begin with \`x-\` are free.
- Rules, documents and most settings are reloaded by \`customshouse policy reload\`, \`POST /v1/policies/reload\`, SIGHUP, and when a file changes: all or nothing.
  After an error the previous settings stay active. Settings that need a restart say so below.
- Editors complete and check the file with \`schemas/service.schema.json\` (\`# yaml-language-server: $schema=...\` as its first line).
`;

/** Returns the text of `docs/reference/configuration.md`. */
export function renderConfigurationPage(): string {
  const { properties } = configSchema as unknown as Required<Pick<TableSchema, 'properties'>>;
  const sections = Object.entries(properties).map(([key, schema]) =>
    renderSection(`\`${key}\``, schema, key),
  );
  const documents = DOCUMENT_KINDS.map(({ kind, one, many, record }) =>
    renderSection(
      `${kind.startsWith('a') ? 'An' : 'A'} ${kind} document`,
      record as TableSchema,
      '',
      formatDocumentHead(one, many),
    ),
  );
  return `${[HEAD, '## service.yaml', ...sections, '## Documents', DOCUMENTS, ...documents].join('\n\n')}\n`;
}

const DOCUMENTS = `Documents are separate files, found through \`paths\`. Each is a mapping with \`version: v1alpha1\` and one record or a list of records. A rule has the same
fields as under \`policies\` of \`service.yaml\`. [Policies](policies.md) describes the order of evaluation.`;

const DETECTION = `A detector is selected by its id, its family or a tag. A tag covers its descendants, so \`secret\` selects every secret. An id takes precedence over a family, a
family over a tag, a long tag over a short one. Unknown names are refused with the nearest known one.

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

A **pattern** runs on RE2: without look-around and back-references, in linear time for every text.

- It is tried only at its anchor: a run of at least three characters, each out of a small set. The anchor is taken from the pattern if every match must contain
  one (\`EMP-\` above), or set under \`anchor\`.
- Refused are a pattern without an anchor, one that matches the empty text, one with more than 2,000 instructions, and one that fails an example.
- A match has at most 1,024 UTF-16 units, 256 of them before the anchor. A longer match is cut to that length.
- The work of patterns counts towards the limit of 8 times the work of clean text, beyond which a check is blocked.
- Disguised and encoded text is scanned as for every detector. The switch of a family applies too: a pattern with a tag under \`secret\` is active while
  \`secret_detection\` is on.

An **allowlisted value** is listed by its fingerprint: HMAC-SHA-256, with a key, over the detector's id and the exact text. Until it expires, no rule sees it as a
finding and it is not masked. The audit event names it under \`allowlisted_fingerprints\`, and a logged text has it masked. Another spelling is another value.
Commands and instructions cannot be allowlisted by value, because the dangerous part is next to the matched words: allow their detector with
\`customshouse allow\`, or write a rule.

\`\`\`sh
customshouse fingerprint add --reason "test tenant" --owner payments --expires 90d < key.txt
\`\`\`

The first \`add\` creates the key in the state folder (mode 0600), unless \`detection.fingerprint_key\` is set. A service with a list and without its key does not
start. Back the key up with the folder: without it the entries must be made again. A reader of the key and the list can try out values from small sets, such as
personal numbers, and every caller of the service can learn which values are allowlisted. List test data and false positives, not personal data.`;

function formatDocumentHead(one: string, many: string): string {
  return `One under \`${one}\`, or a list under \`${many}\`.`;
}

function renderSection(title: string, schema: TableSchema, prefix: string, head = ''): string {
  const { description, ...rest } = schema;
  const text = [`### ${title}`, description ?? '', head].filter((each) => each !== '');
  const more = prefix === 'detection' ? [DETECTION] : [];
  return [...text, renderSchemaTable(rest, prefix), ...more].join('\n\n');
}
