import { join, resolve } from 'node:path';
import { type BucketSettings, ObjectStorageFailure, openBucket } from '../../drivers/object-storage/s3.ts';
import type {
  CommandPorts,
  RestoreOptions,
  ShipOptions,
  ShippedVerifyOptions,
} from '../../operations/cli-kit/command.ts';
import { CommandFailure, EXIT } from '../../operations/cli-kit/command-failure.ts';
import { formatCount } from '../../operations/cli-kit/format-table.ts';
import {
  escapeControls,
  printJson,
  printLine,
  printNotice,
  type Terminal,
} from '../../operations/cli-kit/terminal.ts';
import { printVerifyReport, setVerifyExit } from '../../operations/cli-kit/verify-report.ts';
import { listUnshippedWriters, sealAllIdle } from './drain.ts';
import { openShipping } from './open-shipping.ts';
import { findLogs, restoreShippedLog, type ShippedPlace, verifyShippedLogs } from './restore.ts';
import { shipClosedFiles } from './ship.ts';
import { type ShippedLog, ShippingFailure } from './types.ts';

/** Verifies the logs at an address, and prints one result for each. */
export async function verifyShippedLog(
  address: string,
  options: ShippedVerifyOptions,
  terminal: Terminal,
): Promise<void> {
  const reports = await withPlace(parseAddress(address, terminal.env), (place) =>
    verifyShippedLogs(place, {
      log_id: options.log ?? null,
      trusted_key_id: options.trustedKey ?? null,
      onProgress: openProgress(terminal),
    }),
  );
  if (options.json) printJson(terminal, reports);
  for (const { report, ...log } of reports) {
    if (options.json) setVerifyExit(report, terminal);
    else {
      printLine(terminal, describeLog(log));
      printVerifyReport(report, terminal);
    }
  }
}

/** Copies a log from object storage into a new folder. */
export async function restoreLog(
  address: string | undefined,
  options: RestoreOptions,
  terminal: Terminal,
  ports: CommandPorts,
): Promise<void> {
  const source =
    address === undefined
      ? await readConfiguredPlace(terminal, options.config, ports)
      : parseAddress(address, terminal.env);
  const folder = resolve(terminal.cwd, options.to);
  const restored = await withPlace(source, async (place) => {
    const log = requireOne(await findLogs(place, options.log ?? null));
    return restoreShippedLog(place, log, folder, openProgress(terminal));
  });
  if (options.json) return printJson(terminal, restored);
  printLine(
    terminal,
    `${describeLog(restored)}: ${formatCount(restored.files, 'file')} restored to ${escapeControls(folder)}`,
  );
  printNotice(terminal, `Check it with \`customshouse audit verify --dir ${options.to} --partial\`.`);
}

/** Closes and ships the files of a stopped service. Ends with 1 if a running service still writes some. */
export async function shipLog(options: ShipOptions, terminal: Terminal, ports: CommandPorts): Promise<void> {
  const config = await ports.loadConfig(terminal, options.config, 'leave');
  const shipping = openShipping(config, Date.now, new AbortController().signal);
  if (shipping === null) throw buildUnconfiguredFailure();
  let shipped = 0;
  try {
    await explainFailures(async () => {
      await sealAllIdle(config, shipping.signal);
      for (let hasMore = true; hasMore; ) {
        const round = await shipClosedFiles(shipping);
        shipped += round.shipped;
        hasMore = round.waiting > 0;
      }
    });
  } finally {
    shipping.bucket.close();
  }
  const open = await listUnshippedWriters(join(config.state_dir, 'journal'));
  if (open.length > 0) terminal.exit_code = EXIT.no;
  if (options.json) return printJson(terminal, { shipped, open });
  printLine(terminal, `${formatCount(shipped, 'file')} shipped`);
  if (open.length > 0)
    printNotice(
      terminal,
      `warning: A running service still writes ${open.join(', ')}. It ships them by itself; to ship everything now, stop it first.`,
    );
}

interface Place {
  readonly bucket: BucketSettings;
  readonly prefix: string;
}

async function withPlace<Result>(
  { bucket: settings, prefix }: Place,
  use: (place: ShippedPlace) => Promise<Result>,
): Promise<Result> {
  const bucket = openBucket(settings);
  try {
    return await explainFailures(() => use({ bucket, prefix, signal: new AbortController().signal }));
  } finally {
    bucket.close();
  }
}

async function explainFailures<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ObjectStorageFailure || error instanceof ShippingFailure)
      throw new CommandFailure(EXIT.usage, error.code, error.message);
    throw error;
  }
}

const ADDRESS = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([A-Za-z0-9_.=/-]*))?$/;

/** Reads an address. Region and endpoint come from the variables of the SDK. */
function parseAddress(address: string, env: Readonly<Record<string, string | undefined>>): Place {
  const match = ADDRESS.exec(address);
  if (match === null)
    throw new CommandFailure(EXIT.usage, 'shipping_address', `\`${address}\` is no address of a bucket.`, {
      hint: 'Write it as `s3://BUCKET/PREFIX`.',
    });
  const region = env.AWS_REGION ?? env.AWS_DEFAULT_REGION ?? 'us-east-1';
  const isElsewhere = (env.AWS_ENDPOINT_URL_S3 ?? env.AWS_ENDPOINT_URL) !== undefined;
  return {
    bucket: { bucket: match[1]!, region, path_style: isElsewhere },
    prefix: (match[2] ?? '').replace(/\/+$/, ''),
  };
}

async function readConfiguredPlace(
  terminal: Terminal,
  path: string | undefined,
  ports: CommandPorts,
): Promise<Place> {
  const { object_storage } = (await ports.loadConfig(terminal, path, 'leave')).audit;
  if (object_storage === undefined) throw buildUnconfiguredFailure();
  return { bucket: object_storage, prefix: object_storage.prefix };
}

function buildUnconfiguredFailure(): CommandFailure {
  return new CommandFailure(EXIT.usage, 'not_configured', 'No object storage is configured.', {
    hint: 'Set `audit.object_storage.bucket`, or name an address: `s3://BUCKET/PREFIX`.',
  });
}

function requireOne(logs: readonly ShippedLog[]): ShippedLog {
  const [only, ...more] = logs;
  if (only !== undefined && more.length === 0) return only;
  throw new CommandFailure(EXIT.usage, 'invalid_request', 'There are several logs at this address:', {
    lines: logs.map((log) => `  ${describeLog(log)}`),
    hint: 'Name one with --log.',
  });
}

function describeLog({ log_id, node }: ShippedLog): string {
  return `${log_id}  ${escapeControls(node ?? 'unknown machine')}`;
}

const PROGRESS_MS = 2_000;

/** Returns a function that prints the progress, at most every two seconds. */
function openProgress(terminal: Terminal): (doneBytes: number, totalBytes: number) => void {
  let printedMs = performance.now();
  return (doneBytes, totalBytes) => {
    if (performance.now() - printedMs < PROGRESS_MS) return;
    printedMs = performance.now();
    printNotice(terminal, `${Math.floor((doneBytes / Math.max(1, totalBytes)) * 100)} % copied`);
  };
}
