import { countSteps } from '../../steps.ts';
import { decodePercentEncoding } from '../../text/percent.ts';

/** The most units of a path that a system accepts. */
const PATH_UNITS_MAX = 4096;
/** The most levels of nested percent encoding that are decoded. */
const DECODINGS_MAX = 3;
// Invisible characters, which tools remove.
const INVISIBLE =
  /[\u0001-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0]|\u034f|[\ufe00-\ufe0f]|\udb40[\udc00-\udfff]/g;
const SCHEME =
  /^(?:file|vscode-file|vscode-remote):(?:\/\/(?:localhost|127\.0\.0\.1|vscode-app|\[::1\])?(?=\/)|(?=[/\\~.]))/i;

/** Steps to clean a written path, and each of its units. */
const WORD_STEPS = 100;
const UNIT_STEPS = 4;

/** Words and relative paths that are read in one way only, as most are. */
const PLAIN = /^\.?[\w-]+(?:(?:\/\.?|\.)[\w-]+)*$/;

/**
 * Returns the paths that a system may open for a written path. Removed are surrounding spaces, invisible
 * characters, `file:`, percent encoding, and prefixes that lead to the same file; `..` is resolved. There are
 * several if programs read the path differently.
 */
export function listCanonicalPaths(written: string): readonly string[] {
  if (written.length <= PATH_UNITS_MAX && PLAIN.test(written)) return [written];
  countSteps(WORD_STEPS + written.length * UNIT_STEPS);
  const found = new Set<string>();
  for (const text of [written, ...cutAtNul(written)]) {
    const clean = cleanText(text);
    found.add(canonicalizePath(clean));
    const decoded = decodePercent(clean);
    if (decoded !== clean) found.add(canonicalizePath(decoded));
  }
  return [...found];
}

/** Returns the path up to its first NUL, where programs in C end it; other programs skip the NUL. */
function cutAtNul(text: string): readonly string[] {
  const at = text.indexOf('\0');
  return at < 0 ? [] : [text.slice(0, at)];
}

function cleanText(text: string): string {
  const visible = text.replaceAll('\0', '').replace(INVISIBLE, '');
  const plain = /^[\x00-\x7f]*$/.test(visible) ? visible : visible.normalize('NFKC');
  return plain
    .trim()
    .replace(/^(["'`])([\s\S]*)\1$/, '$2')
    .trim();
}

function decodePercent(text: string): string {
  let decoded = text;
  for (let times = 0; times < DECODINGS_MAX && /%[\da-f]{2}/i.test(decoded); times += 1)
    decoded = cleanText(decoded.replace(/(?:%[\da-f]{2})+/gi, decodePercentEncoding));
  return decoded;
}

function canonicalizePath(text: string): string {
  const bare = text.replace(SCHEME, '').replace(/^\/(?=[a-z]:[/\\]|~)/i, '');
  const slashed = bare.replaceAll('\\', '/').replace(/^\/\/[?.]\/(?:unc\/)?(?=[a-z]:)/i, '');
  const home = slashed.replace(
    /^(?:\$\{HOME\}|\$HOME|%HOMEDRIVE%%HOMEPATH%|%HOMEPATH%|%USERPROFILE%|\$env:USERPROFILE)(?=\/|$)/i,
    '~',
  );
  const normal = normalizePath(home);
  // On Windows, trailing dots and the name of a stream lead to the same file.
  const named = normal.replace(/::\$data$/i, '').replace(/(?<=[^./ ])[. ]+(?=\/|$)/g, '');
  const rooted = named
    .replace(/^\/proc\/(?:self|thread-self|\d+)\/(?:root|cwd)(?=\/)/, '')
    .replace(/^\/System\/Volumes\/Data(?=\/)/i, '')
    .replace(/^\/private(?=\/(?:etc|var|tmp)(?:\/|$))/i, '');
  return rooted.length > PATH_UNITS_MAX ? rooted.slice(-PATH_UNITS_MAX) : rooted;
}

/** The parts that `normalizePath` changes. Most paths have none of them. */
const UNUSUAL = /["'$%\\]|\/\/|(?:^|\/)\.\.?(?:\/|$)|\/$/;

/**
 * Normalizes a path: `~` for the home folder, `..` resolved, no slash at the end. Unknown variables are kept.
 */
export function normalizePath(written: string): string {
  if (!UNUSUAL.test(written)) return written;
  const path = written
    .replace(/^["']|["']$/g, '')
    .replace(/^(?:\$HOME|\$env:USERPROFILE|%USERPROFILE%)/i, '~')
    .replaceAll('\\', '/')
    .replace(/\/{2,}/g, '/');
  const parts: string[] = [];
  for (const part of path.split('/')) {
    const last = parts.at(-1) ?? '..';
    if (part === '..' && /^(?:[a-z]:)?$/i.test(last)) continue;
    if (part === '..' && !/^(?:\.\.?$|~|[$%])/.test(last)) parts.pop();
    else if (part !== '.' || parts.length === 0) parts.push(part);
  }
  const joined = parts.join('/').replace(/\/+$/, '');
  return joined === '' && path.startsWith('/') ? '/' : joined;
}
