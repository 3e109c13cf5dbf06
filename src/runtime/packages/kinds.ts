import type { DocumentKind } from '../../core/policy/schemas.ts';

/** One kind of file that a skill may bring. */
export interface FileKind {
  /** The key of the manifest that lists such files. */
  readonly key: 'policies' | 'contracts' | 'schemas' | 'agents' | 'plugins' | 'tests';
  /** Where they stand, in the package and beside `service.yaml` alike; with slashes, the last one too. */
  readonly folder: string;
  /** What is in them: documents of one kind, cases that a policy is tested with, or code. */
  readonly holds: DocumentKind | 'cases' | 'code';
  /** The key of the configuration that must name them, or they would lie there unread; `null` where none has to. */
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
    description: 'Cases for `service policy test`.',
  },
];

/** A file's own name: small letters and digits, so that no file system takes two for one. */
const NAME = '[a-z0-9][a-z0-9_-]{0,60}(?:\\.[a-z0-9][a-z0-9_-]{0,30}){0,3}';

/** The pattern of paths of a kind, as a JSON Schema writes it. */
export function buildPathPattern({ folder, holds }: FileKind): string {
  const ending = holds === 'code' ? 'm?js' : 'ya?ml';
  return `^${folder}${NAME}\\.${ending}$`;
}

const PATTERNS = FILE_KINDS.map((kind) => ({ kind, pattern: new RegExp(buildPathPattern(kind)) }));

/** The kind of a path; `null` for one that no skill may write to. */
export function findFileKind(path: string): FileKind | null {
  return PATTERNS.find(({ pattern }) => pattern.test(path))?.kind ?? null;
}

/** The folders that skills write to. */
export const SKILL_FOLDERS: readonly string[] = FILE_KINDS.map(({ folder }) => folder.slice(0, -1));
