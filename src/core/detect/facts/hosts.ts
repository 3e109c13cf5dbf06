import ipaddr from 'ipaddr.js';
import { decodePercentEncoding } from '../../text/percent.ts';
import type { Tag } from '../../types/index.ts';
import { type IpAddress, isMetadataAddress, isMetadataName, unwrapIpv4 } from './metadata-addresses.ts';

/** An address in a text. */
export interface NamedAddress {
  /** Lower case, without user, port and brackets; empty if no host could be reached under it. */
  readonly host: string;
  /** `http`, `https` ...; `null` if the text has a host only. */
  readonly scheme: string | null;
}

/**
 * Schemes with an authority to which programs connect. After the first five, browsers accept any number of
 * slashes, including none.
 */
const URL =
  /(?<![a-z0-9+.-])(?:(https?|wss?|ftp)[\t\r\n]?:[\t\r\n/\\]{0,8}|(ftps|sftp|ssh|scp|git|git\+ssh|svn|ldaps?|rediss?|amqps?|postgres(?:ql)?|mysql|mariadb|mongodb(?:\+srv)?|gopher|dict|tftp|telnet|rtsp|smb|imaps?|smtps?|pop3s?|nats|kafka|jdbc:[a-z]{2,12}|view-source|jar|netdoc|mcp|tcp|udp|grpcs?|h2|quic|rsync|nfs|vnc|rdp|irc)s?:\/{2,8})(?=[^\s/?#"'`<>\\])([^\s/?#"'`<>]{1,2048})/gi;
/** A scheme without slashes is an address if digits or a bracket follow: `http:10.0.0.1`. */
const WITHOUT_SLASH = /^\w+[\t\r\n]?:[\t\r\n]*[^\t\r\n/\\]/;
const HOST =
  /^(?=.{1,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.){0,20}[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.?$/;

/** Returns the addresses that a text has with their scheme, as WHATWG's URL standard and programs in C read them. */
export function findUrls(text: string): readonly NamedAddress[] {
  const found: NamedAddress[] = [];
  for (const [whole, special, other, authority] of (text.includes(':') ? text : '').matchAll(URL)) {
    const scheme = (special ?? other ?? '').toLowerCase();
    if (special !== undefined && WITHOUT_SLASH.test(whole) && !/^(?:[\d[%]|0x)/i.test(authority!)) continue;
    // A browser ends the authority at a backslash, and other programs do not.
    const readings = new Set([authority!, authority!.split('\\', 1)[0]!].filter((reading) => reading !== ''));
    for (const reading of readings) found.push({ host: parseHost(reading) ?? '', scheme });
  }
  return found;
}

/** Returns the host in `ada@[::1]:8080` as a browser resolves it; `null` if there is none. */
export function parseHost(authority: string): string | null {
  const afterUserinfo = decodeHost(authority.slice(authority.lastIndexOf('@') + 1)).toLowerCase();
  const inner = /^\[([0-9a-f:.]{2,60})(?:%[\w.-]{0,30})?\]/.exec(afterUserinfo)?.[1];
  if (inner !== undefined) return inner;
  const host = afterUserinfo.replace(/:[^:]*$/, '').replace(/\.$/, '');
  return HOST.test(host) ? host : null;
}

const PERCENT = /(?:%[\da-f]{2})+/gi;
const UNSEEN = /[\u0000-\u0020\u007f\u00ad\u200b-\u200f\u2060\ufeff]/g;

/** Decodes percent encoding and look-alike digits and dots, and removes invisible characters. */
function decodeHost(host: string): string {
  const decoded = host.replace(PERCENT, decodePercentEncoding);
  const plain = /^[\x21-\x7e]*$/.test(decoded) ? decoded : decoded.replace(UNSEEN, '').normalize('NFKC');
  return plain.replace(/[\u3002\uff0e\uff61]/g, '.');
}

const UNENCRYPTED = new Set(['http', 'ws', 'ftp', 'ldap', 'gopher', 'telnet', 'tftp', 'dict']);

/**
 * Returns the tags of an address: its form, the kind of its network, and whether its scheme is unencrypted.
 */
export function buildAddressTags({ host, scheme }: NamedAddress): readonly Tag[] {
  const tags: Tag[] = [scheme === null ? 'egress.host' : 'egress.url'];
  if (scheme !== null && UNENCRYPTED.has(scheme)) tags.push('egress.unencrypted');
  const address = parseAddress(host) ?? findAddressInName(host);
  const isMetadata = address === null ? isMetadataName(host) : isMetadataAddress(address);
  if (isMetadata) tags.push('egress.metadata_endpoint');
  if (address === null)
    return isLocalName(host) ? [...tags, 'egress.loopback'] : [...tags, ...tagPrivateName(host)];
  const range = address.range();
  if (range === 'loopback' || range === 'unspecified') tags.push('egress.loopback');
  else if (range === 'unicast') tags.push('egress.public_address');
  else tags.push('egress.private_address');
  return tags;
}

/** Returns whether a host is an IP address, however it is written. */
export function isIpAddress(host: string): boolean {
  return parseAddress(host) !== null;
}

/** Returns whether a text, which may be code, names a metadata service of a cloud, with a scheme or as a host alone. */
export function namesMetadataService(text: string): boolean {
  const hosts = findUrls(text).map(({ host }) => host);
  const alone = /^[^\s/?#\\"'`]{1,300}(?=$|[/?#\\])/.exec(text)?.[0];
  // A word without a dot belongs to the program itself.
  const name = alone === undefined ? null : parseHost(alone);
  if (name !== null && (isIpAddress(name) || name.includes('.'))) hosts.push(name);
  return hosts.some((host) => buildAddressTags({ host, scheme: null }).includes('egress.metadata_endpoint'));
}

/**
 * Parses an IP address in any of its spellings: `2130706433`, `0x7f.1` and `::ffff:127.0.0.1` are
 * `127.0.0.1`.
 */
function parseAddress(host: string): IpAddress | null {
  if (!/^[\d.]|^0x|:/.test(host) || !ipaddr.isValid(host)) return null;
  return unwrapIpv4(ipaddr.parse(host));
}

/** Returns the address in a host name, for services that resolve it: `169-254-169-254.sslip.io`. */
function findAddressInName(host: string): IpAddress | null {
  const [, name] =
    /(?:^|[.-])(\d{1,3}(?:[.-]\d{1,3}){3}|[0-9a-f]{8})\.(?:nip\.io|sslip\.io|xip\.io|traefik\.me)$/.exec(
      host,
    ) ?? [];
  return name === undefined
    ? null
    : parseAddress(/^[0-9a-f]{8}$/.test(name) ? `0x${name}` : name.replaceAll('-', '.'));
}

function isLocalName(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost');
}

function tagPrivateName(host: string): readonly Tag[] {
  return /\.(?:internal|local|lan|home|corp|intranet|private|home\.arpa)$/.test(host)
    ? ['egress.private_name']
    : [];
}

/** Returns `api.example.com` as the tag `host.com.example.api`, so that `host.com.example` covers all below it. */
export function buildHostTag(host: string): Tag {
  return `host.${host.split('.').reverse().join('.')}`;
}
