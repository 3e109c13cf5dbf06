import { parseDurationMs } from '../../core/policy/compile/duration.ts';
import { ObjectStorageFailure } from '../../drivers/object-storage/s3.ts';
import type { BackgroundParts, FeatureBackground } from '../../operations/feature.ts';
import type { MaintenanceJob } from '../../platform/store/maintenance.ts';
import { buildCounter, buildGauge } from '../../runtime/observability/metric.ts';
import { sealAbandoned } from './drain.ts';
import { openShipping } from './open-shipping.ts';
import { shipClosedFiles } from './ship.ts';
import { ShippingFailure } from './types.ts';

const EVERY_MS_MAX = 15_000;

/** Opens the work of shipping; nothing if no object storage is configured. */
export function openShippingWork({ config, log, started_ms }: BackgroundParts): FeatureBackground {
  const stopping = new AbortController();
  const shipping = openShipping(config, Date.now, stopping.signal);
  if (shipping === null) return {};
  const counts = { shipped: 0, failed: 0, waiting: 0, last_success_ms: started_ms };
  const job: MaintenanceJob = {
    name: 'log-shipping: ship closed files',
    // Each node ships its own journal.
    runs_on_each_node: true,
    every_ms: Math.min(EVERY_MS_MAX, parseDurationMs(config.audit.object_storage!.seal_after)),
    run: async () => {
      try {
        await sealAbandoned(config, stopping.signal);
        const { shipped, waiting } = await shipClosedFiles(shipping);
        counts.shipped += shipped;
        counts.waiting = waiting;
        counts.last_success_ms = Date.now();
        return waiting > 0;
      } catch (error) {
        if (stopping.signal.aborted) return false;
        counts.failed += 1;
        if (!(error instanceof ObjectStorageFailure || error instanceof ShippingFailure)) throw error;
        log.error('the audit log could not be shipped and will be tried again', {
          code: error.code,
          reason: error.message,
        });
        return false;
      }
    },
  };
  return {
    jobs: [job],
    runs_apart: true,
    listMetrics: () => [
      buildCounter('service_log_files_shipped_total', 'Journal files stored in object storage.', [
        { value: counts.shipped, labels: {} },
      ]),
      buildCounter('service_log_shipping_failures_total', 'Rounds of shipping that failed.', [
        { value: counts.failed, labels: {} },
      ]),
      buildGauge(
        'service_log_files_waiting',
        'Closed journal files that are not in object storage yet, after the last round.',
        [{ value: counts.waiting, labels: {} }],
        'max',
      ),
      buildGauge(
        'service_log_shipping_last_success_seconds',
        'Time of the last round that succeeded, in seconds since 1970; the start if none has.',
        [{ value: Math.floor(counts.last_success_ms / 1_000), labels: {} }],
        'max',
      ),
    ],
    close: async () => {
      stopping.abort();
      shipping.bucket.close();
    },
  };
}
