import { decodeBase64Text, GROUP_CLASSES } from './base64.ts';
import type { Blob } from './readable-bytes.ts';

/**
 * Values whose letters were exchanged (rot13) or whose order was reversed. Text in either form looks like any other,
 * so only two kinds are read: tokens with a vendor's documented prefix, and base64 in reverse that begins with its padding.
 * Anchors for more would multiply the states of the automaton in texts of base64.
 */

/** Prefixes of tokens that vendors document, each with a sign, so that no word of prose contains one. */
const PREFIXES: readonly string[] = [
  ...['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_', 'github_pat_', 'glpat-', 'gldt-', 'glrt-', 'glptt-'],
  ...['sk_live_', 'rk_live_', 'sk_test_', 'whsec_', 'xoxb-', 'xoxp-', 'xoxa-', 'xapp-', 'npm_', 'pypi-'],
  ...[
    'dop_v1_',
    'doo_v1_',
    'hf_',
    'sk-ant-',
    'sk-proj-',
    'sk-or-',
    'gsk_',
    'shpat_',
    'shpss_',
    'hvs.',
    'hvb.',
  ],
  ...['glsa_', 'dckr_pat_', 'lin_api_', 'PMAK-', 'sq0atp-', 'sq0csp-', 'ya29.', 'rubygems_', 'dp.pt.', 'SG.'],
  ...['xkeysib-', 'key-', 'pscale_tkn_', 'ATATT3', 'AGE-SECRET-KEY-', 'dapi', 'phc_', 'pnu_', 'sbp_', 'tfp_'],
];
/** A reversed prefix of fewer units occurs in ordinary names. */
const REVERSED_UNITS_MIN = 3;

const rotated = PREFIXES.map(rotateLetters);
const reversed = PREFIXES.filter(({ length }) => length >= REVERSED_UNITS_MIN).map(reverseText);

/** The first units of the prefixes. Most runs that are tried have none of them. */
const HEAD_UNITS = 3;
const heads = new Set([...rotated, ...reversed].map((prefix) => prefix.slice(0, HEAD_UNITS)));

const REVERSED_GROUP = [...GROUP_CLASSES].reverse();

/** Anchors of exchanged and reversed tokens, and of reversed base64. */
export const transposedSignals: readonly string[] = [
  ...rotated.map((prefix) => `\\b${escapeDots(prefix)}`),
  ...reversed.map(escapeDots),
  `(?<![A-Za-z0-9+/=_-])=${REVERSED_GROUP.slice(1).join('')}`,
  `(?<![A-Za-z0-9+/=_-])==${REVERSED_GROUP.slice(2).join('')}`,
];

/** The fewest units of reversed base64: shorter runs are readable by chance. */
const BASE64_UNITS_MIN = 20;
/** The fewest readable units in it. */
const TEXT_UNITS_MIN = 12;
const TOKEN_UNITS_MAX = 400;
const TOKEN_UNIT = /[\w.+/=-]/;
const TOKEN = /[\w.+/=-]{12,400}/y;
const WORD_UNIT = /[A-Za-z0-9_]/;
const PADDED_BASE64 = /={1,2}[A-Za-z0-9+/_-]{18,8192}(?![A-Za-z0-9+/=_-])/y;

/**
 * Reads the exchanged or reversed value whose anchor begins at an offset; `null` if there is none. It does not begin
 * before `least`. Linear in all offsets together.
 */
export function readTransposed(text: string, start: number, least: number): Blob | null {
  if (text[start] === '=') return readReversedBase64(text, start);
  if (!heads.has(text.slice(start, start + HEAD_UNITS))) return null;
  return readRotatedToken(text, start) ?? readReversedToken(text, start, least);
}

function readRotatedToken(text: string, start: number): Blob | null {
  if (!rotated.some((prefix) => text.startsWith(prefix, start))) return null;
  TOKEN.lastIndex = start;
  const token = TOKEN.exec(text)?.[0];
  return token === undefined ? null : { start, end: start + token.length, text: rotateLetters(token) };
}

function readReversedToken(text: string, from: number, least: number): Blob | null {
  const prefix = reversed.find((each) => text.startsWith(each, from));
  if (prefix === undefined) return null;
  const end = from + prefix.length;
  if (WORD_UNIT.test(text[end] ?? '')) return null;
  const lowest = Math.max(least, end - TOKEN_UNITS_MAX);
  let start = end;
  while (start > lowest && TOKEN_UNIT.test(text[start - 1]!)) start -= 1;
  return { start, end, text: reverseText(text.slice(start, end)) };
}

function readReversedBase64(text: string, start: number): Blob | null {
  PADDED_BASE64.lastIndex = start;
  const run = PADDED_BASE64.exec(text)?.[0];
  if (run === undefined || run.length < BASE64_UNITS_MIN) return null;
  const plain = reverseText(run).replace(/=+$/, '');
  const { blob, is_whole } = decodeBase64Text(plain, 0, plain.length);
  if (blob === null || !is_whole || blob.text.length < TEXT_UNITS_MIN) return null;
  return { start, end: start + run.length, text: blob.text };
}

function reverseText(text: string): string {
  return [...text].reverse().join('');
}

/** Exchanges each Latin letter with the one 13 places from it. */
function rotateLetters(text: string): string {
  return text.replace(/[A-Za-z]/g, (letter) => {
    const first = letter < 'a' ? 65 : 97;
    return String.fromCharCode(((letter.charCodeAt(0) - first + 13) % 26) + first);
  });
}

function escapeDots(text: string): string {
  return text.replace(/[.]/g, '\\.');
}
