import { type LookupAddress, lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { isMetadataOrLinkLocal } from '../../core/detect/facts/metadata-addresses.ts';

/** Returns whether an address is link-local or one at which clouds hand out the credentials of their machines. */
export function isMetadataOrLinkLocalAddress(address: string): boolean {
  return isMetadataOrLinkLocal(ipaddr.parse(address));
}

/**
 * Looks names up for connections, which go to what was looked at and to nothing else: no address of the above.
 * @param refusal - what a connection fails with that could go to no other
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
