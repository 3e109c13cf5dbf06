import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { CommandFailure, EXIT } from '../../../operations/cli-kit/command-failure.ts';
import { convertExpectedFailure } from '../../../operations/cli-kit/convert-failure.ts';
import { formatCount } from '../../../operations/cli-kit/format-table.ts';
import { addExamples, buildConfigOption, buildJsonOption } from '../../../operations/cli-kit/options.ts';
import { printVerdict } from '../../../operations/cli-kit/print-verdict.ts';
import {
  escapeControls,
  escapeControlsInLines,
  printLine,
  printNotice,
  type Terminal,
} from '../../../operations/cli-kit/terminal.ts';
import type { VerdictReply } from '../../../operations/reply.ts';
import { readBounded } from '../read-bounded.ts';
import { runSelectedOperation } from '../run-operation.ts';

interface ScanOptions {
  readonly file?: readonly string[];
  readonly boundary: 'input' | 'output';
  readonly quiet?: true;
  readonly structured?: true;
  readonly agent?: string;
  readonly tenant?: string;
  readonly session?: string;
  readonly config?: string;
  readonly json?: true;
}

export function defineScan(command: Command, terminal: Terminal): void {
  command
    .description(
      'Decide on a text as the service would, and record the decision. Ends with 1 if the decision is `block`. Other users of this machine can see a command line, so pass secrets by file or standard input.',
    )
    .argument('[text]', 'the text; without it and without --file, standard input')
    .option(
      '-f, --file <file>',
      'scan a file; `.json` is read as structured data. Repeat it for more',
      (file: string, before: readonly string[] = []) => [...before, file],
    )
    .addOption(
      new Option('-b, --boundary <boundary>', 'the boundary, which selects the rules')
        .choices(['input', 'output'])
        .default('input'),
    )
    .option('-q, --quiet', 'print what is not allowed, and no content; so do several files')
    .option('--structured', 'the text is JSON: scan keys, numbers and strings')
    .option('--agent <id>', 'the agent that receives or sends the text')
    .option('--tenant <id>', 'tenant whose rules apply')
    .option('--session <id>', 'the session that it belongs to')
    .addOption(buildConfigOption())
    .addOption(buildJsonOption())
    .action((text: string | undefined, options: ScanOptions) => runScan(text, options, terminal));
  addExamples(command, [
    ["customshouse scan 'my key is sk-ABCDEF1234567890'", 'blocked'],
    ['customshouse scan --boundary output < answer.txt', 'an answer to a user'],
    ['customshouse scan --structured --json < call.json', 'for a program'],
    ['customshouse scan --file notes.md', 'a file'],
    ['customshouse scan --file notes.md --file call.json', 'several files, each alone'],
  ]);
}

async function runScan(
  text: string | undefined,
  { file: files = [], ...others }: ScanOptions,
  terminal: Terminal,
): Promise<void> {
  const options: OneScan = { ...others, ...(files[0] !== undefined && { file: files[0] }) };
  checkOptions(text, options);
  if (files.length > 1 || (files.length === 1 && options.quiet)) return scanFiles(files, others, terminal);
  const bytes = text === undefined || text === '-' ? await readInput(options.file, terminal) : null;
  const reply = await callScan(text, bytes, options, terminal);
  const { writeExactJson } = await import('../../../core/json/value-source.ts');
  if (options.json) printLine(terminal, escapeControls(joinJsonLines(writeExactJson(reply))));
  else printReply(reply, terminal, writeExactJson);
  if (reply.decision === 'block') terminal.exit_code = EXIT.no;
}

/** The options of one scan. */
interface OneScan extends Omit<ScanOptions, 'file'> {
  readonly file?: string;
}

function checkOptions(text: string | undefined, { file, quiet, structured, boundary }: OneScan): void {
  if (text !== undefined && file !== undefined) {
    throw new CommandFailure(EXIT.usage, 'usage', 'Give a text or --file, not both.');
  }
  if (quiet && file === undefined) {
    throw new CommandFailure(EXIT.usage, 'usage', '--quiet works with --file only.');
  }
  if (structured && boundary === 'output') {
    throw new CommandFailure(
      EXIT.usage,
      'usage',
      '--structured works with the boundary `input` only. Remove `--boundary output`.',
    );
  }
}

/**
 * Scans each file alone, and continues after one that cannot be read. Prints neither the changed texts nor what matched,
 * because several files are mostly scanned where build logs keep what is printed.
 */
async function scanFiles(
  files: readonly string[],
  options: Omit<OneScan, 'file'>,
  terminal: Terminal,
): Promise<void> {
  const counts = { allow: 0, modify: 0, block: 0, unreadable: 0 };
  for (const file of files) {
    const reply = await scanOneOf(file, { ...options, file }, terminal);
    const isRead = 'decision' in reply;
    counts[isRead ? reply.decision : 'unreadable'] += 1;
    if (options.json) printLine(terminal, escapeControls(JSON.stringify({ file, ...reply })));
    else if (!isRead) printNotice(terminal, `${escapeControls(file)}: ${escapeControls(reply.error)}`);
    else if (reply.decision !== 'allow') {
      printLine(terminal, escapeControls(file));
      printVerdict(reply, terminal);
      printLine(terminal, '');
    }
  }
  const { allow, modify, block, unreadable } = counts;
  const others = `${modify} with redactions, ${block} blocked, ${unreadable} unreadable`;
  if (!options.json) printLine(terminal, `${formatCount(files.length, 'file')}: ${allow} allowed, ${others}`);
  if (block > 0) terminal.exit_code = EXIT.no;
  if (unreadable > 0) terminal.exit_code = EXIT.usage;
}

/** Scans one of several files. Returns its verdict without any content, or the sentence why there is none. */
async function scanOneOf(
  file: string,
  options: OneScan,
  terminal: Terminal,
): Promise<VerdictReply | { readonly error: string }> {
  let isRead = false;
  try {
    const bytes = await readInput(file, terminal);
    isRead = true;
    const { modified_text, modified_payload, ...reply } = await callScan(undefined, bytes, options, terminal);
    return { ...reply, violations: reply.violations.map(({ match, ...violation }) => violation) };
  } catch (error) {
    // Any other failure after the reading, as a wrong configuration, is one of all files.
    const isOfFile = !isRead || (error as Error).name === 'Refusal';
    const failure = isOfFile ? convertExpectedFailure(error) : null;
    if (failure === null) throw error;
    return { error: failure.message };
  }
}

interface ScanReply extends VerdictReply {
  readonly modified_text?: string;
  readonly modified_payload?: unknown;
}

async function callScan(
  text: string | undefined,
  bytes: Buffer | null,
  options: OneScan,
  terminal: Terminal,
): Promise<ScanReply> {
  const about = {
    ...(options.agent !== undefined && { agent_id: options.agent }),
    ...(options.tenant !== undefined && { tenant_id: options.tenant }),
    ...(options.session !== undefined && { context: { session_id: options.session } }),
  };
  if (options.file !== undefined && !options.structured && options.boundary === 'input') {
    return runSelectedOperation(terminal, options.config, (of) => of.scanFile, {
      name: options.file,
      content_base64: bytes!.toString('base64'),
      ...about,
    });
  }
  const { decodeUtf8Text } = await import('../../../operations/file.ts');
  const content = bytes === null ? text! : decodeUtf8Text(bytes);
  if (options.structured)
    return runSelectedOperation(
      terminal,
      options.config,
      (of) => of.scanStructured,
      await parsePayloadBody(content, about),
    );
  const input = { text: content, ...about };
  return options.boundary === 'output'
    ? runSelectedOperation(terminal, options.config, (of) => of.guardOutput, input)
    : runSelectedOperation(terminal, options.config, (of) => of.scanInput, input);
}

async function readInput(file: string | undefined, terminal: Terminal): Promise<Buffer> {
  if (file !== undefined) return readFile(resolve(terminal.cwd, file), file);
  if (terminal.stdin.isTTY) {
    throw new CommandFailure(
      EXIT.usage,
      'usage',
      'There is no text. Give it as an argument, with --file, or on standard input.',
    );
  }
  const bytes = await readBounded(terminal.stdin);
  if (bytes.length > 0) return bytes;
  throw new CommandFailure(EXIT.usage, 'usage', 'Standard input is empty, so nothing was scanned.', {
    hint: 'Give the text as an argument, with --file, or on standard input.',
  });
}

async function readFile(path: string, asGiven: string): Promise<Buffer> {
  try {
    return await readBounded(createReadStream(path));
  } catch (error) {
    // Reading a folder fails only at the first read, and Node's error then lacks the path.
    throw error instanceof CommandFailure ? error : Object.assign(error as Error, { path: asGiven });
  }
}

/** Removes the white space between the tokens of a JSON text. */
function joinJsonLines(json: string): string {
  return json.replace(/("(?:[^"\\]|\\.)*")|[ \t\r\n]+/g, '$1');
}

/** Returns a body that keeps the text of its payload, so that numbers are judged and shown with all their digits. */
async function parsePayloadBody(payload: string, about: object): Promise<{ readonly payload: unknown }> {
  const { parseJson } = await import('../../../core/json/value-source.ts');
  try {
    // Parsed alone first, so that a payload cannot close the body and add members to it.
    JSON.parse(payload);
    const others = Object.entries(about).map(
      ([name, value]) => `,${JSON.stringify(name)}:${JSON.stringify(value)}`,
    );
    return parseJson(`{"payload":${payload}${others.join('')}}`) as { readonly payload: unknown };
  } catch {
    // The parser's own message contains a part of the text.
    throw new CommandFailure(
      EXIT.usage,
      'invalid_request',
      'The input is not valid JSON. Without --structured it is scanned as text.',
    );
  }
}

function printReply(reply: ScanReply, terminal: Terminal, exactJson: (value: unknown) => string): void {
  printVerdict(reply, terminal);
  if (reply.modified_text !== undefined)
    printLine(terminal, `\n${escapeControlsInLines(reply.modified_text)}`);
  if (reply.modified_payload !== undefined) {
    printLine(terminal, `\n${escapeControlsInLines(exactJson(reply.modified_payload))}`);
  }
}
