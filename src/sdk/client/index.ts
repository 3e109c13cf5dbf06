import { createGuard, type Guard } from '../guard.ts';
import type { GuardOptions } from '../types.ts';
import { type ClientOptions, openClientBackend } from './client-backend.ts';

/**
 * Returns a guard that asks a service over HTTP. Everything that goes wrong on the way blocks: a service that is gone,
 * slow, or answers anything but a verdict.
 */
export function createClientGuard(options: ClientOptions & GuardOptions = {}): Guard {
  return createGuard(openClientBackend(options), options);
}
