import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** The parts of an answer that a test falsifies. */
export interface PasskeyFalsification {
  readonly origin?: string;
  readonly rp_id?: string;
  readonly challenge?: string;
  /** Without it the person was verified. */
  readonly is_unverified?: true;
}

/** An authenticator in software with one ES256 passkey, as a browser presents it. */
export function openAuthenticator(origin: string) {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const id = randomBytes(16);
  let counter = 0;

  function buildAuthenticatorData(change: PasskeyFalsification, attested: Buffer): Buffer {
    const hostname = change.rp_id ?? new URL(origin).hostname;
    const flags = 0x01 | (change.is_unverified ? 0 : 0x04) | (attested.length > 0 ? 0x40 : 0);
    const count = Buffer.alloc(4);
    count.writeUInt32BE(++counter);
    return Buffer.concat([
      createHash('sha256').update(hostname).digest(),
      Buffer.from([flags]),
      count,
      attested,
    ]);
  }

  function buildClientData(type: string, challenge: string, change: PasskeyFalsification): Buffer {
    const data = { type, challenge: change.challenge ?? challenge, origin: change.origin ?? origin };
    return Buffer.from(JSON.stringify(data));
  }

  const answer = (response: Record<string, string>) => ({
    id: encode(id),
    rawId: encode(id),
    type: 'public-key' as const,
    clientExtensionResults: {},
    response,
  });

  return {
    create: (challenge: string, change: PasskeyFalsification = {}) => {
      const key = encodeMap([
        [encodeInt(1), encodeInt(2)],
        [encodeInt(3), encodeInt(-7)],
        [encodeInt(-1), encodeInt(1)],
        [encodeInt(-2), encodeBytes(Buffer.from(x, 'base64url'))],
        [encodeInt(-3), encodeBytes(Buffer.from(y, 'base64url'))],
      ]);
      const attested = Buffer.concat([Buffer.alloc(16), Buffer.from([0, id.length]), id, key]);
      const attestation = encodeMap([
        [encodeText('fmt'), encodeText('none')],
        [encodeText('attStmt'), encodeMap([])],
        [encodeText('authData'), encodeBytes(buildAuthenticatorData(change, attested))],
      ]);
      return answer({
        clientDataJSON: encode(buildClientData('webauthn.create', challenge, change)),
        attestationObject: encode(attestation),
      });
    },
    get: (challenge: string, change: PasskeyFalsification = {}) => {
      const data = buildAuthenticatorData(change, Buffer.alloc(0));
      const client = buildClientData('webauthn.get', challenge, change);
      const signed = Buffer.concat([data, createHash('sha256').update(client).digest()]);
      return answer({
        clientDataJSON: encode(client),
        authenticatorData: encode(data),
        signature: encode(sign('sha256', signed, privateKey)),
      });
    },
  };
}

function encode(bytes: Buffer): string {
  return bytes.toString('base64url');
}

function encodeHead(major: number, value: number): Buffer {
  if (value < 24) return Buffer.from([(major << 5) | value]);
  return value < 256
    ? Buffer.from([(major << 5) | 24, value])
    : Buffer.from([(major << 5) | 25, value >> 8, value & 0xff]);
}

function encodeInt(value: number): Buffer {
  return value >= 0 ? encodeHead(0, value) : encodeHead(1, -1 - value);
}

function encodeBytes(bytes: Buffer): Buffer {
  return Buffer.concat([encodeHead(2, bytes.length), bytes]);
}

function encodeText(text: string): Buffer {
  return Buffer.concat([encodeHead(3, text.length), Buffer.from(text)]);
}

function encodeMap(entries: readonly (readonly [Buffer, Buffer])[]): Buffer {
  return Buffer.concat([encodeHead(5, entries.length), ...entries.flat()]);
}
