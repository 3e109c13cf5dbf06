import { memoize } from '../../memoize.ts';
import { isWholeSystemPath } from '../facts/command-paths.ts';
import { isCredentialPath } from '../facts/credential-files.ts';
import { findKnownFile, getFileKey } from '../shell/files.ts';
import { joinWords, listOperands, parseArguments } from '../shell/options.ts';
import { findInput } from '../shell/output.ts';
import type { Command } from '../shell/syntax.ts';

/**
 * Key files, accounts or a whole home folder that a command sends to another machine: by name, from its input, by
 * a substitution or a variable, or in a copy that the script made.
 */

/** Returns how a command sends a secret: only as a request's `header`, or as its `content`; `null` if it does not. */
export const findSentSecret: (command: Command) => 'header' | 'content' | null = memoize(
  (command: Command) => {
    if (!isRemote(command)) return null;
    const isSent =
      listSentFiles(command).some((path) => holdsSecret(command, path)) ||
      listFeedingCommands(command).some((each) => givesSecrets(each) || printsSecret(each.sources));
    if (isSent) return 'content';
    const action = UPLOADS.get(command.name);
    if ((action !== undefined && !sendsFiles(command, action)) || !printsSecret(command.sources)) return null;
    return findUnknownText(command);
  },
);

/** Returns whether an address is on this machine. */
export function isLocal(text: string): boolean {
  return /^(?:https?:\/\/)?(?:localhost|127\.|0\.0\.0\.0|\[::1\])/.test(text);
}

/** Returns whether a program that sends data sends it to another machine. */
export function isRemote(command: Command): boolean {
  const operands = listOperands(command);
  if (/^(?:scp|rsync)$/.test(command.name))
    return operands.some((text) => /^[\w.@-]+:|^(?:rsync|scp):\/\//.test(text));
  if (command.name === 'openssl') return operands[0] === 's_client';
  return !operands.some(isLocal);
}

/** Returns whether a path is a key or account file, or a whole system folder. */
export function isSecretSource(text: string): boolean {
  return isCredentialPath(text) || text === '/etc/passwd' || isWholeSystemPath(text);
}

/** Returns the commands before this one in its pipeline, up to a small limit. */
export function listFeedingCommands(command: Command): readonly Command[] {
  const found: Command[] = [];
  for (let at = command.previous; at !== null && found.length < 8; at = at.previous) found.push(at);
  return found;
}

/** Returns whether a file holds a secret by its name, or because the script copied or packed one into it. */
function holdsSecret(command: Command, path: string): boolean {
  if (isSecretSource(path) || isSecretSource(getFileKey(path, command.folder))) return true;
  const known = findKnownFile(command, path);
  if (known === null) return false;
  const from = known.link === undefined ? (known.sources ?? []) : [known.link];
  return from.some(isSecretSource);
}

const givesSecrets = memoize(
  (command: Command): boolean =>
    command.name === 'env' ||
    command.name === 'printenv' ||
    [...command.words.map(({ text }) => text), ...listReadFiles(command)].some((path) =>
      holdsSecret(command, path),
    ),
);

function listReadFiles({ redirections }: Command): readonly string[] {
  return redirections.flatMap(({ operator, target }) => (operator === '<' ? target : []));
}

/** Programs that print a file as a whole, plain, packed or encoded. */
const PRINTS_WHOLE =
  /^(?:|cat|tac|head|tail|nl|sort|rev|tr|strings|bat|read|mapfile|readarray|base64|base32|xxd|od|hexdump|gzip|bzip2|xz|zstd|tar|gpg2?|openssl|age|printenv)$/;
/** Programs that pick a part of a text, such as one value in a dotenv file. */
const PICKS = /^(?:[ef]?grep|rg|sed|[gm]?awk|cut|jq|yq)$/;

/** Returns whether a substitution or variable has a whole secret as its text. */
function printsSecret(sources: readonly Command[]): boolean {
  if (sources.length === 0) return false;
  const picked = new Set(sources.filter(({ name }) => PICKS.test(name)).flatMap(listFeedingCommands));
  return sources.some((each) => {
    if (each.name === 'env') return each.words.every(({ text }) => text.startsWith('-'));
    return PRINTS_WHOLE.test(each.name) && !picked.has(each) && givesSecrets(each);
  });
}

const UNKNOWN_TEXT = /\$\(\)|<\(\)|\$\{?[A-Za-z_]/;
/** Options whose value is a request header, or the sender's account. */
const HEADER_FLAG = /^(?:-H|--header|-u|--user|--oauth2-bearer|-b|--cookie|--proxy-user|-Headers)$/;
const ATTACHED_HEADER = /^--(?:header|user|oauth2-bearer|cookie|http-password|password)=/;

/** Returns where an unknown text is in a command. */
function findUnknownText({ words, redirections }: Command): 'header' | 'content' | null {
  const places = words.flatMap(({ text, is_literal }, at) => {
    if (is_literal === true || !UNKNOWN_TEXT.test(text)) return [];
    const before = words[at - 1]?.text ?? '';
    if (HEADER_FLAG.test(before) || ATTACHED_HEADER.test(text)) return 'header' as const;
    return ACCOUNT_FLAG.test(before) ? [] : ('content' as const);
  });
  if (redirections.some(({ target }) => UNKNOWN_TEXT.test(target))) return 'content';
  return places.includes('content') ? 'content' : (places[0] ?? null);
}

/** Programs that send files, and the words with which they do. */
const UPLOADS: ReadonlyMap<string, RegExp> = new Map(
  Object.entries({
    aws: /\b(?:cp|mv|sync|put-object)\b/,
    az: / (?:upload|upload-batch|copy) /,
    azcopy: / (?:copy|cp|sync) /,
    b2: / (?:upload[-_]file|file upload|sync) /,
    croc: / send /,
    gcloud: / (?:cp|mv|rsync|upload) /,
    gh: /^ (?:gist create|release upload) /,
    gsutil: / (?:cp|mv|rsync) /,
    mail: / -[aA] /,
    mailx: / -[aA] /,
    mc: / (?:cp|mirror|put) /,
    mutt: / -a /,
    pscp: /:/,
    psftp: / -b /,
    rclone: / (?:copy|copyto|move|sync|rcat) /,
    s3cmd: / (?:put|sync) /,
    s5cmd: / (?:cp|mv|sync) /,
    'send-mailmessage': / -(?:attachments|body) /i,
    sendemail: / -a /,
    smbclient: /\bput /,
    'start-bitstransfer': /upload/i,
    swaks: /--(?:attach|body)/,
    transfer: / /,
    wormhole: / send /,
  }),
);
/** Flags whose value is the account of the sender, and not what is sent. */
const ACCOUNT_FLAG =
  /^(?:-i|-c|-F|--(?:config|profile|identity|cert\w*|key\w*|credentials?|service-account)\S*)$/;
/** Programs whose message is their input. */
const MAILS = /^(?:mail|mailx|mutt|sendmail)$/;
/** Options of remote copy programs whose value is no copied file. */
const COPY_VALUE =
  /^(?:-[iFPoclSJDXe]|--(?:rsh|exclude|include|filter|exclude-from|include-from|password-file))$/;
/** Commands by which file transfer programs send: `put a`, `mirror -R a`. */
const PUTS = /(?:^|[\s;"'])(?:m?put|reput|mirror\s{1,4}-R)\s{1,4}(?:-\w{1,8}\s{1,4}){0,4}([^\s;"']{1,400})/g;

function sendsFiles(command: Command, action: RegExp): boolean {
  return action.test(` ${joinWords(command).trim()} `);
}

function listSentFiles(command: Command): readonly string[] {
  const { name, words } = command;
  const texts = words.map(({ text }) => text);
  if (name === 'scp' || name === 'rsync')
    return words
      .filter(({ text }, at) => !text.startsWith('-') && !COPY_VALUE.test(texts[at - 1] ?? ''))
      .map(({ text }) => text)
      .slice(0, -1)
      .filter((text) => !/^[\w.@-]+:/.test(text));
  if (/^(?:sftp|ftp|lftp)$/.test(name))
    return [...texts, ...findInput(command)].flatMap((text) =>
      [...text.matchAll(PUTS)].map(([, path]) => path!),
    );
  if (name === 'socat')
    return texts
      .flatMap((text) => /^(?:file|open|gopen):([^,]{1,400})/i.exec(text)?.[1] ?? [])
      .concat(listReadFiles(command));
  const action = UPLOADS.get(name);
  const read = action === undefined || MAILS.test(name) ? listReadFiles(command) : [];
  if (action !== undefined && !sendsFiles(command, action)) return read;
  if (action !== undefined)
    return [...read, ...texts.filter((_, at) => !ACCOUNT_FLAG.test(texts[at - 1] ?? ''))];
  const { values } = parseArguments(command);
  const given = ['-T', '--upload-file', '--post-file', '--body-file', '-InFile'].flatMap(
    (flag) => values.get(flag) ?? [],
  );
  const attached = texts.flatMap(
    (text) => /@([~/.\w$][^;,]*)$/.exec(text.length < 400 ? text : '')?.[1] ?? [],
  );
  return [...given, ...attached, ...read];
}
