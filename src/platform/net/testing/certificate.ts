import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** A self-signed certificate and its key, in PEM. */
export interface TestCertificate {
  readonly cert: string;
  readonly key: string;
}

/** Makes a self-signed certificate for DNS names and IPv4 addresses, valid for some hours around now. */
export function makeCertificate(
  names: readonly string[],
  valid_from_ms = Date.now() - 3_600_000,
): TestCertificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  // The name is unique, because a certificate of another issuer with the same name would be tried in its place.
  const name = `agent-safety test ${randomBytes(8).toString('hex')}`;
  const issuer = sequence(set(sequence(oid(COMMON_NAME), der(0x0c, Buffer.from(name)))));
  const alternative = names.map((each) =>
    /^[\d.]+$/.test(each)
      ? der(0x87, Buffer.from(each.split('.').map(Number)))
      : der(0x82, Buffer.from(each)),
  );
  const extensions = sequence(
    sequence(oid(SUBJECT_ALT_NAME), octets(sequence(...alternative))),
    sequence(oid(BASIC_CONSTRAINTS), TRUE, octets(sequence(TRUE))),
  );
  const content = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    sequence(oid(ECDSA_SHA256)),
    issuer,
    sequence(time(valid_from_ms), time(valid_from_ms + 8 * 3_600_000)),
    issuer,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, extensions),
  );
  const signature = sign('sha256', content, privateKey);
  const bits = der(0x03, Buffer.concat([Buffer.from([0]), signature]));
  const encoded = sequence(content, sequence(oid(ECDSA_SHA256)), bits).toString('base64');
  const body = encoded.match(/.{1,64}/g)!.join('\n');
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

const COMMON_NAME = '550403';
const SUBJECT_ALT_NAME = '551d11';
const BASIC_CONSTRAINTS = '551d13';
const ECDSA_SHA256 = '2a8648ce3d040302';

/** Encodes one value of ASN.1 with its tag and length. */
function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const TRUE = der(0x01, Buffer.from([0xff]));

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}

function set(...parts: readonly Buffer[]): Buffer {
  return der(0x31, Buffer.concat(parts));
}

function octets(content: Buffer): Buffer {
  return der(0x04, content);
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'));
}

function time(ms: number): Buffer {
  const text = new Date(ms).toISOString().replace(/[-:T]|\.\d+/g, '');
  return der(0x17, Buffer.from(text.slice(2)));
}
