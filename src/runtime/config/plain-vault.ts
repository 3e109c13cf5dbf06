import type { Problem } from '../../core/types.ts';
import type { Step } from './problem-path.ts';
import { problemAt } from './problem-text.ts';
import type { Config } from './schema.ts';

/** A warning where the token and the secrets of a vault cross the network in the clear. */
export function plainVault(
  { secrets, origin }: Config,
  lineOf: (steps: readonly Step[]) => number | undefined,
): Problem[] {
  const { backend, vault } = secrets;
  if (backend !== 'vault' || vault === undefined || !vault.address.startsWith('http://')) return [];
  const host = URL.canParse(vault.address) ? new URL(vault.address).hostname : '';
  if (/^(localhost|127\.[\d.]+|\[::1\])$/.test(host)) return [];
  const steps = ['secrets', 'vault', 'address'];
  const what = 'is not `https`: the token and the secrets cross the network in the clear';
  return [problemAt(origin.label, steps, what, lineOf(steps), 'warning')];
}
