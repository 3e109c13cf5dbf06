import { access, readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { PackSummary } from '../../features/evidence/make-pack.ts';
import type { EvidenceProgress, PackReport } from '../../features/evidence/types.ts';
import type { TrustedPublicKey } from '../../features/evidence/verify-pack.ts';
import { getPackageVersion } from '../../platform/version.ts';
import { getOsUserName } from '../../runtime/access/os-user.ts';
import { createEventId } from '../../runtime/audit/event-id.ts';
import { CommandFailure, EXIT } from './command-failure.ts';
import { formatCount } from './format-table.ts';
import { loadCliConfig } from './load-cli-config.ts';
import { requireJournal } from './run-operation.ts';
import { escapeControls, paintText, printJson, printLine, printNotice, type Terminal } from './terminal.ts';

/** The options of a command that makes an evidence pack. */
export interface PackCommand {
  /** The file to write. */
  readonly pack: string;
  readonly framework?: string;
  readonly since?: string;
  readonly until?: string;
  readonly last?: string;
  readonly tenant?: string;
  readonly config?: string;
  readonly json?: true;
}

/** Makes an evidence pack from the state folder of the configuration, and prints what is in it. */
export async function makeEvidencePack(command: PackCommand, terminal: Terminal): Promise<void> {
  const config = await loadCliConfig(terminal, command.config, 'leave');
  await requireJournal(config);
  const target = resolve(terminal.cwd, command.pack);
  if (await isThere(target))
    throw new CommandFailure(EXIT.usage, 'file_exists', `\`${target}\` exists already.`, {
      hint: 'Choose another file, or remove it.',
    });
  const { openLocalRuntime } = await import('../../server/local.ts');
  const { makePack } = await import('../../features/evidence/make-pack.ts');
  const { parsePackWindow } = await import('../../features/evidence/pack-window.ts');
  const { buildPackEvent } = await import('../../features/evidence/evidence-events.ts');
  const runtime = await openLocalRuntime(config, getPackageVersion());
  try {
    const window = parsePackWindow(command, runtime.now_ms());
    await runtime.settleJournal();
    const { framework } = command;
    const report =
      framework === undefined
        ? []
        : await runtime.buildReportFiles({
            ...{ ...window, framework },
            tenants: command.tenant === undefined ? '*' : [command.tenant],
          });
    const request = {
      state_dir: config.state_dir,
      service_version: getPackageVersion(),
      ...{ window, tenant_id: command.tenant ?? null, framework: framework ?? null, report, target },
    };
    const summary = await makePack(request, { onProgress: openProgress(terminal) });
    const now_ms = runtime.now_ms();
    const own = { event_id: createEventId(now_ms), now_ms, policy_hash: runtime.policy().hash };
    await runtime.note(buildPackEvent(summary, { ...own, caller_id: `cli:${getOsUserName()}` }));
    if (command.json) printJson(terminal, { file: target, ...summary });
    else printSummary(summary, target, terminal);
  } finally {
    await runtime.close();
  }
}

const PROGRESS_MS = 2_000;

/** Returns a function that prints the progress, at most every two seconds. */
function openProgress(terminal: Terminal): (progress: EvidenceProgress) => void {
  let printed_ms = performance.now();
  return ({ done_bytes, total_bytes }) => {
    if (performance.now() - printed_ms < PROGRESS_MS) return;
    printed_ms = performance.now();
    printNotice(
      terminal,
      `${Math.floor((done_bytes / Math.max(1, total_bytes)) * 100)} % of the journal read`,
    );
  };
}

function printSummary(summary: PackSummary, target: string, terminal: Terminal): void {
  const { events, omitted, window, bytes, sha256, key_id, policies_left_out, tenant_id } = summary;
  printLine(terminal, `${target}  ${formatCount(events, 'event')}, ${bytes} bytes`);
  printLine(terminal, `  window: ${window.since} to ${window.until}`);
  if (tenant_id !== null)
    printLine(
      terminal,
      `  tenant: ${escapeControls(tenant_id)}; ${formatCount(omitted, 'record')} of other tenants without content`,
    );
  printLine(terminal, `  signed by the key ${key_id}`);
  printLine(terminal, `  sha256: ${sha256}`);
  if (policies_left_out > 0 && tenant_id === null)
    printNotice(
      terminal,
      `warning: ${formatCount(policies_left_out, 'policy', 'policies')} of these events is not saved any more.`,
    );
}

/** The options of `audit verify` with a pack. */
export interface VerifyPackCommand {
  readonly publicKey?: string;
  readonly json?: true;
}

/** Verifies a pack and prints the result. Ends with 1 if it is broken. */
export async function verifyEvidencePack(
  pack: string,
  command: VerifyPackCommand,
  terminal: Terminal,
): Promise<void> {
  const { loadVerifier } = await import('../../features/evidence/verify-pack.ts');
  const { verifyPack, formatPackReport } = await loadVerifier();
  const public_key = command.publicKey === undefined ? null : await readKey(command.publicKey, terminal);
  const report = await verifyPack(resolve(terminal.cwd, pack), { public_key });
  if (command.json) printJson(terminal, report);
  else printReport(report, formatPackReport(report), terminal);
  if (!report.intact) terminal.exit_code = EXIT.no;
}

function printReport(report: PackReport, lines: readonly string[], terminal: Terminal): void {
  const [first = '', ...rest] = lines;
  const [word = ''] = first.split(' ', 1);
  const colour = report.intact ? ('green' as const) : ('red' as const);
  printLine(terminal, paintText(terminal, ['bold', colour], word) + first.slice(word.length));
  for (const line of rest) printLine(terminal, line);
}

async function readKey(path: string, terminal: Terminal): Promise<TrustedPublicKey> {
  const { loadVerifier } = await import('../../features/evidence/verify-pack.ts');
  const { readPublicKey } = await loadVerifier();
  const text = await readFile(resolve(terminal.cwd, path), 'utf8');
  try {
    return readPublicKey(text);
  } catch {
    throw new CommandFailure(
      EXIT.usage,
      'key_invalid',
      `\`${path}\` is not an Ed25519 public key, as \`keys/<id>.json\` of the service or as PEM.`,
    );
  }
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
