import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** A self-signed certificate and its key, in PEM. */
export interface TestCertificate {
  readonly cert: string;
  readonly key: string;
}

/** Makes a self-signed certificate for DNS names and IPv4 addresses, valid for some hours around now. */
export function makeCertificate(
  names: readonly string[],
  validFromMs = Date.now() - 3_600_000,
): TestCertificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  // The name is unique, because a certificate of another issuer with the same name would be tried in its place.
  const name = `customshouse test ${randomBytes(8).toString('hex')}`;
  const issuer = encodeSequence(
    encodeSet(encodeSequence(encodeOid(COMMON_NAME), encodeDer(0x0c, Buffer.from(name)))),
  );
  const alternative = names.map((each) =>
    /^[\d.]+$/.test(each)
      ? encodeDer(0x87, Buffer.from(each.split('.').map(Number)))
      : encodeDer(0x82, Buffer.from(each)),
  );
  const extensions = encodeSequence(
    encodeSequence(encodeOid(SUBJECT_ALT_NAME), encodeOctets(encodeSequence(...alternative))),
    encodeSequence(encodeOid(BASIC_CONSTRAINTS), TRUE, encodeOctets(encodeSequence(TRUE))),
  );
  const content = encodeSequence(
    encodeDer(0xa0, encodeDer(0x02, Buffer.from([2]))),
    encodeDer(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    encodeSequence(encodeOid(ECDSA_SHA256)),
    issuer,
    encodeSequence(encodeTime(validFromMs), encodeTime(validFromMs + 8 * 3_600_000)),
    issuer,
    publicKey.export({ type: 'spki', format: 'der' }),
    encodeDer(0xa3, extensions),
  );
  const signature = sign('sha256', content, privateKey);
  const bits = encodeDer(0x03, Buffer.concat([Buffer.from([0]), signature]));
  const encoded = encodeSequence(content, encodeSequence(encodeOid(ECDSA_SHA256)), bits).toString('base64');
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
function encodeDer(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const TRUE = encodeDer(0x01, Buffer.from([0xff]));

function encodeSequence(...parts: readonly Buffer[]): Buffer {
  return encodeDer(0x30, Buffer.concat(parts));
}

function encodeSet(...parts: readonly Buffer[]): Buffer {
  return encodeDer(0x31, Buffer.concat(parts));
}

function encodeOctets(content: Buffer): Buffer {
  return encodeDer(0x04, content);
}

function encodeOid(hex: string): Buffer {
  return encodeDer(0x06, Buffer.from(hex, 'hex'));
}

function encodeTime(ms: number): Buffer {
  const text = new Date(ms).toISOString().replace(/[-:T]|\.\d+/g, '');
  return encodeDer(0x17, Buffer.from(text.slice(2)));
}
