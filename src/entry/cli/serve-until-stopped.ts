import { extname } from 'node:path';
import { EXIT } from '../../operations/cli-kit/command-failure.ts';
import { formatCount } from '../../operations/cli-kit/format-table.ts';
import {
  escapeControls,
  paintError,
  paintText,
  printJson,
  printLine,
  printNotice,
  replaceProgramName,
  type Terminal,
} from '../../operations/cli-kit/terminal.ts';
import { getPackageVersion } from '../../platform/version.ts';
import { startService } from '../../server/start.ts';
import { dispatch } from '../hook/dispatch.ts';
import type { StartReport } from './start-report.ts';

/** The options of `serve`, in commander's form. */
export interface ServeOptions {
  readonly mode?: string;
  readonly host?: string;
  readonly port?: number;
  readonly workers?: number;
  readonly upstreamBaseUrl?: string;
  readonly config?: string;
  readonly json?: true;
}

/** Starts the service, prints its report, and resolves when it has stopped. */
export async function serveUntilStopped(options: ServeOptions, terminal: Terminal): Promise<void> {
  const { mode, host, port, workers } = options;
  const upstreamBaseUrl = options.upstreamBaseUrl ?? (terminal.env.SERVICE_UPSTREAM_BASE_URL || undefined);
  const version = getPackageVersion();
  // The source and the compiled program have the same layout, but different extensions.
  const workerUrl = new URL(`../http/worker${extname(import.meta.url)}`, import.meta.url);
  const service = await startService({
    request: {
      path: options.config ?? null,
      env: terminal.env,
      cwd: terminal.cwd,
      overrides: { mode, host, port, workers, upstream_base_url: upstreamBaseUrl },
    },
    worker_url: workerUrl,
    dispatch,
    version,
    is_terminal: (terminal.stdout as { isTTY?: boolean }).isTTY === true,
  });
  const { buildStartReport } = await import('./start-report.ts');
  const report = buildStartReport({ ...service, version });
  if (options.json) printJson(terminal, report);
  else printStartReport(report, terminal);
  if ((await service.ended) !== 0) {
    printNotice(terminal, 'Some requests had to be cut off.');
    terminal.exit_code = EXIT.no;
  }
}

function printStartReport(report: StartReport, terminal: Terminal): void {
  for (const warning of report.warnings)
    printNotice(terminal, `${paintError(terminal, 'yellow', 'warning:')} ${escapeControls(warning)}`);
  const head = `The service runs: ${report.mode} mode, ${formatCount(report.workers, 'worker')}, version ${report.version}`;
  printLine(terminal, paintText(terminal, 'bold', head));
  printLine(terminal);
  for (const [name, value] of listFacts(report))
    printLine(terminal, `  ${name.padEnd(8)} ${escapeControls(replaceProgramName(terminal, value))}`);
  printLine(terminal);
  const tried =
    report.try_action === 'block'
      ? 'Try it, this is blocked:'
      : `Try it; your policy answers \`${report.try_action}\`:`;
  printLine(terminal, `  ${tried}`);
  printLine(terminal, `  ${escapeControls(report.try)}`);
  printLine(terminal);
}

function listFacts(report: StartReport): [name: string, value: string][] {
  const isElsewhere = !report.store.startsWith(report.state_dir);
  return [
    ['Address', report.url],
    ...(report.all_interfaces ? [['Listens', 'on all interfaces of this machine'] as [string, string]] : []),
    ['Docs', report.docs_url],
    ['Policy', formatPolicyLine(report)],
    ['Config', report.config_file ?? 'none: the defaults hold (`customshouse init` writes one)'],
    ['Data', report.state_dir],
    ...(isElsewhere ? [['Store', report.store] as [string, string]] : []),
    ['Access', report.access],
    ...(report.first_sign_in === null
      ? []
      : [['Console', `create the first administrator, once: ${report.first_sign_in}`] as [string, string]]),
  ];
}

function formatPolicyLine({ rules, builtin_rules, contracts, identities, policy_hash }: StartReport): string {
  const parts = [
    rules > 0 && `${formatCount(rules, 'rule')} of your own`,
    builtin_rules > 0 ? 'the built-in rules' : 'no built-in rules',
    contracts > 0 && formatCount(contracts, 'tool contract'),
    identities > 0 && formatCount(identities, 'agent identity', 'agent identities'),
  ];
  return `${parts.filter((part) => part !== false).join(', ')} (${policy_hash.slice(0, 'sha256:'.length + 12)})`;
}
