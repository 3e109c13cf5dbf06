import { access, readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type {
  CommandPorts,
  PackCommandOptions,
  PackVerifyOptions,
} from '../../operations/cli-kit/command.ts';
import { CommandFailure, EXIT } from '../../operations/cli-kit/command-failure.ts';
import { formatCount } from '../../operations/cli-kit/format-table.ts';
import {
  escapeControls,
  paintText,
  printJson,
  printLine,
  printNotice,
  type Terminal,
} from '../../operations/cli-kit/terminal.ts';
import { getPackageVersion } from '../../platform/version.ts';
import { getOsUserName } from '../../runtime/access/os-user.ts';
import { createEventId } from '../../runtime/audit/event-id.ts';
import { buildPackEvent } from './evidence-events.ts';
import { makePack, type PackSummary } from './make-pack.ts';
import { parsePackWindow } from './pack-window.ts';
import type { EvidenceProgress, PackReport } from './types.ts';
import { loadVerifier, type TrustedPublicKey } from './verify-pack.ts';

/** Makes an evidence pack from the configured state folder, and prints its contents. */
export async function makeEvidencePack(
  command: PackCommandOptions,
  terminal: Terminal,
  ports: CommandPorts,
): Promise<void> {
  const config = await ports.loadConfig(terminal, command.config, 'leave');
  await ports.requireJournal(config);
  const target = resolve(terminal.cwd, command.pack);
  if (await isThere(target))
    throw new CommandFailure(EXIT.usage, 'file_exists', `\`${target}\` exists already.`, {
      hint: 'Choose another file, or remove it.',
    });
  const runtime = await ports.openRuntime(config);
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
    const nowMs = runtime.now_ms();
    const own = { event_id: createEventId(nowMs), now_ms: nowMs, policy_hash: runtime.policy().hash };
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
  let printedMs = performance.now();
  return ({ done_bytes, total_bytes }) => {
    if (performance.now() - printedMs < PROGRESS_MS) return;
    printedMs = performance.now();
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

/** Verifies a pack and prints the result. Ends with 1 if it is broken. */
export async function verifyEvidencePack(
  pack: string,
  command: PackVerifyOptions,
  terminal: Terminal,
): Promise<void> {
  const verifier = await loadVerifier();
  const publicKey = command.publicKey === undefined ? null : await readKey(command.publicKey, terminal);
  const report = await verifier.verifyPack(resolve(terminal.cwd, pack), { public_key: publicKey });
  if (command.json) printJson(terminal, report);
  else printReport(report, verifier.formatPackReport(report), terminal);
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
