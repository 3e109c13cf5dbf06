// Verifies the messages of the alert channel `webhook`. Needs Node 20 or later, and no packages.
import { createHmac, timingSafeEqual } from 'node:crypto';

/** How old a message may be, and how far ahead the sender's clock, in seconds. */
const TOLERANCE_S = 300;
/** How many message ids are remembered. An attempt is repeated within hours, so that this is enough for most. */
const IDS_MAX = 100_000;

/**
 * Opens a receiver. `receive(headers, body)` takes the headers with names in small letters and the body as the bytes that
 * arrived, and returns the status to answer with. It calls `onAlert` once for each message, whatever is sent again.
 */
export function openReceiver({ secret, onAlert, now_ms = Date.now }) {
  const key = secret.startsWith('whsec_')
    ? Buffer.from(secret.slice('whsec_'.length), 'base64')
    : Buffer.from(secret, 'utf8');
  if (key.length < 16) throw new Error('The secret has fewer than 16 bytes.');
  const seen = new Set();

  return async function receive(headers, body) {
    const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers;
    if (!id || !timestamp || !signatures) return { status: 400, reason: 'a header is missing' };
    const ageS = now_ms() / 1000 - Number(timestamp);
    if (!/^\d{1,12}$/.test(timestamp) || Math.abs(ageS) > TOLERANCE_S)
      return { status: 400, reason: 'the timestamp is too old or in the future' };
    // The id and the timestamp are signed too: neither can be changed to send a message again.
    const signed = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
    if (!signatures.split(' ').some((each) => isSame(each, signed)))
      return { status: 401, reason: 'the signature is wrong' };
    // A repeated message is answered like a new one: the sender did not see the first answer.
    if (seen.has(id)) return { status: 200, reason: 'it was processed already' };
    const message = JSON.parse(body.toString('utf8'));
    await onAlert(message);
    seen.add(id);
    if (seen.size > IDS_MAX) seen.delete(seen.values().next().value);
    return { status: 204, reason: 'it was processed' };
  };
}

/** Compares in constant time, so that the answer's time does not tell how much of a guess is right. */
function isSame(signature, signed) {
  const [version, encoded = ''] = signature.split(',');
  const given = Buffer.from(encoded, 'base64');
  return version === 'v1' && given.length === signed.length && timingSafeEqual(given, signed);
}
