import { fileURLToPath } from 'node:url';
import type { PackReport } from './types.ts';

/** The verifier that every pack contains: three folders up, in `src` and in `dist` alike. */
export const VERIFIER_FILE = fileURLToPath(new URL('../../../data/evidence/verify.mjs', import.meta.url));

/** A public key that an auditor trusts. */
export interface TrustedPublicKey {
  /** The first 32 hex digits of the fingerprint. */
  readonly key_id: string;
  readonly fingerprint: string;
}

/** Limits for hostile packs; see `LIMITS` in the verifier. */
export type PackLimits = Readonly<
  Partial<Record<'total_bytes' | 'ratio' | 'ratio_from' | 'files' | 'manifest_bytes' | 'line_bytes', number>>
>;

/** The exports of the verifier. It is one file without packages, so that a pack can carry it. */
interface Verifier {
  readonly verifyPack: (
    path: string,
    options: { readonly public_key: TrustedPublicKey | null; readonly limits?: PackLimits },
  ) => Promise<PackReport>;
  /** Encodes the header of a file in the archive. */
  readonly encodeHeader: (name: string, size: number) => Buffer;
  readonly readPublicKey: (text: string) => TrustedPublicKey;
  readonly formatPackReport: (report: PackReport) => readonly string[];
}

/** Loads the verifier. */
export async function loadVerifier(): Promise<Verifier> {
  return (await import(new URL('../../../data/evidence/verify.mjs', import.meta.url).href)) as Verifier;
}
