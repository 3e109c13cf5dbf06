import { findDiskProblem } from '../../platform/disk.ts';
import { CommandFailure, EXIT, type ProblemDetail } from './command-failure.ts';

/** Names of the errors that are expected. They have a stable `code` and a message for people. */
const EXPECTED = [
  'AuditFailure',
  'AuditFilterError',
  'CorpusError',
  'EvidenceFailure',
  'Refusal',
  'SettingsFailure',
  'SkillFailure',
  'SocketFailure',
  'StartFailure',
  'StoreFailure',
];

/** Codes of refusals that are a negative answer. Every other refusal is a problem of use or setup. */
const NEGATIVE_CODES = [
  'not_found',
  'conflict',
  'policy_invalid',
  'weaker_policy',
  'settings_unusable',
  'skill_invalid',
  'plugins_refused',
  'not_configured',
  'forbidden',
  'journal_broken',
];

/** Converts an expected error to a command failure; `null` for an internal error. */
export function convertExpectedFailure(error: unknown): CommandFailure | null {
  if (error instanceof CommandFailure) return error;
  if (!(error instanceof Error)) return null;
  return EXPECTED.includes(error.name) ? convertRefusal(error) : convertSystemFailure(error);
}

function convertRefusal(
  error: Error & { code?: string; details?: readonly ProblemDetail[]; problems?: readonly ProblemDetail[] },
): CommandFailure {
  const code = error.code ?? 'refused';
  const details = error.details ?? error.problems ?? [];
  const exitCode = NEGATIVE_CODES.includes(code) ? EXIT.no : EXIT.usage;
  // A message about one detail repeats it.
  const listed = details.length === 1 && error.message.includes(details[0]!.message) ? [] : details;
  return new CommandFailure(exitCode, code, error.message, { details, lines: listed.map(formatDetail) });
}

function formatDetail({ file, path, line: number, message }: ProblemDetail): string {
  if (file !== undefined) return `${file}${number === undefined ? '' : `:${number}`}: ${message}`;
  return path === '' ? message : `${path}: ${message}`;
}

/** Converts errors of missing or unreadable files, which the user can fix, to a failure that names the file. */
function convertSystemFailure(error: Error & { code?: unknown; path?: unknown }): CommandFailure | null {
  if (typeof error.code !== 'string') return null;
  const sentence = SYSTEM_SENTENCES[error.code];
  if (sentence !== undefined && typeof error.path === 'string')
    return new CommandFailure(EXIT.usage, 'file_unusable', `\`${error.path}\` ${sentence}`);
  const disk = findDiskProblem(error);
  if (disk === null || !disk.names_cause) return null;
  const where = typeof error.path === 'string' ? `\`${error.path}\`` : 'A file of the service';
  return new CommandFailure(
    EXIT.usage,
    'file_unusable',
    `${where} cannot be written or read: ${disk.what}. ${disk.fix}, then try again.`,
  );
}

const SYSTEM_SENTENCES: Readonly<Record<string, string>> = {
  ENOENT: 'is not there.',
  EACCES: 'may not be read or written by this user.',
  EPERM: 'may not be read or written by this user.',
  EEXIST: 'is in the way: a folder is expected there.',
  EISDIR: 'is a folder; name a file.',
  ENOTDIR: 'has a file where a folder is expected.',
};
