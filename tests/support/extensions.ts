/** One example of each kind of extension, and copies of the sources that contain them. */
import assert from 'node:assert/strict';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { root } from './checkout.ts';

/** The changes of the source that add something: new files, and the files in which text is replaced. */
export interface Extension {
  readonly files: Readonly<Record<string, string>>;
  readonly lines: Readonly<Record<string, readonly [before: string, after: string]>>;
}

export type ExtensionKind =
  | 'alert channel'
  | 'API family'
  | 'CLI verb'
  | 'coding agent'
  | 'detector'
  | 'LLM format'
  | 'operation'
  | 'secret backend';

/** A whole example of each kind. `npm run tidy` prints how many files each touches, and a test adds each to a copy. */
export const extensions: Readonly<Record<ExtensionKind, Extension>> = {
  'coding agent': {
    files: {
      'src/coding-agents/fake/index.ts': `import { claudeCode } from '../claude-code/index.ts';
import type { CodingAgentRecord } from '../record/coding-agent.ts';
import { defineSettingsFile } from '../record/settings.ts';

const targets = ({ project }) => [defineSettingsFile('project', \`\${project}/.fake/settings.json\`)];

export const fake: CodingAgentRecord = {
  ...claudeCode,
  name: 'fake',
  label: 'Fake Agent',
  dialect: {
    ...claudeCode.dialect,
    name: 'fake',
    agent_id: 'fake',
    recognises: ({ fake_turn }) => fake_turn === 1,
  },
  load: async () => {
    const parts = await claudeCode.load();
    return {
      ...parts,
      settings: { ...parts.settings, programs: ['fake'], targets, locations: targets },
      traces: { ...parts.traces, variables: ['FAKE_TURN'], guarded_files: ['.fake/settings.json'] },
    };
  },
};
`,
    },
    lines: {
      'src/coding-agents/index.ts': [
        'const AGENTS: readonly CodingAgentRecord[] = [',
        "import { fake } from './fake/index.ts';\nconst AGENTS: readonly CodingAgentRecord[] = [fake, ",
      ],
    },
  },
  'API family': {
    files: {
      'src/core/wire/families/fake.ts': `import { type ApiFamily, isUsualRetryStatus } from '../api-family.ts';

export const fake = {
  name: 'fake',
  label: 'Fake API',
  telemetry_name: 'fake.maker',
  public_base_url: 'https://fake.example',
  key_header: ['x-fake-key', 'Fake '],
  request_id_header: 'x-fake-id',
  isRetryableStatus: isUsualRetryStatus,
  known_paths: /^\\/v1\\/fake\\//,
  unserved_paths: /\\/fake\\/other$/,
} as const satisfies ApiFamily;
`,
    },
    lines: {
      'src/core/wire/families/index.ts': [
        'export const apiFamilies = [',
        "import { fake } from './fake.ts';\nexport const apiFamilies = [fake, ",
      ],
    },
  },
  'CLI verb': {
    files: {
      'src/entry/cli/commands/greet.ts': `export function greet(command, terminal) {
  command.description('Greet the user.').action(() => terminal.stdout.write('hello\\n'));
}
`,
    },
    lines: {
      'src/entry/cli/commands/index.ts': [
        'export const commands: readonly CommandEntry[] = [',
        "export const commands: readonly CommandEntry[] = [{ name: 'greet', summary: 'greet the user', load: async () => (await import('./greet.ts')).greet }, ",
      ],
    },
  },
  detector: {
    files: {
      'src/core/detect/detectors/secrets/fake-key.ts': `import type { Detector } from '../../matching/detector.ts';

export const fakeKey: readonly Detector[] = [
  {
    id: 'fake.key',
    detector: 'api_key',
    tags: ['secret.credential.api_key.fake'],
    severity: 'critical',
    strength: 'proof',
    description: 'Keys of the fake service.',
    anchors: ['\\\\bfakekey-'],
    pattern: /fakekey-[0-9a-f]{16}/,
    examples: { hits: ['KEY=«fakekey-0a1b2c3d4e5f6071»'], misses: ['fakekey-short'] },
  },
];
`,
    },
    lines: {
      'src/core/detect/detectors/index.ts': [
        'export const detectorFiles: readonly (() => readonly Detector[])[] = [',
        "import { fakeKey } from './secrets/fake-key.ts';\nexport const detectorFiles: readonly (() => readonly Detector[])[] = [() => fakeKey, ",
      ],
    },
  },
  'LLM format': {
    files: {
      'src/core/wire/formats/fake-talk.ts': `import type { WireFormat } from '../wire-format.ts';
import { openAiChat } from './openai-chat.ts';

export const fakeTalk: WireFormat = {
  ...openAiChat,
  name: 'fake.talk',
  family: 'fake',
  routes: [{ path: '/v1/fake/talk', summary: 'Fake talk, guarded', example: { messages: [] } }],
  path_pattern: /\\/fake\\/talk$/i,
};
`,
    },
    lines: {
      'src/core/wire/formats/index.ts': [
        'export const wireFormats: readonly WireFormat[] = [',
        "import { fakeTalk } from './fake-talk.ts';\nexport const wireFormats: readonly WireFormat[] = [fakeTalk, ",
      ],
    },
  },
  operation: {
    files: {
      'src/operations/review-poem.ts': `
import { Type } from '../core/schema.ts';
import { runCheck } from './check.ts';
import { checkBody } from './check-body.ts';
import { defineOperation } from './operation.ts';
import { buildVerdictReply } from './reply.ts';
import { aboutText, readTextCrossing } from './scan.ts';
import { verdictProperties } from './shapes.ts';

export const reviewPoem = defineOperation({
  name: 'review_poem',
  summary: 'Review a poem',
  description: 'Decides on a poem by the input rules.',
  http: { method: 'POST', path: '/v1/review/poem' },
  mcp: { tool: 'review_poem', read_only: true },
  cli: {
    verb: 'poems review',
    arguments: ['text'],
    options: ['agent_id'],
    line: ({ decision }: { readonly decision: string }) => 'The poem: ' + decision,
    examples: [['service poems review roses', '']],
  },
  permission: 'check',
  counts_checks: true,
  needs: 'policy',
  check_body: {},
  input: checkBody(Type.Object({ text: Type.String(), ...aboutText })),
  output: Type.Object(verdictProperties),
  example: { text: 'roses' },
  answer: null,
  async run(input, context) {
    const crossing = readTextCrossing('input', { kind: 'text', text: input.text }, input, context);
    return buildVerdictReply(await runCheck({ crossing, endpoint: 'review_poem' }, context));
  },
});
`,
    },
    lines: {
      'src/server/operations.ts': [
        'export const operationCatalogue = {',
        "import { reviewPoem } from '../operations/review-poem.ts';\nexport const operationCatalogue = { reviewPoem,",
      ],
    },
  },
  'alert channel': {
    files: {
      'src/drivers/alerts/fake.ts': `import { buildSection, Type } from '../../core/schema.ts';
import type { AlertChannelDriver } from './channel.ts';
import { openPostChannel } from './parts/post.ts';
import { credentialSchema } from './parts/settings.ts';

export const fakeChannel = {
  name: 'fake',
  docs: { receiver: 'a fake', ends: 'nothing' },
  schema: buildSection(
    {
      address: Type.String({ maxLength: 2048, description: 'Address of the fake.' }),
      key: { ...credentialSchema, description: 'Key of the fake.' },
    },
    { description: 'A fake.' },
  ),
  address_key: 'address',
  open: ({ address, key }, environment) =>
    openPostChannel({ timeout_ms: 5_000 }, environment, ({ summary }) => [
      { url: address, headers: { 'x-key': key }, body: JSON.stringify({ summary }) },
    ]),
} as const satisfies AlertChannelDriver<{ readonly address: string; readonly key: string }>;
`,
    },
    lines: {
      'src/drivers/alerts/index.ts': [
        'export const alertChannelDrivers = [',
        "import { fakeChannel } from './fake.ts';\nexport const alertChannelDrivers = [fakeChannel, ",
      ],
    },
  },
  'secret backend': {
    files: {
      'src/drivers/secrets/fake.ts': `import { buildSection, Type } from '../../core/schema.ts';
import { urlSchema } from '../../platform/schema-parts.ts';
import type { SecretDriver } from './backend.ts';

export const fake = {
  name: 'fake',
  docs: { reads: 'a fake', names: 'the one of \`secrets.fake.key\`' },
  section: 'fake',
  schema: Type.Optional(
    buildSection(
      {
        address: { ...urlSchema, description: 'Address of the fake.' },
        key: Type.String({ description: 'Name of the secret.' }),
      },
      { description: 'For \`fake\`.' },
    ),
  ),
  address_key: 'address',
  open: ({ key }) => ({
    get: async (asked) => (asked === key ? 'value-of-the-fake' : null),
    check: async () => {},
    close: () => {},
  }),
} as const satisfies SecretDriver<{ readonly key: string }>;
`,
    },
    lines: {
      'src/drivers/secrets/index.ts': [
        'export const secretDrivers = [',
        "import { fake } from './fake.ts';\nexport const secretDrivers = [fake, ",
      ],
    },
  },
};

/** The folders that hold generated files or that extensions change. The others are linked. */
const COPIED = ['src', 'scripts', 'docs', 'data', 'skills', 'schemas', 'integrations', 'package.json'];

/** Copies the checkout, adds extensions to the copy, and returns its folder. */
export function copySource(...added: readonly Extension[]): string {
  const copy = realpathSync(mkdtempSync(join(tmpdir(), 'source-copy-')));
  for (const name of COPIED)
    cpSync(join(root, name), join(copy, name), { recursive: true, filter: (path) => !IGNORED.test(path) });
  for (const name of ['node_modules', 'python', 'examples']) symlinkSync(join(root, name), join(copy, name));
  for (const [path, text] of added.flatMap(({ files }) => Object.entries(files))) {
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    writeFileSync(join(copy, path), text);
  }
  for (const [path, [before, after]] of added.flatMap(({ lines }) => Object.entries(lines))) {
    const text = readFileSync(join(copy, path), 'utf8');
    assert.equal(text.split(before).length, 2, `${path}: ${before}`);
    writeFileSync(join(copy, path), text.replace(before, after));
  }
  return copy;
}

const IGNORED = /\/node_modules(?:\/|$)|\/\.vitepress\/(?:dist|cache)(?:\/|$)/;
