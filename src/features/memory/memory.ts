import { describeFault } from '../../platform/log.ts';
import { Unavailable } from '../../platform/unavailable.ts';
import type { Caller } from '../../runtime/access/types.ts';
import { type Desk, type MemoryParts, openVault } from './desk.ts';
import { purgeAll, purgeEvent } from './purge.ts';
import { list, readKey, resolve } from './read.ts';
import type { Memory, MemoryAsking } from './types.ts';

import { write } from './write.ts';

/** Opens memory for one process that answers. Store and keys are opened with the first call that needs them. */
export function openMemory(parts: MemoryParts): Memory {
  const vault = openVault(parts);
  const deskFor = (asking: MemoryAsking, caller: Caller): Desk => ({
    parts,
    ports: parts.ports(),
    asking,
    caller,
    vault,
  });
  return {
    write: (asking, caller, request) => write(deskFor(asking, caller), request),
    readKey: (asking, caller, key, schema) => readKey(deskFor(asking, caller), key, schema),
    list: (asking, caller, schema, limit) => list(deskFor(asking, caller), schema, limit),
    resolve: (asking, caller, handle_id) => resolve(deskFor(asking, caller), handle_id),
    purge: async ({ id }) => {
      try {
        const { store, clock } = await vault();
        const purged = await purgeAll(store, clock.now_ms());
        await parts.ports().record(purgeEvent(parts.ports(), purged, 'manual', id));
        return purged;
      } catch (fault) {
        parts.log.warn('what has expired in memory cannot be deleted', describeFault(fault));
        throw new Unavailable('Memory cannot be purged at the moment: the log says why.', fault);
      }
    },
  };
}
