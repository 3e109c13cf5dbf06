/**
 * The JSON Schema validator, loaded with the first contract that has a schema: in the built program the imported file
 * runs when `argumentCheckLate` is first called (scripts/build/late.ts).
 */
import type { Json } from '../types/index.ts';
import { type ArgumentCheck, compileArgumentCheck } from './argument-check.ts';

/** See arguments.ts. */
export function compileArgumentCheckLazily(schema: Json): ArgumentCheck {
  return compileArgumentCheck(schema);
}
