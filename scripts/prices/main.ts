/**
 * `npm run prices -- FILE DATE`: updates `data/model-prices.json` from `FILE`, the table
 * `model_prices_and_context_window.json` of litellm (MIT), which records the price pages of the providers. `DATE` is the
 * day of that table. To add a model, write an entry with its `source` by hand, then run this.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { formatPriceFile, updatePrices } from './update.ts';

const PRICE_FILE = resolve(import.meta.dirname, '..', '..', 'data', 'model-prices.json');

process.exitCode = main(process.argv[2], process.argv[3]);

function main(file: string | undefined, asOf: string | undefined): number {
  if (file === undefined || !/^\d{4}-\d\d-\d\d$/.test(asOf ?? '')) {
    console.error('Usage: npm run prices -- model_prices_and_context_window.json YYYY-MM-DD');
    return 2;
  }
  const { prices } = JSON.parse(readFileSync(PRICE_FILE, 'utf8'));
  const update = updatePrices(prices, JSON.parse(readFileSync(file, 'utf8')), asOf!);
  writeFileSync(PRICE_FILE, formatPriceFile(update.prices));
  console.log(`${update.changed.length} of ${prices.length} prices changed: ${update.changed.join(', ')}`);
  console.log(`Not in the table, so unchanged: ${update.unlisted.join(', ')}`);
  return 0;
}
