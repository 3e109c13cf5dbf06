import { type LookupAddress, lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { isMetadataName, isMetadataOrLinkLocal } from '../../core/detect/facts/metadata-addresses.ts';
import { UpstreamFailure } from './failure.ts';

/** Whether an address is one of the public internet, also where another one is inside it. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  if (isMetadataOrLinkLocal(parsed)) return false;
  if (parsed instanceof ipaddr.IPv4) return parsed.range() === 'unicast';
  const range = parsed.range();
  if (range === 'ipv4Mapped') return isPublicAddress(parsed.toIPv4Address().toString());
  // A network without IPv4 reaches it through these; the others (6to4, Teredo) nobody needs any more.
  if (range === 'rfc6052') return isWellKnownPrefix(parsed) && isPublicAddress(readEmbeddedIpv4(parsed));
  return range === 'unicast' && (parsed.parts[0]! & 0xe000) === 0x2000;
}

/** 64:ff9b::/96; of the prefixes for a network's own use nobody outside knows where they lead. */
function isWellKnownPrefix({ parts }: ipaddr.IPv6): boolean {
  return parts.slice(2, 6).every((part) => part === 0);
}

function readEmbeddedIpv4({ parts }: ipaddr.IPv6): string {
  const [high = 0, low = 0] = parts.slice(6);
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/** Names that mean this machine or what is beside it, whatever they stand for. */
const PRIVATE_NAME = /(?:^|\.)(?:localhost|internal|local)\.?$/i;

/**
 * Whether a host of a URL may be asked for by a caller, as far as it can be told without looking it up.
 * @param hostname as `URL` has it
 */
export function canBePublicHost(hostname: string): boolean {
  const bare = hostname.replace(/^\[|\]$/g, '');
  return isIP(bare) === 0
    ? bare.includes('.') && !PRIVATE_NAME.test(bare) && !isMetadataName(bare.toLowerCase())
    : isPublicAddress(bare);
}

/** Looks a name up, all of its addresses at once. */
export type LookupAllAddresses = (
  hostname: string,
  done: (fault: Error | null, addresses: readonly LookupAddress[]) => void,
) => void;

const systemLookup: LookupAllAddresses = (hostname, done) => lookup(hostname, { all: true }, done);

/**
 * Looks a name up for a connection: that connects to what was looked at, and to nothing else. A name is refused where
 * any of its addresses is not public.
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

/** Why an address that a caller named is not called. */
export function buildNotPublicFailure(): UpstreamFailure {
  return new UpstreamFailure(
    'invalid_request',
    '`upstream_url` leads to an address that is not public. To call it, set it as `proxy.target` in the configuration.',
  );
}
