import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { EARLIER_NAME } from '../../core/names.ts';
import type { Fingerprinter } from '../../core/types/index.ts';
import { CustomshouseError } from '../errors.ts';
import { createGuard, type Guard } from '../guard.ts';
import type { GuardOptions } from '../types.ts';
import { type DecisionRecord, dropShownAction } from './audit-record.ts';
import { compilePolicySource, type PolicySource } from './compile-source.ts';
import type { RandomSource } from './event-ids.ts';
import { type DecisionSink, openLocalBackend } from './local-backend.ts';

/** The switches of `quickstart`. All of them are also settings of `service.yaml`. */
export interface QuickstartOptions extends GuardOptions {
  /** Search for secrets: blocked in inputs and tool calls, masked in outputs and results. Default `true`. */
  readonly block_secrets?: boolean;
  /** Mask personal data. Default `true`. */
  readonly redact_pii?: boolean;
  /** Block personal data instead of masking it. Default `false`. */
  readonly block_pii?: boolean;
  /** Rules before the built-in ones, as in `policies` of `service.yaml`. */
  readonly custom_rules?: readonly unknown[];
}

/** The policy and the record of a guard that decides in this process. */
export interface EmbeddedOptions extends GuardOptions {
  /** The policy as plain JSON. Default: the built-in policy. */
  readonly policy?: PolicySource;
  /**
   * Receives each decision before it is given: a record without text, in the shape of an audit event. If it throws,
   * the decision is a block.
   */
  readonly record?: (event: DecisionRecord) => void;
  /** Default: the clock of the platform, in milliseconds since 1970. */
  readonly now_ms?: () => number;
  /** Default: `crypto.getRandomValues`. */
  readonly random?: RandomSource;
}

/**
 * Returns a guard that decides in this process, from a policy as plain JSON. It reads no file and opens no connection,
 * so it runs in browsers and workers too.
 *
 * @throws PolicyLoadError if the policy has mistakes
 */
export function createEmbeddedGuard(options: EmbeddedOptions = {}): Guard {
  const { record } = options;
  const sink: DecisionSink = { write: (event) => record?.(dropShownAction(event)), close: async () => {} };
  return createGuard(openEmbeddedBackend(options, sink), options);
}

/**
 * Returns a guard that works without any configuration. It decides in this page or worker by the built-in policy and
 * keeps no journal; pass `record` to receive each decision.
 */
export function createEmbeddedQuickstart(
  options: QuickstartOptions & Pick<EmbeddedOptions, 'record'> = {},
): Guard {
  return createEmbeddedGuard({ ...options, policy: buildQuickstartPolicy(options) });
}

/** Opens the back end of a guard in this process with a sink for its decisions. */
export function openEmbeddedBackend(options: EmbeddedOptions, sink: DecisionSink) {
  const { policy, settings } = compilePolicySource(options.policy);
  const { fingerprint_key } = settings.detection;
  return openLocalBackend({
    log_actions: settings.log_actions,
    policy,
    sink,
    fingerprintOf: fingerprint_key === undefined ? null : createFingerprinter(fingerprint_key),
    now_ms: options.now_ms ?? (() => Date.now()),
    fillRandom: options.random ?? fillRandom,
  });
}

/** Returns the policy that the switches of `quickstart` describe. */
export function buildQuickstartPolicy({
  block_secrets = true,
  redact_pii = true,
  block_pii = false,
  custom_rules = [],
}: QuickstartOptions): PolicySource {
  const action = block_pii ? 'block' : redact_pii ? 'redact' : 'allow';
  const piiProtection = { enabled: block_pii || redact_pii, action };
  return {
    file: 'quickstart',
    config: {
      policies: custom_rules,
      secret_detection: { enabled: block_secrets },
      pii_protection: piiProtection,
    },
  };
}

function fillRandom(bytes: Uint8Array<ArrayBuffer>): void {
  const { crypto } = globalThis as { crypto?: { getRandomValues?: RandomSource } };
  if (crypto?.getRandomValues === undefined)
    throw new CustomshouseError(
      'This platform has no `crypto.getRandomValues`. Pass a function in `random`.',
    );
  crypto.getRandomValues(bytes);
}

/** Computes the fingerprints of the allowlist, as the service does: over UTF-16, so that different texts differ. */
export function createFingerprinter(key: string): Fingerprinter {
  const secret = utf8ToBytes(key);
  return (ruleId, value) =>
    `hmac-sha256:${bytesToHex(hmac(sha256, secret, encodeUtf16(`${EARLIER_NAME} fingerprint 1\n${ruleId}\n${value}`)))}`;
}

function encodeUtf16(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length * 2);
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    bytes[2 * i] = unit & 0xff;
    bytes[2 * i + 1] = unit >> 8;
  }
  return bytes;
}
