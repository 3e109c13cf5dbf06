/**
 * Loads the JSON Schema validator with the first contract that has a schema. In the built program, the imported file
 * runs when `compileArgumentCheckOnDemand` is first called (scripts/build/lazy-modules.ts).
 */
import type { Json } from '../types/index.ts';
import { type ArgumentCheck, compileArgumentCheck } from './argument-check.ts';

/** Calls `compileArgumentCheck`, which it loads on first use. */
export function compileArgumentCheckOnDemand(schema: Json): ArgumentCheck {
  return compileArgumentCheck(schema);
}
