import { hostname } from 'node:os';
import { type Bucket, openBucket } from '../../drivers/object-storage/s3.ts';
import type { Config } from '../../runtime/config/index.ts';
import type { ShippingOptions } from './ship.ts';

/** Returns the settings of a round of shipping; `null` if no object storage is configured. */
export function openShipping(
  { audit, cluster, state_dir }: Pick<Config, 'audit' | 'cluster' | 'state_dir'>,
  nowMs: () => number,
  signal: AbortSignal,
): (ShippingOptions & { readonly bucket: Bucket }) | null {
  const { object_storage, export_actions, enabled } = audit;
  if (object_storage === undefined || !enabled) return null;
  const { prefix, object_lock = null } = object_storage;
  const bucket = openBucket(object_storage);
  const node = cluster.node_id ?? hostname();
  return {
    state_dir,
    bucket,
    prefix,
    node,
    exports_actions: export_actions,
    object_lock,
    now_ms: nowMs,
    signal,
  };
}
