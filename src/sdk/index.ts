/**
 * The SDK for Node, Bun and Deno: `quickstart()` gives a guard without any configuration, `createLocalGuard` one with
 * policy files, `createClientGuard` one that asks a service.
 */
import { createGuard, type Guard, getAgentName } from './guard.ts';
import {
  buildQuickstartPolicy,
  type EmbeddedOptions,
  openEmbeddedBackend,
  type QuickstartOptions,
} from './local/index.ts';
import { type JournalFile, openJournalFile } from './node/journal-file.ts';
import { readPolicyFiles } from './node/policy-files.ts';
import { openReporter, type Reporter, type ReportOptions, type ReportStatus } from './node/reporter.ts';

export { createClientGuard } from './client/index.ts';
export type { ReportOptions, ReportStatus } from './node/reporter.ts';
export * from './public.ts';

/** The journal of a local guard on a machine with files. */
export interface GuardJournalOptions {
  /**
   * The journal of the decisions, as JSON lines. Default: a new file in `$XDG_STATE_HOME/customshouse`, or in
   * `~/.local/state/customshouse`, where old ones are deleted when there are more than 100 or 1 GiB of them.
   */
  readonly audit_path?: string;
  /** The size at which the journal is renamed and a new one begun, in bytes. Default 104,857,600. */
  readonly audit_bytes_max?: number;
  /**
   * Sends the decisions to the audit log of a service, in batches. Then there is a journal only if `audit_path` names
   * one. A decision is on disk before it is given, and the service never delays a check.
   */
  readonly report?: ReportOptions;
}

/** The policy and the journal of a local guard. */
export type LocalGuardOptions = EmbeddedOptions &
  GuardJournalOptions & {
    /** Path of `service.yaml`. The documents that it names are read too. Default: the built-in policy. */
    readonly config?: string;
  };

/** A guard that decides in this process and writes its own journal. */
export interface LocalGuard extends Guard {
  /** The journal of its decisions, one JSON object per line. With `report` and without `audit_path` it stays empty. */
  readonly journal_path: string;
  /** Returns the state of the reports to a service; `null` without `report`. */
  readonly reportStatus: () => ReportStatus | null;
  /** Sends the decisions that wait. Returns `false` if the service does not confirm them in time. */
  readonly flush: () => Promise<boolean>;
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
  const { audit_path, config, record, report } = options;
  const reporter =
    report === undefined ? null : openReporter(report, getAgentName(options), options.tenant_id ?? 'default');
  const journal = openJournalFile(audit_path, options.audit_bytes_max);
  const keepsJournal = reporter === null || audit_path !== undefined;
  const policy = config === undefined ? options.policy : readPolicyFiles(config);
  const backend = openEmbeddedBackend(
    { ...options, ...(policy && { policy }) },
    {
      close: async () => {
        await reporter?.close();
        await journal.close();
      },
      write: (event) => {
        if (keepsJournal) journal.write(event);
        reporter?.write(event);
        record?.(event);
      },
    },
  );
  return addLocalMembers(createGuard(backend, options), journal, reporter);
}

function addLocalMembers(guard: Guard, journal: JournalFile, reporter: Reporter | null): LocalGuard {
  const own: Pick<LocalGuard, 'flush' | 'reportStatus'> = {
    flush: async () => reporter?.flush() ?? true,
    reportStatus: () => reporter?.status() ?? null,
  };
  // A property of its own, because the first read creates a folder.
  return Object.defineProperty(Object.assign(guard, own) as LocalGuard, 'journal_path', {
    enumerable: true,
    get: () => journal.path(),
  });
}
