/** The audit trail: a journal that is the truth, and an index that answers questions about it. */
export { AuditFailure, type AuditFailureCode } from './failure.ts';
export { AuditFilterError, parseDuration, parseFilter } from './filter.ts';
export { type FollowedEvent, type FollowOptions, followJournal } from './follow.ts';
export { type Indexer, indexHeads, openIndexer } from './indexer.ts';
export { type Journal, type JournalOptions, openJournal } from './journal.ts';
export {
  loadPublicKeys,
  openSigningKey,
  type PublicKeyRecord,
  rotateSigningKey,
  type SigningKey,
} from './keys.ts';
export { type QueryOptions, queryIndex } from './query.ts';
export { type DrainReport, drainSpool, writeSpool } from './spool.ts';
export { type AuditIndex, openIndex } from './store.ts';
export {
  type Broken,
  type VerifyOptions,
  type VerifyReport,
  verifyJournal,
  type WriterReport,
} from './verify.ts';
