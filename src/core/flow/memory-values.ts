import type { Label, SeenLabel, ValueQuota, ValuesChange, ValuesSeen } from '../types/index.ts';
import { getValueQuota, VALUE_QUOTAS } from './quotas.ts';

/** The values that one session in this process has seen. They are lost when it ends. */
export interface MemoryValues {
  readonly seen: ValuesSeen;
  /** Keeps what a crossing that passed adds. Beyond a quota nothing is kept, and its kind is full. */
  readonly save: (change: ValuesChange, eventId: string | null) => void;
}

/** Creates a session's values. `hashValue` has a key that agents cannot read. */
export function createMemoryValues(hashValue: ValuesSeen['hashValue']): MemoryValues {
  const labels = new Map<string, SeenLabel[]>();
  const counts: Record<ValueQuota, number> = { user: 0, trusted: 0, untrusted: 0, shingle: 0 };
  const full = new Set<ValueQuota>();
  const ended = new Set<Label>();
  return {
    seen: {
      hashValue,
      findLabels: (hash) => labels.get(hash) ?? [],
      get full() {
        return [...full];
      },
      get ended() {
        return [...ended];
      },
    },
    save: ({ add, end }, eventId) => {
      for (const { hash, form, label } of add) {
        const quota = getValueQuota(form, label);
        const known = labels.get(hash) ?? [];
        if (known.some((each) => each.label === label)) continue;
        if (counts[quota] >= VALUE_QUOTAS[quota]) {
          full.add(quota);
          continue;
        }
        counts[quota] += 1;
        labels.set(hash, [...known, { label, event_id: eventId }]);
      }
      for (const label of end) ended.add(label);
    },
  };
}
