import { sha256 } from '@noble/hashes/sha2.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import type { Detector } from '../../matching/detector.ts';
import { buildIdentifierDetectors } from '../../matching/identifier.ts';
import { BASE58 } from '../../matching/sample-text.ts';

/** Work of one check: hashing an address takes some microseconds. */
const HASH_WORK = 64;

/** Wallet addresses, verified by their checksums. Letters are case-sensitive. */
export const cryptoWallet: readonly Detector[] = [
  ...buildIdentifierDetectors({
    id: 'crypto.base58',
    detector: 'crypto_wallet',
    description:
      'Bitcoin, Litecoin, Dogecoin, Dash, Tron and like addresses with a right checksum (Base58Check).',
    value: '[13LMDXTA9][1-9A-HJ-NP-Za-km-z]{25,34}',
    check: (_, written) => isBase58Check(written),
    check_work: HASH_WORK,
    standalone: { anchors: ['(?<![\\w.-])[13][1-9A-HJ-NP-Za-km-z]{8}'] },
    names: ['bitcoin', 'btc', 'wallet'],
    valid: ['1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2', '3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy'],
    invalid: ['1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN3', '1BvBMSEYstWetqTF'],
  }),
  ...buildIdentifierDetectors({
    id: 'crypto.bech32',
    detector: 'crypto_wallet',
    description: 'Bitcoin and Litecoin addresses with a right checksum (Bech32, Bech32m).',
    value: '(?:bc1|tb1|ltc1)[02-9ac-hj-np-z]{11,71}',
    check: (_, written) => isBech32(written.toLowerCase()),
    standalone: {
      anchors: ['(?i)(?<![\\w.-])bc1', '(?i)(?<![\\w.-])ltc1', '(?i)(?<![\\w.-])tb1'],
    },
    names: ['bitcoin', 'btc', 'litecoin'],
    valid: [
      'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
      'bc1p5d7rjq7g6rdk2yhzks9smlaqtedr4dekq08ge8ztwac72sfr9rusxg3297',
    ],
    invalid: ['bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5', 'bc1qw508'],
  }),
  ...buildIdentifierDetectors({
    id: 'crypto.ethereum',
    detector: 'crypto_wallet',
    description: 'Ethereum addresses with a right checksum in the case of their letters (EIP-55).',
    value: '0x[0-9a-f]{40}',
    check: (_, written) => isEip55(written),
    check_work: HASH_WORK,
    standalone: { anchors: ['(?<![\\w.-])0x[0-9A-Fa-f]{3}'] },
    names: ['ethereum', 'eth'],
    valid: ['0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359'],
    invalid: ['0x5aaeb6053F3E94C9b9A09f33669435E7Ef1BeAed', '0x5aAeb6053F3E94C9b9A09f33'],
  }),
  ...buildIdentifierDetectors({
    id: 'crypto.ethereum_in_one_case',
    detector: 'crypto_wallet',
    severity: 'medium',
    description: 'Ethereum addresses without a checksum, next to a name for them.',
    value: '0x[0-9a-f]{40}',
    names: ['ethereum', 'eth', 'wallet', 'eth address', 'usdt', 'usdc'],
    valid: ['0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed'],
    invalid: ['0x5aaeb6053f3e94c9', '5aaeb6053f3e94c9b9a09f33669435e7ef1beaed'],
  }),
];

/** Version byte, 20 bytes of a hash and 4 bytes of checksum. Some coins have two version bytes. */
const BASE58_BYTES_MAX = 26;

function isBase58Check(address: string): boolean {
  const bytes = decodeBase58(address);
  if (bytes.length < 25 || bytes.length > BASE58_BYTES_MAX) return false;
  const body = bytes.slice(0, -4);
  const sum = sha256(sha256(body));
  return bytes.slice(-4).every((byte, at) => byte === sum[at]);
}

function decodeBase58(text: string): Uint8Array {
  let number = 0n;
  for (const char of text) number = number * 58n + BigInt(BASE58.indexOf(char));
  const hex = number.toString(16);
  const zeros = /^1*/.exec(text)![0].length;
  const padded = '00'.repeat(zeros) + (hex.length % 2 === 0 ? hex : `0${hex}`);
  return Uint8Array.from(padded.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

const BECH32 = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const GENERATOR = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];
/** Remainders of the checksum for Bech32 (BIP 173) and Bech32m (BIP 350). */
const LEFT = [1, 0x2bc830a3];

function isBech32(address: string): boolean {
  const split = address.lastIndexOf('1');
  const prefix = Array.from(address.slice(0, split), (char) => char.charCodeAt(0));
  const data = Array.from(address.slice(split + 1), (char) => BECH32.indexOf(char));
  return LEFT.includes(
    computePolymod([...prefix.map((unit) => unit >> 5), 0, ...prefix.map((unit) => unit & 31), ...data]),
  );
}

function computePolymod(values: readonly number[]): number {
  let check = 1;
  for (const value of values) {
    const top = check >>> 25;
    check = ((check & 0x1ffffff) << 5) ^ value;
    GENERATOR.forEach((part, bit) => {
      if (((top >>> bit) & 1) === 1) check ^= part;
    });
  }
  return check >>> 0;
}

function isEip55(address: string): boolean {
  const digits = address.slice(2);
  const lower = digits.toLowerCase();
  if (digits === lower || digits === digits.toUpperCase()) return false;
  const hash = keccak_256(Uint8Array.from(lower, (char) => char.charCodeAt(0)));
  return Array.from(digits).every((char, at) => {
    const nibble = (hash[at >> 1]! >> (at % 2 === 0 ? 4 : 0)) & 15;
    return char === (nibble > 7 ? char.toUpperCase() : char.toLowerCase());
  });
}
