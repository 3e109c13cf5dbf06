import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { findShapeProblems } from '../../../core/policy/compile/shape-problems.ts';
import type { Json } from '../../../core/types/index.ts';
import { writePrivateFile } from '../../../platform/files/private-file.ts';
import { readText } from '../../../runtime/config/read-text.ts';
import { type Receipt, sha256Of } from './plan.ts';

const count = { type: 'integer', minimum: 0, maximum: 10_000_000 };

const receiptSchema = {
  type: 'object',
  required: ['created', 'folders', 'after_sha256', 'undo'],
  properties: {
    created: { type: 'boolean' },
    folders: { type: 'array', maxItems: 50, items: { type: 'string', minLength: 1 } },
    after_sha256: { type: 'string', pattern: '^[0-9a-f]{64}$' },
    undo: {
      type: 'array',
      maxItems: 10_000,
      items: {
        type: 'array',
        items: {
          type: 'object',
          required: ['offset', 'length', 'content'],
          properties: { offset: count, length: count, content: { type: 'string' } },
          additionalProperties: false,
        },
      },
    },
  },
  additionalProperties: false,
};

/** Where setup keeps how to undo what it did to a file, below a state folder. */
function receiptPath(state_dir: string, path: string): string {
  return join(state_dir, 'setup', `${sha256Of(path).slice(0, 32)}.json`);
}

/** What is known of an earlier change of a file; `null` where nothing is, or it is not as it was written. */
export async function readReceipt(state_dir: string, path: string): Promise<Receipt | null> {
  const read = await readText(receiptPath(state_dir, path));
  if (!read.ok) return null;
  try {
    const value = JSON.parse(read.text) as Json;
    const problems = findShapeProblems(value, receiptSchema, { file: 'receipt', path: '' });
    return problems.length === 0 ? (value as unknown as Receipt) : null;
  } catch {
    return null;
  }
}

/** Keeps how to undo a change; a file that only this user may read. */
export function writeReceipt(state_dir: string, path: string, receipt: Receipt): void {
  writePrivateFile(receiptPath(state_dir, path), JSON.stringify(receipt), 'replace');
}

/** Forgets it. */
export async function dropReceipt(state_dir: string, path: string): Promise<void> {
  await rm(receiptPath(state_dir, path), { force: true });
}
