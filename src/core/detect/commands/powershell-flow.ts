/**
 * Follows values through a PowerShell script: from a file or an address into a variable, and from there into code that
 * runs or a request that leaves the machine. Statements are read one by one; each variable has the origins of its value.
 */
import { isCredentialPath } from '../facts/credential-files.ts';
import { isOutside, isPrecious } from './deletion-loss.ts';
import { findAddresses } from './grade-command.ts';

/** The end of a flow: what is done with which value. UTF-16 offsets, end exclusive. */
export interface PowerShellFlow {
  readonly effect:
    | 'runs_fetched'
    | 'runs_decoded'
    | 'sends_private'
    | 'sends_file'
    | 'hides_name'
    | 'deletes_traces'
    | 'deletes_file';
  /** True for code from an address that is not HTTPS at a named host. */
  readonly is_unnamed: boolean;
  readonly start: number;
  readonly end: number;
}

/** Origins of a value, as bits. */
const FETCHED = 1;
const DECODED = 2;
const PRIVATE = 4;
const FILE = 8;
/** The stream of a request: what is written into it is sent. */
const UPLINK = 16;
/** An address that is not HTTPS at a named host. */
const UNNAMED = 32;

const SCRIPT_UNITS_MAX = 65_536;
const STATEMENT_UNITS_MAX = 2_000;
const STATEMENTS_MAX = 2_000;
const VARIABLES_MAX = 64;

/** Words that only PowerShell has; without one of them there is nothing to follow. */
const POWERSHELL =
  /\$\w{1,40}\s{0,4}=|\s-f\s|\[char|&\s{0,2}\(\s{0,2}['"]|historysavepath|Invoke-(?:WebRequest|RestMethod|Expression)|\b(?:iex|irm|iwr)\b|Net\.(?:WebClient|Http)|Get-(?:Content|Item)\b|IO\.File/i;
const FETCH = /\.(?:download(?:string|data)|get(?:string|bytearray)async)\s{0,2}\(/i;
const WEB = /\b(?:irm|iwr|invoke-restmethod|invoke-webrequest)\b/i;
const WEB_BODY =
  /-method\s{1,4}['"]?(?:post|put|patch)|-body\b|-infile\b|-form\b|https?:\/\/[^\s'"]{1,200}[?&/=]\$/i;
const READ =
  /\b(?:get-content|gc|cat|type|import-csv|import-clixml|select-string|get-item|gi)\s|\breadall(?:bytes|text|lines)\b|\bopenread\b|\bfilestream\b/i;
const ENVIRONMENT =
  /\b(?:get-childitem|gci|dir|ls|get-item)\s{1,4}(?:-path\s{1,4})?env:|getenvironmentvariables\s{0,2}\(|\bget-clipboard\b/i;
const RUN =
  /\b(?:iex|invoke-expression)\b|\[scriptblock\]::create|invokescript\s{0,2}\(|\[(?:system\.)?reflection\.assembly\]::load\s{0,2}\(|(?:^|[\s|;])[&.]\s{0,4}\(?\s{0,4}\$\w/i;
/** Names that a script puts together from numbers or pieces, where a program or a text to run is expected. */
const HIDDEN_NAME =
  /(?:^|[\s|;])[&.]\s{0,2}\(\s{0,2}(?:['"](?:\{\d\}){2,12}['"]\s{0,2}-f|['"][\w.-]{1,12}['"]\s{0,2}\+|-join|\$(?:pshome|shellid|env:\w{1,40})\[)|\[char\[\]\]\s{0,2}\(\s{0,2}\d{2,3}\s{0,2},|(?:\[char\]\s{0,2}\(?\d{2,3}\)?\s{0,2}\+\s{0,2}){2}/i;
const TRACES_DELETED =
  /\b(?:remove-item|ri|rm|del|clear-content|clc|set-content)\b[^\n]{0,80}\.historysavepath/i;
const SEND =
  /\.upload(?:string|file|data|values)(?:async|taskasync)?\s{0,2}\(|\.(?:post|put|patch|send)async\s{0,2}\(|\bsend-mailmessage\b|-transfertype\s{1,4}upload/i;
const LOCAL = /\b(?:localhost|127\.0\.0\.1|\[::1\])/i;
const ASSIGNMENT = /^\s{0,40}(?:\[[\w.[\]]{1,60}\]\s{0,4})?\$(?:\w{1,10}:)?(\w{1,40})\s{0,8}\+?=(?!=)/;
const TABLE = /\$(\w{1,40})\s{0,8}=\s{0,8}(?:\[\w{1,40}\]\s{0,4})?@$/;
const WRITING = /^\s{0,40}\$(\w{1,40})\.(?:\w{1,30}\.)?(?:add|append|write|copyto)\w{0,20}\s{0,2}\(/i;
/** A pipeline whose values the block behind it has as `$_`, and a loop with a name for each value. */
const EACH = /\|\s{0,8}(?:%|\?|foreach(?:-object)?|where(?:-object)?)\s{0,8}$/i;
const LOOP = /\bforeach\s{0,4}\(\s{0,4}\$(\w{1,40})\s{1,4}in\b/i;
const VARIABLE = /\$(?:\w{1,10}:)?(\w{1,40})/g;
/** Paths as they are written in scripts, with the home folder as a variable or not. */
const PATH = /[~\w.$:%{}-]{0,60}(?:[\\/][\w.$*{}% -]{1,60}){1,12}|\.env\b|\bid_(?:rsa|ed25519)\b/g;

/** A file that a .NET method deletes: its class and a path, or a file object. */
const FILE_DELETED =
  /\[(?:system\.)?io\.file\]::delete\s{0,2}\(\s{0,2}["']([^"'\n]{1,300})["']|(?:new-object\s{1,4}(?:system\.)?io\.fileinfo|\bget-item|\bgi)\s{1,4}\(?["']?([^"'\s)]{1,300})["']?\s{0,2}\){1,2}\.delete\(\)/i;

/** Returns the flows of a text that can be PowerShell, in the order of their ends. */
export function followPowerShell(text: string): readonly PowerShellFlow[] {
  if (!POWERSHELL.test(text.slice(0, SCRIPT_UNITS_MAX))) return [];
  const origins = new Map<string, number>();
  const flows: PowerShellFlow[] = [];
  let read = 0;
  /** The variable whose table (`$body = @{ ... }`) the statements fill. */
  let table: string | undefined;
  for (const { start, statement } of splitStatements(text.slice(0, SCRIPT_UNITS_MAX))) {
    read += 1;
    if (read > STATEMENTS_MAX) break;
    const bits = findOrigins(statement, origins);
    const effect = findEffect(statement, bits, origins) ?? findConcealment(statement);
    if (effect !== null) {
      const isUnnamed = effect === 'runs_fetched' && (bits & UNNAMED) > 0;
      flows.push({ effect, is_unnamed: isUnnamed, start, end: start + statement.length });
    }
    if (table === undefined) keepOrigins(statement, bits, origins);
    else origins.set(table, (origins.get(table) ?? 0) | bits);
    table =
      TABLE.exec(statement)?.[1]?.toLowerCase() ??
      (text[start + statement.length] === '}' ? undefined : table);
  }
  return flows;
}

function findOrigins(statement: string, origins: ReadonlyMap<string, number>): number {
  let bits = 0;
  for (const [, name] of statement.matchAll(VARIABLE)) bits |= origins.get(name!.toLowerCase()) ?? 0;
  if (FETCH.test(statement) || (WEB.test(statement) && !sendsBody(statement) && !/-outfile/i.test(statement)))
    bits |= FETCHED;
  if (findAddresses(statement) === 'unnamed') bits |= UNNAMED;
  if (/frombase64string\s{0,2}\(/i.test(statement)) bits |= DECODED;
  if (/\.getrequeststream\s{0,2}\(/i.test(statement)) bits |= UPLINK;
  if (ENVIRONMENT.test(statement)) bits |= PRIVATE;
  if (READ.test(statement) || /-(?:infile|attachments)\b|\.uploadfile/i.test(statement)) {
    bits |= FILE;
    if (namesPrivatePath(statement)) bits |= PRIVATE;
  } else if (ASSIGNMENT.test(statement) && namesPrivatePath(statement)) bits |= PRIVATE;
  return bits;
}

function namesPrivatePath(statement: string): boolean {
  for (const [path] of statement.matchAll(PATH))
    if (isCredentialPath(path.replaceAll('\\', '/').replace(/^.*(?:\$env:\w+|\$home|%\w+%)/i, '~')))
      return true;
  return false;
}

function sendsBody(statement: string): boolean {
  return WEB.test(statement) && WEB_BODY.test(statement);
}

function findEffect(
  statement: string,
  bits: number,
  origins: ReadonlyMap<string, number>,
): PowerShellFlow['effect'] | null {
  if (RUN.test(statement)) {
    if (bits & FETCHED) return 'runs_fetched';
    return bits & DECODED ? 'runs_decoded' : null;
  }
  const written = WRITING.exec(statement)?.[1]?.toLowerCase();
  const isUplink = written !== undefined && ((origins.get(written) ?? 0) & UPLINK) > 0;
  const isSent = SEND.test(statement) || sendsBody(statement) || isUplink;
  if (!isSent || LOCAL.test(statement)) return null;
  if (bits & PRIVATE) return 'sends_private';
  return bits & FILE ? 'sends_file' : null;
}

function findConcealment(statement: string): PowerShellFlow['effect'] | null {
  if (HIDDEN_NAME.test(statement)) return 'hides_name';
  if (TRACES_DELETED.test(statement)) return 'deletes_traces';
  const [, named, held] = FILE_DELETED.exec(statement) ?? [];
  const path = (named ?? held ?? '').replaceAll('\\', '/');
  return path !== '' && (isPrecious(path) || isOutside(path)) ? 'deletes_file' : null;
}

/** Notes the origins of the variable that a statement assigns, or into which it writes. */
function keepOrigins(statement: string, bits: number, origins: Map<string, number>): void {
  const passed = EACH.test(statement) ? '_' : LOOP.exec(statement)?.[1]?.toLowerCase();
  const assigned = ASSIGNMENT.exec(statement)?.[1]?.toLowerCase() ?? passed;
  const written = WRITING.exec(statement)?.[1]?.toLowerCase();
  const name = assigned ?? written;
  if (name === undefined || (bits === 0 && assigned === undefined)) return;
  if (origins.size >= VARIABLES_MAX && !origins.has(name)) return;
  origins.set(name, assigned === undefined ? (origins.get(name) ?? 0) | bits : bits);
}

/** Divides a script at line ends, `;` and braces outside of quotes. A long statement is cut. */
function* splitStatements(text: string): Iterable<{ start: number; statement: string }> {
  let start = 0;
  let quote = '';
  for (let at = 0; at <= text.length; at++) {
    const sign = text[at] ?? '\n';
    if (quote !== '') {
      if (sign === quote && text[at - 1] !== '`') quote = '';
      else if (at < text.length && at - start < STATEMENT_UNITS_MAX) continue;
    } else if (sign === '"' || sign === "'") quote = sign;
    const isEnd =
      at === text.length || (quote === '' && isBreak(text, at)) || at - start >= STATEMENT_UNITS_MAX;
    if (!isEnd) continue;
    if (at > start) yield { start, statement: text.slice(start, at) };
    start = at + 1;
    if (at - start >= STATEMENT_UNITS_MAX) quote = '';
  }
}

function isBreak(text: string, at: number): boolean {
  const sign = text[at];
  if (sign === ';' || sign === '{' || sign === '}') return true;
  return sign === '\n' && text[at - 1] !== '`' && !/[|,(]\s{0,8}$/.test(text.slice(Math.max(0, at - 10), at));
}
