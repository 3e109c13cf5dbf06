const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** Returns a validated duration in milliseconds: `30s`, `15m`, `24h`, `7d`, `2w`. */
export function parseDurationMs(written: string): number {
  const unit = written[written.length - 1] as keyof typeof UNIT_MS;
  return Number(written.slice(0, -1)) * UNIT_MS[unit];
}
