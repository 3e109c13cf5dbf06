import ipaddr from 'ipaddr.js';
import type { Detector } from '../../matching/detector.ts';
import { buildDigitProfile } from '../../matching/digit-profile.ts';
import { memoizeValue } from '../../matching/lazy-value.ts';

/**
 * Excludes versions, which have four parts too: after a word for a version, after a product name
 * (`Chrome/126.0.0.0`), after the name of an RCS file, and as section numbers of documents.
 */
const NO_VERSION =
  '(?<!(?:versions?|release|revision|build|firmware|driver|section|chapter|figure|table|clause|(?<![a-z])(?:rfc|oid|ver|sdk|engine)|[\\w.]{1,40},v)["\'\\])]{0,2}[ \\t]{0,2}(?:[:=(>,]|is|no\\.?)?[ \\t]{0,4}["\'^~<>=v]{0,3})' +
  '(?<![A-Za-z][A-Za-z\\d._-]{0,30}/)(?<!\\u00a7 ?)(?<!(?<![.\\d])\\d{1,4}(?:\\.\\d{1,5}){1,2} (?:to|->|=>|\\u2192) )';
/** A name of a package, with or without a role of reStructuredText, and no word for a machine. */
const PACKAGE =
  '(?::\\w{1,8}:)?[`"\']?(?!(?:the|hosts?|servers?|ips?|address(?:es)?|dns|peers?|proxy|gateway|nodes?|access|timeout|connection)\\b)[a-z][\\w.-]{1,40}[`"\']?';
/** The same after words for a dependency (`depends on NAME 3.3.0.17`, `bump NAME from 3.5.0.2 to`) and after a comparison. */
const NO_DEPENDENCY =
  `(?<!(?<![a-z])(?:depend(?:s|ing)? (?:up)?on|bump(?:s|ed|ing)?|(?:up|down)grad(?:e|es|ed|ing)|pin(?:s|ned|ning)?|requires?) (?:the )?${PACKAGE}` +
  '(?: (?:dependency|package|requirement))?(?: (?:to|from|at))?(?: v?\\d{1,4}(?:\\.\\d{1,5}){1,3} (?:to|->|=>|\\u2192))? )' +
  '(?<![\\w\\])`] ?(?:>=|<=|~=|~>|!=) ?["\']?)(?<!(?<![\\w.])[a-z][\\w-]{1,40}==)';
/** A version of two or three parts that it changes to, as in change logs. */
const NO_CHANGE = '(?! (?:to|->|=>|\\u2192) v?\\d{1,4}(?:\\.\\d{1,5}){1,2}(?![.\\d]))';
const VERSION_KEY = /(?:version|release|revision|build|firmware|(?:^|_)ver|sdk|engine|user_?agent)s?$/i;
const V4 = new RegExp(
  `${NO_VERSION}${NO_DEPENDENCY}(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)(?:\\.(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)){3}(?![\\w-]|\\.\\d)${NO_CHANGE}`,
  'i',
);
const digits = memoizeValue(() => buildDigitProfile(V4));

export const ipAddress: readonly Detector[] = [
  {
    id: 'ip.v4',
    detector: 'ip_address',
    tags: ['personal.pii.ip_address'],
    severity: 'low',
    strength: 'shape',
    description:
      'IPv4 addresses that are routed: not private, loopback, link-local, multicast or documentation ones.',
    anchors: ['(?<![\\w.-])\\d{1,3}\\.\\d{1,3}\\.\\d'],
    pattern: V4,
    excluded_keys: VERSION_KEY,
    get digit_profile() {
      return digits();
    },
    validate: isRoutedV4,
    examples: {
      hits: [
        'from «8.8.8.8» at',
        'http://«93.184.216.34»/x',
        '«151.101.1.69»:443',
        'the server «93.184.216.34» is down',
        'now depends on «93.184.216.34»',
        'requires access to «93.184.216.34»',
        'update the DNS from «8.8.8.8» to «1.1.1.1»',
      ],
      misses: [
        '127.0.0.1',
        '10.0.0.1',
        '192.168.1.1',
        '172.16.0.9',
        '192.0.2.1',
        '203.0.113.7',
        '198.51.100.2',
        '1.2.3',
        '1.2.3.4.5',
        '256.1.1.1',
        '0.0.0.0',
        'v8.8.8.8',
        'pycurl from 7.43.0.5 to 7.45.1',
        'update from 7.45.1 to 7.45.0.5',
        '"version": "12.3.45.200"',
        'Version 1.132.1.5',
        'Mozilla/5.0 Chrome/126.0.0.0 Safari/537.36',
        '$Id: lstrlib.c,v 1.132.1.5 2010/05/14 $',
        'see section 5.2.3.4 of it',
        '12.0.0.0',
        'Now depends on :mod:`kombu` 2.7.3.12.',
        'Bump the loader from 3.5.0.2 to 3.5.0.3',
        'bump zlib 1.3.1.1 -> 1.3.1.2',
        'upgrade mysql-connector to 8.0.33.1',
        'loader>=2.7.3.11, loader==2.7.3.12',
      ],
    },
  },
  {
    id: 'ip.v6',
    detector: 'ip_address',
    tags: ['personal.pii.ip_address'],
    severity: 'low',
    strength: 'shape',
    description: 'IPv6 addresses in the global unicast space (2000::/3), but for documentation ones.',
    anchors: ['(?i)(?<![\\w:.])[23][0-9a-f]{3}:[0-9a-f:]'],
    pattern: /[23][0-9a-f]{3}:[0-9a-f:]{2,34}(?![\w:])/i,
    validate: isRoutedV6,
    examples: {
      hits: ['from «2606:4700:4700::1111» at', '[«2a00:1450:4001:81b::200e»]:443'],
      misses: ['2001:db8::1', 'fe80::1', '::1', '2026:01:31', '2606:4700:4700::1111::1'],
    },
  },
  {
    id: 'ip.v6_in_full',
    detector: 'ip_address',
    tags: ['personal.pii.ip_address'],
    severity: 'low',
    strength: 'shape',
    description:
      'IPv6 addresses with all eight groups written, wherever they are: not loopback, link-local, unique local or documentation ones.',
    anchors: ['(?i)(?<![\\w:.])[0-9a-f]{1,4}:[0-9a-f]{1,4}:[0-9a-f]{1,4}:[0-9a-f]'],
    pattern: /[0-9a-f]{1,4}(?::[0-9a-f]{1,4}){7}(?![\w:])/i,
    validate: isRoutedV6,
    examples: {
      hits: ['from «6e40:4041:c617:e898:c11:40d2:c669:2eb4» at'],
      misses: ['fe80:0:0:0:1:2:3:4', '2001:db8:0:0:1:2:3:4', '12:30:45:10', '0:0:0:0:0:0:0:1'],
    },
  },
];

/**
 * First parts below multicast (224) of addresses of which some are not routed (RFC 6890 and ranges of the library).
 * Only these addresses go to the library, because it compares an address with every range.
 */
const SPECIAL_PARTS = new Set(['0', '10', '100', '127', '169', '172', '192', '198', '203']);
const MULTICAST = 224;

function isRoutedV4(value: string): boolean {
  // A whole block, or the version of a browser.
  if (value.endsWith('.0.0.0')) return false;
  const first = value.slice(0, value.indexOf('.'));
  if (Number(first) < MULTICAST && !SPECIAL_PARTS.has(String(Number(first)))) return true;
  return new ipaddr.IPv4(value.split('.').map(Number)).range() === 'unicast';
}

/**
 * Returns whether an IPv6 address is routed. Parses the groups itself, because a parser that throws is slow on
 * hostile text.
 */
function isRoutedV6(value: string): boolean {
  const groups = getGroups(value);
  return groups !== null && new ipaddr.IPv6(groups).range() === 'unicast';
}

/** Returns the eight groups of an address with at most one `::`; `null` if it is not an address. */
function getGroups(value: string): number[] | null {
  const [head = '', tail, more] = value.split('::');
  if (more !== undefined) return null;
  const left = head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const missing = 8 - left.length - right.length;
  if (tail === undefined ? missing !== 0 : missing < 1) return null;
  const groups = [...left, ...new Array<string>(missing).fill('0'), ...right];
  if (!groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return null;
  return groups.map((group) => Number.parseInt(group, 16));
}
