import type { FeatureParts } from '../../operations/feature.ts';
import { limitRate } from '../../platform/limit-rate.ts';
import { describeStoreFault } from '../../platform/store/lazy.ts';
import { readPublicUrl } from '../../runtime/access/public-url.ts';
import { openApprovals } from './index.ts';
import { openApprovalLinks } from './link.ts';
import { buildApprovalsParts } from './parts.ts';
import type { Approvals } from './types.ts';

/** Opens one process's approvals by its configuration. */
export function openConfiguredApprovals({
  config,
  port,
  store,
  ports,
  log,
  bus,
}: Pick<FeatureParts, 'config' | 'port' | 'store' | 'ports' | 'log' | 'bus'>): Approvals {
  const report = limitRate((what: string, fault?: unknown) =>
    log.error(what, fault === undefined ? {} : describeStoreFault(fault)),
  );
  const links = openApprovalLinks(config.state_dir, readPublicUrl(config, port));
  return openApprovals(buildApprovalsParts({ config, store, ports, links, bus }, report));
}
