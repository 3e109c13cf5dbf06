import { mkdir, writeFile } from 'node:fs/promises';
import { editorSchemas } from '../src/runtime/config/editor-schemas.ts';

// Writes the JSON Schema files that editors read; `node scripts/schemas.ts`.
const folder = new URL('../schemas/', import.meta.url);
await mkdir(folder, { recursive: true });
for (const { name, text } of editorSchemas()) await writeFile(new URL(name, folder), text);
