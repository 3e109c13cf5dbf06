import type { Label, ValueForm, ValueQuota } from '../types/index.ts';
import { isUntrusted } from './labels.ts';

/** Entries that a session keeps, by kind. */
export const VALUE_QUOTAS: Readonly<Record<ValueQuota, number>> = {
  user: 1_024,
  trusted: 1_024,
  untrusted: 4_096,
  shingle: 4_096,
};

/**
 * Returns the kind whose quota an entry uses. Call arguments use the quota for trusted values, which they restrict: if
 * an echo could no longer be known, no value becomes trusted either.
 */
export function getValueQuota(form: ValueForm, label: Label): ValueQuota {
  if (form === 'shingle') return 'shingle';
  if (label === 'user' || label === 'operator') return 'user';
  return isUntrusted(label) ? 'untrusted' : 'trusted';
}
