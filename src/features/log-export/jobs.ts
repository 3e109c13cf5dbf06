import { hostname } from 'node:os';
import { join } from 'node:path';
import type { BackgroundParts, FeatureBackground } from '../../operations/feature.ts';
import { describeFault } from '../../platform/log.ts';
import { HttpFailure, openHttpClient } from '../../platform/net/http-client.ts';
import { getPackageVersion } from '../../platform/version.ts';
import { loadPublicKeys } from '../../runtime/audit/index.ts';
import { findLogId } from '../../runtime/audit/log-id.ts';
import { buildCounter, buildGauge } from '../../runtime/observability/metric.ts';
import { ExportFailure, exportNewEvents, type LogExport } from './export-log.ts';
import { type ExportPositions, readExportPositions } from './positions.ts';

const EVERY_MS = 2_000;

/** Opens the export; nothing without an endpoint or without an audit log. */
export function openLogExport({ config, log, started_ms }: BackgroundParts): FeatureBackground {
  const { endpoint } = config.log_export;
  if (endpoint === undefined || !config.audit.enabled) return {};
  const stopping = new AbortController();
  const client = openHttpClient({ env: process.env });
  const counts = { exported: 0, refused: 0, failed: 0, last_success_ms: started_ms };
  let positions: ExportPositions | null = null;
  /** Stays, also when keys rotate. */
  let logId: string | null = null;

  async function run(): Promise<boolean> {
    try {
      positions ??= await readExportPositions(config.state_dir, started_ms);
      const found = await exportNewEvents(await describeExport(), positions);
      counts.exported += found.exported;
      counts.refused += found.refused;
      counts.last_success_ms = Date.now();
      if (found.refused > 0)
        log.error('the collector has refused events of the audit log permanently', { count: found.refused });
      return found.has_more;
    } catch (error) {
      if (stopping.signal.aborted) return false;
      counts.failed += 1;
      if (!(error instanceof ExportFailure || error instanceof HttpFailure)) throw error;
      log.error('the audit log could not be exported and will be tried again', describeFault(error));
      return false;
    }
  }

  async function describeExport(): Promise<LogExport> {
    const { headers, decisions, tenants, timeout_ms } = config.log_export;
    const version = getPackageVersion();
    logId ??= findLogId(await loadPublicKeys(join(config.state_dir, 'keys')));
    return {
      state_dir: config.state_dir,
      client,
      url: `${endpoint!.replace(/\/+$/, '')}/v1/logs`,
      headers,
      timeout_ms,
      filter: { decisions, tenants },
      source: { version, log_id: logId ?? '', exports_actions: config.audit.export_actions },
      resource: {
        'service.name': config.telemetry.service_name ?? 'customshouse',
        'service.version': version,
        'host.name': hostname(),
      },
      signal: stopping.signal,
    };
  }

  return {
    // Each node exports its own journal.
    jobs: [{ name: 'log-export: send new events', every_ms: EVERY_MS, runs_on_each_node: true, run }],
    runs_apart: true,
    listMetrics: () => [
      buildCounter(
        'service_log_export_events_total',
        'Events of the audit log, by outcome of their export.',
        [
          { value: counts.exported, labels: { outcome: 'exported' } },
          { value: counts.refused, labels: { outcome: 'refused' } },
        ],
      ),
      buildCounter(
        'service_log_export_failures_total',
        'Rounds of the export of the audit log that failed.',
        [{ value: counts.failed, labels: {} }],
      ),
      buildGauge(
        'service_log_export_last_success_seconds',
        'Time of the last export that succeeded, in seconds since 1970; the start if none has.',
        [{ value: Math.floor(counts.last_success_ms / 1_000), labels: {} }],
        'max',
      ),
    ],
    close: async () => {
      stopping.abort();
      await client.close();
    },
  };
}
