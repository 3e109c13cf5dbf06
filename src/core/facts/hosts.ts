import ipaddr from 'ipaddr.js';
import type { Tag } from '../types.ts';

/** An address of something outside, as a text names it. */
export interface Place {
  /** Lower case, without user, port and brackets; empty where it is none that could be reached. */
  readonly host: string;
  /** `http`, `https` ...; `null` where the text has a host alone. */
  readonly scheme: string | null;
}

const URL =
  /\b(https?|wss?|ftps?|sftp|ssh|git|ldaps?|redis|amqps?|postgres(?:ql)?|mysql|mongodb(?:\+srv)?):\/\/([^\s/?#"'`<>\\]{1,2048})/gi;
const HOST =
  /^(?=.{1,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.){0,20}[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.?$/;

/** The addresses that a text has with their scheme. */
export function urlsIn(text: string): readonly Place[] {
  const found: Place[] = [];
  for (const [, scheme, authority] of text.matchAll(URL)) {
    const host = hostOf(authority!);
    found.push({ host: host ?? '', scheme: scheme!.toLowerCase() });
  }
  return found;
}

/** The host in `ada@[::1]:8080`; `null` where there is none. */
export function hostOf(authority: string): string | null {
  const behind = authority.slice(authority.lastIndexOf('@') + 1).toLowerCase();
  const inner = /^\[([0-9a-f:.%]{2,60})\]/.exec(behind)?.[1];
  if (inner !== undefined) return inner;
  const host = behind.replace(/:[^:]*$/, '').replace(/\.$/, '');
  return HOST.test(host) ? host : null;
}

/** Where clouds hand their machines out their credentials. */
const METADATA = new Set([
  '169.254.169.254',
  '169.254.170.2',
  '169.254.170.23',
  '100.100.100.200',
  '192.0.0.192',
  'fd00:ec2::254',
  'fd20:ce::254',
  'metadata',
  'metadata.google.internal',
  'metadata.azure.com',
  'metadata.azure.internal',
]);
const UNENCRYPTED = new Set(['http', 'ws', 'ftp', 'ldap']);

/** What an address says about where something would go. */
export function tagsOfPlace({ host, scheme }: Place): readonly Tag[] {
  const tags: Tag[] = [scheme === null ? 'egress.host' : 'egress.url'];
  if (scheme !== null && UNENCRYPTED.has(scheme)) tags.push('egress.unencrypted');
  const address = addressOf(host);
  if (METADATA.has(address?.toString() ?? host)) tags.push('egress.metadata_endpoint');
  if (address === null)
    return isLocalName(host) ? [...tags, 'egress.loopback'] : [...tags, ...privateName(host)];
  const range = address.range();
  if (range === 'loopback' || range === 'unspecified') tags.push('egress.loopback');
  else if (range === 'unicast') tags.push('egress.public_address');
  else tags.push('egress.private_address');
  return tags;
}

/** `2130706433`, `0x7f.1` and `::ffff:127.0.0.1` are `127.0.0.1`, as programs read them. */
function addressOf(host: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  if (!/^[\d.]|^0x|:/.test(host) || !ipaddr.isValid(host)) return null;
  const address = ipaddr.parse(host);
  return address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

function isLocalName(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost');
}

function privateName(host: string): readonly Tag[] {
  return /\.(?:internal|local|lan|home|corp|intranet|private|home\.arpa)$/.test(host)
    ? ['egress.private_name']
    : [];
}

/** `api.example.com` as the tag `host.com.example.api`, so that `host.com.example` covers all below it. */
export function hostTag(host: string): Tag {
  return `host.${host.split('.').reverse().join('.')}`;
}
