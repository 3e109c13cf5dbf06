/** The audit log: a journal, which is the record, and an index that answers queries about it. */

export { indexHeads, openIndexer } from './indexer.ts';
export { type Journal, openJournal } from './journal.ts';
export { loadPublicKeys, openSigningKey } from './keys.ts';
export { openIndex } from './open-index.ts';
export { queryIndex } from './query.ts';
export { verifyJournal } from './verify.ts';
export type { VerifyReport } from './verify-report.ts';
