import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readShape } from '../../core/policy/compile/shape-problems.ts';
import type { Json } from '../../core/types/index.ts';
import { writePrivateFile } from '../../platform/files/private-file.ts';
import { hashText } from '../../platform/hash-text.ts';
import { readText } from '../../runtime/config/read-text.ts';
import type { UndoReceipt } from './plan.ts';

const count = { type: 'integer', minimum: 0, maximum: 10_000_000 } as const;

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
} as const;

/** Returns the path of a settings file's receipt below a state folder. */
function buildReceiptPath(stateDir: string, path: string): string {
  return join(stateDir, 'setup', `${hashText(path).slice(0, 32)}.json`);
}

/** Reads the receipt of a settings file; `null` if there is none or it is damaged. */
export async function readReceipt(stateDir: string, path: string): Promise<UndoReceipt | null> {
  const read = await readText(buildReceiptPath(stateDir, path));
  if (!read.ok) return null;
  try {
    const value = JSON.parse(read.text) as Json;
    return readShape(value, receiptSchema, { file: 'receipt', path: '' }).value;
  } catch {
    return null;
  }
}

/** Writes the receipt of a settings file, readable only by this user. */
export function writeReceipt(stateDir: string, path: string, receipt: UndoReceipt): void {
  writePrivateFile(buildReceiptPath(stateDir, path), JSON.stringify(receipt), 'replace');
}

/** Deletes the receipt of a settings file, if there is one. */
export async function deleteReceipt(stateDir: string, path: string): Promise<void> {
  await rm(buildReceiptPath(stateDir, path), { force: true });
}
