/** The part of the SDK that runs everywhere. */
export * from './errors.ts';
export type { Guard, GuardProtection, StreamSubject } from './guard.ts';
export type { AdvisorAnswer, GuardIntelligence } from './intelligence.ts';
export type { DecisionRecord } from './local/audit-record.ts';
export type { PolicyDocument, PolicySource } from './local/compile-source.ts';
export { createEmbeddedGuard, type EmbeddedOptions, type QuickstartOptions } from './local/index.ts';
export type * from './types.ts';
