import { isWriterName } from '../../runtime/audit/files.ts';

/** The keys of one log's objects in a bucket. */
export interface LogLayout {
  readonly folder: string;
  readonly about: string;
  readonly keys: string;
  readonly journal: string;
  readonly buildFileKey: (writer: string, firstSeq: number) => string;
}

const SEQ_DIGITS = 15;

/** Returns the keys of a log under a prefix, which may be empty. */
export function buildLayout(prefix: string, logId: string): LogLayout {
  const folder = `${buildLogsPrefix(prefix)}${logId}/`;
  const journal = `${folder}journal/`;
  return {
    folder,
    journal,
    about: `${folder}log.json`,
    keys: `${folder}keys/`,
    buildFileKey: (writer, firstSeq) =>
      `${journal}${writer}/${String(firstSeq).padStart(SEQ_DIGITS, '0')}.jsonl.gz`,
  };
}

/** Returns the prefix under which the folders of logs lie. */
export function buildLogsPrefix(prefix: string): string {
  return prefix === '' ? '' : `${prefix}/`;
}

const LOG_ID = /^[0-9a-f]{32}$/;

/** Returns whether a name in a bucket can be the folder of a log. */
export function isLogId(name: string): boolean {
  return LOG_ID.test(name);
}

const FILE = /^([^/]+)\/(\d{15}\.jsonl\.gz)$/;
const KEY = /^([0-9a-f]{32}\.json)$/;

/**
 * Returns the path of an object below the folder of a restored log; `null` for an object that is not of a log. An attacker
 * who can write to the bucket chooses its names, so only these forms become paths.
 */
export function getRestoredPath(layout: LogLayout, objectKey: string): string | null {
  if (objectKey.startsWith(layout.keys)) {
    const name = KEY.exec(objectKey.slice(layout.keys.length))?.[1];
    return name === undefined ? null : `keys/${name}`;
  }
  if (!objectKey.startsWith(layout.journal)) return null;
  const [, writer = '', name = ''] = FILE.exec(objectKey.slice(layout.journal.length)) ?? [];
  return isWriterName(writer) ? `journal/${writer}/${name}` : null;
}
