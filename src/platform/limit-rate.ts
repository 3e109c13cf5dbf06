const REPORT_MS = 5_000;

/** Limits the rate of a report. A full disk fails thousands of times per second, and one line is enough. */
export function limitRate<Values extends readonly unknown[]>(
  report: (...values: Values) => void,
): typeof report {
  let lastMs = Number.NEGATIVE_INFINITY;
  return (...values) => {
    const now = performance.now();
    if (now - lastMs < REPORT_MS) return;
    lastMs = now;
    report(...values);
  };
}
