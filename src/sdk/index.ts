/**
 * The SDK for Node, Bun and Deno: `quickstart()` gives a guard without any configuration, `createLocalGuard` one with
 * policy files, `createClientGuard` one that asks a service.
 */
import { createGuard, type Guard } from './guard.ts';
import {
  buildQuickstartPolicy,
  type EmbeddedOptions,
  openEmbeddedBackend,
  type QuickstartOptions,
} from './local/index.ts';
import { openJournalFile } from './node/journal-file.ts';
import { readPolicyFiles } from './node/policy-files.ts';

export { createClientGuard } from './client/index.ts';
export * from './public.ts';

/** The journal of a local guard on a machine with files. */
export interface GuardJournalOptions {
  /** The journal of the decisions, as JSON lines. Default: a file in a new folder for temporary files. */
  readonly audit_path?: string;
  /** The size at which the journal is renamed and a new one begun, in bytes. Default 104,857,600. */
  readonly audit_bytes_max?: number;
}

/** The policy and the journal of a local guard. */
export type LocalGuardOptions = EmbeddedOptions &
  GuardJournalOptions & {
    /** Path of `service.yaml`. The documents that it names are read too. Default: the built-in policy. */
    readonly config?: string;
  };

/** A guard that decides in this process and writes its own journal. */
export interface LocalGuard extends Guard {
  /** The journal of its decisions, one JSON object per line. */
  readonly journal_path: string;
}

/**
 * Returns a guard that works without any configuration: it decides in this process by the built-in policy, which blocks
 * secrets in inputs and tool calls and masks secrets and personal data in outputs.
 */
export function quickstart(options: QuickstartOptions & GuardJournalOptions = {}): LocalGuard {
  return createLocalGuard({ ...options, policy: buildQuickstartPolicy(options) });
}

/**
 * Returns a guard that decides in this process with the policy files of a service, and writes each decision to its own
 * journal before it gives it.
 *
 * @throws PolicyLoadError if the policy has mistakes, or needs what only a service has
 */
export function createLocalGuard(options: LocalGuardOptions = {}): LocalGuard {
  const { config, record } = options;
  const journal = openJournalFile(options.audit_path, options.audit_bytes_max);
  const policy = config === undefined ? options.policy : readPolicyFiles(config);
  const backend = openEmbeddedBackend(
    { ...options, ...(policy && { policy }) },
    {
      close: journal.close,
      write: (event) => {
        journal.write(event);
        record?.(event);
      },
    },
  );
  return Object.defineProperty(createGuard(backend, options) as LocalGuard, 'journal_path', {
    enumerable: true,
    get: () => journal.path(),
  });
}
