import { basename } from 'node:path';
import type { DocumentProblem } from '../../core/types/index.ts';
import { parseConfigValue } from './parse-config-value.ts';
import { buildConfigProblem } from './problem-text.ts';
import { readMapping } from './read-mapping.ts';
import type { Config } from './schema.ts';
import type { WrittenPrice } from './schema-costs.ts';
import { priceFileSchema } from './schema-costs.ts';

type WithConfig<Rest> = { readonly ok: true; readonly config: Config } & Rest;

/** Reads the file of `cost.price_file`, if set, and appends its prices to those of the configuration. */
export async function addPrices<Rest extends object>(
  settled: WithConfig<Rest>,
): Promise<WithConfig<Rest> | { readonly ok: false; readonly problems: readonly DocumentProblem[] }> {
  const { cost } = settled.config;
  if (cost.price_file === undefined) return settled;
  const label = basename(cost.price_file);
  const read = await readMapping(cost.price_file, label);
  if (!read.ok) return read;
  const { value, problems } = parseConfigValue(read.value, priceFileSchema, { env: {}, secrets: new Map() });
  if (problems.length > 0) {
    return {
      ok: false,
      problems: problems.map(({ steps, message }) =>
        buildConfigProblem(label, steps, message, read.lineOf(steps)),
      ),
    };
  }
  const prices = [...cost.prices, ...(value as { readonly prices: readonly WrittenPrice[] }).prices];
  return { ...settled, config: { ...settled.config, cost: { ...cost, prices } } };
}
