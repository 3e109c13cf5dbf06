import type { Static } from 'typebox';
import type { contractSchema, memorySchema, ruleSchema } from '../schemas.ts';

/** Records as users write them; the types are derived from their schemas. */
export type RuleDocument = Static<typeof ruleSchema>;
export type ContractDocument = Static<typeof contractSchema>;
export type MemoryDocument = Static<typeof memorySchema>;
