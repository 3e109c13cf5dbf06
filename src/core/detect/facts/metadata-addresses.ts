import ipaddr from 'ipaddr.js';

/** An IP address as the library reads it. */
export type IpAddress = ipaddr.IPv4 | ipaddr.IPv6;

/**
 * Addresses other than 169.254.169.254 at which clouds serve the credentials of their machines. This is the
 * only list of them. From the documentation of AWS (EC2, ECS, EKS), Azure, Google Cloud, Oracle, Alibaba,
 * Tencent, Scaleway and OpenStack.
 */
const ADDRESSES = new Set(
  [
    ...['169.254.169.254', '169.254.170.2', '169.254.170.23', '169.254.0.23', '169.254.42.42'],
    ...['100.100.100.200', '168.63.129.16', '192.0.0.192'],
    ...[
      'fd00:ec2::254',
      'fd00:ec2::23',
      'fd20:ce::254',
      'fd00:c1::a9fe:a9fe',
      'fd00:42::42',
      'fe80::a9fe:a9fe',
    ],
  ].map((text) => ipaddr.parse(text).toNormalizedString()),
);
/** Every address in these networks answers as a metadata service. */
const NETWORKS = [ipaddr.parseCIDR('169.254.169.0/24'), ipaddr.parseCIDR('169.254.170.0/24')];

const NAMES = new Set([
  ...[
    'metadata',
    'instance-data',
    'rancher-metadata',
    'instance-data.ec2.internal',
    'metadata.google.internal',
  ],
  ...['metadata.goog', 'metadata.azure.com', 'metadata.azure.internal', 'metadata.tencentyun.com'],
  ...['api.metadata.cloud.ibm.com', 'metadata.platformequinix.com', 'metadata.packet.net'],
]);

/** Returns whether a cloud serves the credentials of its machines at an address. */
export function isMetadataAddress(address: IpAddress): boolean {
  const inner = unwrapIpv4(address);
  if (ADDRESSES.has(inner.toNormalizedString())) return true;
  return (
    inner instanceof ipaddr.IPv4 &&
    NETWORKS.some(([network, bits]) => inner.match(network as ipaddr.IPv4, bits))
  );
}

/**
 * Returns whether an address is a metadata address or any other link-local one. Only the machine's own
 * network answers at link-local addresses.
 */
export function isMetadataOrLinkLocal(address: IpAddress): boolean {
  const inner = unwrapIpv4(address);
  return inner.range() === 'linkLocal' || isMetadataAddress(inner);
}

/**
 * Returns whether a name is one of a metadata service. The name is in lower case and has no dot at its end.
 */
export function isMetadataName(name: string): boolean {
  return NAMES.has(name);
}

/** First groups of IPv6 addresses that hold an IPv4 address, and the group at which it begins. */
const CARRIERS: readonly (readonly [prefix: readonly number[], at: number])[] = [
  [[0, 0, 0, 0, 0, 0xffff], 6],
  [[0, 0, 0, 0, 0xffff, 0], 6],
  [[0x64, 0xff9b, 0, 0, 0, 0], 6],
  [[0x64, 0xff9b, 1], 6],
  [[0x2002], 1],
];

/** Returns the IPv4 address inside an IPv6 one (mapped, translated, NAT64, 6to4, compatible), or the address itself. */
export function unwrapIpv4(address: IpAddress): IpAddress {
  if (address instanceof ipaddr.IPv4) return address;
  const { parts } = address;
  const carrier = CARRIERS.find(([prefix]) => prefix.every((group, at) => parts[at] === group));
  // `::1` and `::` are addresses of their own.
  const isCompatible = parts.slice(0, 6).every((group) => group === 0) && parts[6] !== 0;
  if (carrier === undefined && !isCompatible) return address;
  const at = carrier?.[1] ?? 6;
  const [high, low] = [parts[at]!, parts[at + 1]!];
  return new ipaddr.IPv4([high >> 8, high & 255, low >> 8, low & 255]);
}
