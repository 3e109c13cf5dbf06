import type { VerifyReport } from '../../runtime/audit/index.ts';

/** The objects of one log: `PREFIX/LOG_ID/journal/WRITER/FIRST_SEQ.jsonl.gz`, its public keys, and `log.json`. */
export interface ShippedLog {
  /** The ID of the first key of the service that wrote it. */
  readonly log_id: string;
  /** The name of the machine that began it; `null` if `log.json` is missing. */
  readonly node: string | null;
}

/** One round of shipping. */
export interface ShippingRound {
  /** Files that were stored, or were there already. */
  readonly shipped: number;
  /** Closed files that wait for the next round. */
  readonly waiting: number;
}

/** The report on one log in object storage. */
export interface ShippedLogReport extends ShippedLog {
  readonly report: VerifyReport;
}

/** The result of `audit restore`. */
export interface RestoredLog extends ShippedLog {
  readonly folder: string;
  readonly files: number;
  readonly bytes: number;
}

/** An expected failure of shipping or of reading what was shipped: a stable code and a sentence. */
export class ShippingFailure extends Error {
  readonly code: 'shipping_conflict' | 'shipping_address' | 'shipping_missing' | 'shipping_folder';
  constructor(code: ShippingFailure['code'], message: string) {
    super(message);
    this.name = 'ShippingFailure';
    this.code = code;
  }
}
