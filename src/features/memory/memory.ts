import { describeFault } from '../../platform/log.ts';
import { Unavailable } from '../../platform/unavailable.ts';
import type { Caller } from '../../runtime/access/types.ts';
import { type MemoryContext, type MemoryParts, openMemoryResources } from './memory-context.ts';
import { buildPurgeEvent, purgeExpiredEntries } from './purge.ts';
import { listMemory, readMemoryKey, resolveHandle } from './read.ts';
import type { Memory, MemorySubject } from './types.ts';
import { writeMemory } from './write.ts';

/** Opens memory for one worker process. The first call that needs the store and the keys opens them. */
export function openMemory(parts: MemoryParts): Memory {
  const resources = openMemoryResources(parts);
  const contextFor = (subject: MemorySubject, caller: Caller): MemoryContext => ({
    parts,
    ports: parts.ports(),
    subject,
    caller,
    openStore: resources.open,
  });
  return {
    write: (subject, caller, request) => writeMemory(contextFor(subject, caller), request),
    readKey: (subject, caller, key, schema) => readMemoryKey(contextFor(subject, caller), key, schema),
    list: (subject, caller, schema, limit) => listMemory(contextFor(subject, caller), schema, limit),
    resolve: (subject, caller, handleId) => resolveHandle(contextFor(subject, caller), handleId),
    purge: async ({ id }) => {
      try {
        const { store, clock } = await resources.openWithoutKeys();
        const purged = await purgeExpiredEntries(store, clock.now_ms());
        await parts.ports().record(buildPurgeEvent(parts.ports(), purged, 'manual', id));
        return purged;
      } catch (fault) {
        parts.log.warn('what has expired in memory cannot be deleted', describeFault(fault));
        throw new Unavailable('Memory cannot be purged at the moment: the log says why.', fault);
      }
    },
  };
}
