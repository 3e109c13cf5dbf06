import { type LookupAddress, lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { isMetadataName, isMetadataOrLinkLocal } from '../../core/detect/facts/metadata-addresses.ts';
import { UpstreamFailure } from './failure.ts';

/** Returns whether an address is on the public internet. An embedded IPv4 address must be public too. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  if (isMetadataOrLinkLocal(parsed)) return false;
  if (parsed instanceof ipaddr.IPv4) return parsed.range() === 'unicast';
  const range = parsed.range();
  if (range === 'ipv4Mapped') return isPublicAddress(parsed.toIPv4Address().toString());
  // NAT64, with which a network without IPv4 reaches it. Other embeddings (6to4, Teredo) are obsolete and refused.
  if (range === 'rfc6052') return isWellKnownPrefix(parsed) && isPublicAddress(readEmbeddedIpv4(parsed));
  return range === 'unicast' && (parsed.parts[0]! & 0xe000) === 0x2000;
}

/** Returns whether the prefix is 64:ff9b::/96. The destination of a network's own NAT64 prefix is unknown. */
function isWellKnownPrefix({ parts }: ipaddr.IPv6): boolean {
  return parts.slice(2, 6).every((part) => part === 0);
}

function readEmbeddedIpv4({ parts }: ipaddr.IPv6): string {
  const [high = 0, low = 0] = parts.slice(6);
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/** Names of this machine or its local network, whatever they resolve to. */
const PRIVATE_NAME = /(?:^|\.)(?:localhost|internal|local)\.?$/i;

/**
 * Returns whether a caller may name this host, as far as it is known without a DNS lookup.
 * @param hostname in the form of `URL.hostname`
 */
export function canBePublicHost(hostname: string): boolean {
  const bare = hostname.replace(/^\[|\]$/g, '');
  return isIP(bare) === 0
    ? bare.includes('.') && !PRIVATE_NAME.test(bare) && !isMetadataName(bare.toLowerCase())
    : isPublicAddress(bare);
}

/** Resolves a name to all of its addresses. */
export type LookupAllAddresses = (
  hostname: string,
  done: (fault: Error | null, addresses: readonly LookupAddress[]) => void,
) => void;

const systemLookup: LookupAllAddresses = (hostname, done) => lookup(hostname, { all: true }, done);

/**
 * Opens a lookup for connections that returns checked addresses only. A name is refused if any of its addresses is
 * not public.
 */
export function openPublicLookup(lookupAll: LookupAllAddresses = systemLookup): LookupFunction {
  return (hostname, options, done) => {
    lookupAll(hostname, (fault, addresses) => {
      if (fault !== null) return done(fault as NodeJS.ErrnoException, '', 0);
      const [first] = addresses;
      if (first === undefined || !addresses.every(({ address }) => isPublicAddress(address)))
        return done(buildNotPublicFailure(), '', 0);
      if (options.all === true) return done(null, [...addresses]);
      done(null, first.address, first.family);
    });
  };
}

/** Builds the failure for an address of a caller that is not public. */
export function buildNotPublicFailure(): UpstreamFailure {
  return new UpstreamFailure(
    'invalid_request',
    '`upstream_url` leads to an address that is not public. To call it, set it as `proxy.target` in the configuration.',
  );
}
