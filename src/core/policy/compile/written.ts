import type { Static } from 'typebox';
import type { contractSchema, identitySchema, memorySchema, ruleSchema } from '../schemas.ts';

/** Records as people write them, read off their schemas. */
export type WrittenRule = Static<typeof ruleSchema>;
export type WrittenContract = Static<typeof contractSchema>;
export type WrittenIdentity = Static<typeof identitySchema>;
export type WrittenMemory = Static<typeof memorySchema>;
