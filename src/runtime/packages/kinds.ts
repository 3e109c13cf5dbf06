import type { DocumentKind } from '../../core/policy/schemas.ts';

/** A kind of file that a skill can contain. */
export interface FileKind {
  /** The key of the manifest that lists such files. */
  readonly key: 'policies' | 'contracts' | 'schemas' | 'agents' | 'plugins' | 'tests';
  /** The folder of these files, in the package and next to `service.yaml`, with a trailing slash. */
  readonly folder: string;
  /** The content of these files: documents of one kind, test cases of a policy, or code. */
  readonly holds: DocumentKind | 'cases' | 'code';
  /**
   * The configuration key that must match the files, or the service would not read them. `null` if none is
   * needed.
   */
  readonly read_by: string | null;
  readonly description: string;
}

/** All kinds, in the order in which they are listed. */
export const FILE_KINDS: readonly FileKind[] = [
  {
    key: 'policies',
    folder: 'policies/',
    holds: 'policy',
    read_by: 'paths.policy_files',
    description: 'Policy documents.',
  },
  {
    key: 'contracts',
    folder: 'contracts/',
    holds: 'tool-contract',
    read_by: 'paths.contract_files',
    description: 'Tool contract documents.',
  },
  {
    key: 'schemas',
    folder: 'schemas/',
    holds: 'memory',
    read_by: 'paths.memory_schema_files',
    description: 'Memory schema documents.',
  },
  {
    key: 'agents',
    folder: 'agents/',
    holds: 'agent-identity',
    read_by: 'paths.identity_files',
    description: 'Agent identity documents.',
  },
  {
    key: 'plugins',
    folder: 'plugins/',
    holds: 'code',
    read_by: 'plugins.files',
    description: 'Plug-ins: code that runs in the service.',
  },
  {
    key: 'tests',
    folder: 'policies/tests/',
    holds: 'cases',
    read_by: null,
    description: 'Cases for `customshouse policy test`.',
  },
];

/** The base name of a file: lower-case letters and digits, so that no file system treats two names as one. */
const NAME = '[a-z0-9][a-z0-9_-]{0,60}(?:\\.[a-z0-9][a-z0-9_-]{0,30}){0,3}';

/** Returns the path pattern of a kind, as a JSON Schema pattern. */
export function buildPathPattern({ folder, holds }: FileKind): string {
  const ending = holds === 'code' ? 'm?js' : 'ya?ml';
  return `^${folder}${NAME}\\.${ending}$`;
}

const PATTERNS = FILE_KINDS.map((kind) => ({ kind, pattern: new RegExp(buildPathPattern(kind)) }));

/** Returns the kind of a path, or `null` for a path to which no skill can write. */
export function findFileKind(path: string): FileKind | null {
  return PATTERNS.find(({ pattern }) => pattern.test(path))?.kind ?? null;
}

/** The folders to which skills write. */
export const SKILL_FOLDERS: readonly string[] = FILE_KINDS.map(({ folder }) => folder.slice(0, -1));
