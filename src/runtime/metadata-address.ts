import { type LookupAddress, lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Addresses at which clouds hand out credentials without being link-local. */
const METADATA = ['100.100.100.200', '168.63.129.16', '192.0.0.192', 'fd00:ec2::254'].map((one) =>
  ipaddr.parse(one).toNormalizedString(),
);

/** Whether an address is one at which clouds hand out the credentials of their machines. */
export function isMetadata(address: string): boolean {
  const parsed = ipaddr.process(address);
  return parsed.range() === 'linkLocal' || METADATA.includes(parsed.toNormalizedString());
}

/**
 * Looks names up for connections, which go to what was looked at and to nothing else: no address of the above.
 * @param refusal - what a connection fails with that could go to no other
 */
export function lookupBut(refusal: () => Error): LookupFunction {
  return (hostname, options, done) => {
    lookup(hostname, { ...options, all: true }, (fault, addresses: LookupAddress[]) => {
      if (fault !== null) return done(fault, '', 0);
      const allowed = addresses.filter(({ address }) => !isMetadata(address));
      const [first] = allowed;
      if (first === undefined) return done(refusal(), '', 0);
      if (options.all === true) return done(null, allowed);
      done(null, first.address, first.family);
    });
  };
}
