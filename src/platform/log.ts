import type { Logger } from 'pino';
import { diskProblem } from './disk.ts';
import { lazy } from './lazy.ts';

export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';

/** Facts beside a message: names, numbers, codes; never anything that was checked. */
export type LogFields = Readonly<
  Record<string, string | number | boolean | null | readonly string[] | undefined>
>;

/** The service's own log. Writing never throws and never waits. */
export interface Log {
  readonly error: (message: string, fields?: LogFields) => void;
  readonly warn: (message: string, fields?: LogFields) => void;
  readonly info: (message: string, fields?: LogFields) => void;
  readonly debug: (message: string, fields?: LogFields) => void;
  /** Resolves when all that was written is out. */
  readonly flush: () => Promise<void>;
}

export interface LogOptions {
  readonly level: LogLevel;
  /** `auto`, the default: text if standard error is a terminal, else JSON. */
  readonly format?: 'auto' | 'json' | 'text';
  readonly name: string;
}

const ORDER: readonly LogLevel[] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

/**
 * Opens the log on standard error: JSON lines, or lines for people on a terminal unless `format` says. `name` says which
 * process writes. The library behind it is loaded with the first line, for no start should wait for it.
 */
export function openLog(options: LogOptions): Log {
  const least = ORDER.indexOf(options.level);
  const logger = lazy(() => openLogger(options));
  let written: Promise<void> = Promise.resolve();

  function write(level: 'error' | 'warn' | 'info' | 'debug', message: string, fields: LogFields = {}): void {
    if (ORDER.indexOf(level) < least) return;
    const time = new Date().toISOString();
    const opened = logger.open();
    written = written.then(async () => (await opened)[level]({ time, ...fields }, message)).catch(() => {});
  }

  return {
    error: (message, fields) => write('error', message, fields),
    warn: (message, fields) => write('warn', message, fields),
    info: (message, fields) => write('info', message, fields),
    debug: (message, fields) => write('debug', message, fields),
    flush: () => written,
  };
}

async function openLogger(options: LogOptions): Promise<Logger> {
  const { default: pino } = await import('pino');
  const settings = {
    level: options.level,
    base: { pid: process.pid, name: options.name },
    // The time is that of the call, which the fields carry: the library itself may be loaded after it.
    timestamp: false,
    formatters: { level: (level: string) => ({ level }) },
  };
  const { format = 'auto' } = options;
  if (format === 'text' || (format === 'auto' && process.stderr.isTTY))
    return pino(settings, { write: (line) => process.stderr.write(forPeople(line)) });
  return pino(settings, pino.destination({ fd: 2, sync: true }));
}

/** `12:00:00 warn  worker-2 has ended, and is started again (signal SIGKILL)`. */
function forPeople(line: string): string {
  const { level, time, pid: _pid, name: _name, msg, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const clock = new Date(String(time)).toTimeString().slice(0, 8);
  const facts = Object.entries(fields).map(([key, value]) => `${key} ${value}`);
  return `${clock} ${String(level).padEnd(5)} ${msg}${facts.length > 0 ? ` (${facts.join(', ')})` : ''}\n`;
}

/**
 * What may be told of a fault: its kind, its code, and where in the program it arose. Its message is left out,
 * for that of a parser repeats what it read. A full disk and its like are one sentence, and no place in the program.
 */
export function describeFault(fault: unknown): LogFields {
  if (!(fault instanceof Error)) return { fault: typeof fault };
  const { code } = fault as { code?: unknown };
  const disk = diskProblem(fault);
  if (disk?.names_cause === true)
    return { fault: fault.name, ...(typeof code === 'string' ? { code } : {}), reason: disk.what };
  const at = (fault.stack ?? '')
    .split('\n')
    .filter((line) => /^ {4}at /.test(line))
    .slice(0, 8)
    .map((line) => line.trim());
  return { fault: fault.name, ...(typeof code === 'string' ? { code } : {}), at };
}
