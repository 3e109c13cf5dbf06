import { type LookupAddress, lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { isMetadataOrLinkLocal } from '../../core/detect/facts/metadata-addresses.ts';

/**
 * Returns whether an address is link-local or belongs to the metadata service of a cloud, which returns credentials.
 */
export function isMetadataOrLinkLocalAddress(address: string): boolean {
  return isMetadataOrLinkLocal(ipaddr.parse(address));
}

/** Returns whether the host of a URL is such an address; a name is not looked up. */
export function hasMetadataOrLinkLocalHost(url: string | URL): boolean {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
  return isIP(host) !== 0 && isMetadataOrLinkLocalAddress(host);
}

/**
 * Builds a DNS lookup that drops link-local and metadata addresses. The connection uses the checked addresses, so DNS
 * rebinding cannot replace them.
 *
 * @param refusal - builds the error for a host without any allowed address
 */
export function buildGuardedLookup(refusal: () => Error): LookupFunction {
  return (hostname, options, done) => {
    lookup(hostname, { ...options, all: true }, (fault, addresses: LookupAddress[]) => {
      if (fault !== null) return done(fault, '', 0);
      const allowed = addresses.filter(({ address }) => !isMetadataOrLinkLocalAddress(address));
      const [first] = allowed;
      if (first === undefined) return done(refusal(), '', 0);
      if (options.all === true) return done(null, allowed);
      done(null, first.address, first.family);
    });
  };
}
