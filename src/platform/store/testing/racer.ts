/** The program of one process of a race. */
import { once } from 'node:events';
import { openServiceStore } from '../../../server/store.ts';
import type { Migrations, StoreSettings } from '../index.ts';
import type { Racer } from './races.ts';

interface Orders {
  readonly settings: StoreSettings;
  readonly work: string;
  readonly input: unknown;
  readonly number: number;
}

interface Work {
  readonly default: (racer: Racer<unknown>) => Promise<unknown>;
  readonly migrations?: Migrations;
}

// Exits with the test run, so that no process remains.
process.once('disconnect', () => process.exit(1));
const [{ settings, work, input, number }] = (await once(process, 'message')) as [Orders];
const { default: run, migrations } = (await import(work)) as Work;
const store = await openServiceStore(settings, migrations === undefined ? {} : { migrations });
process.send?.('ready');
await once(process, 'message');
process.send?.(await run({ store, number, input }));
