import type { Logger } from 'pino';
import { escapeUnprintable } from '../core/text/unprintable.ts';
import { findDiskProblem } from './disk.ts';
import { createLazyValue } from './lazy.ts';

export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';

/** Structured fields of a log message: names, numbers and codes; never content that was evaluated. */
export type LogFields = Readonly<
  Record<string, string | number | boolean | null | readonly string[] | undefined>
>;

/** The service log (diagnostics). Its methods never throw and never block. */
export interface Log {
  readonly error: (message: string, fields?: LogFields) => void;
  readonly warn: (message: string, fields?: LogFields) => void;
  readonly info: (message: string, fields?: LogFields) => void;
  readonly debug: (message: string, fields?: LogFields) => void;
  /** Resolves when all messages were written. */
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
 * Opens the log on standard error: JSON lines, or readable text if standard error is a terminal; `format` overrides
 * this. `name` identifies the process. Loads the log library with the first message, so that it does not delay the
 * start.
 */
export function openLog(options: LogOptions): Log {
  const least = ORDER.indexOf(options.level);
  const logger = createLazyValue(() => openLogger(options));
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
    // The fields carry the time of the call, because the library may be loaded later.
    timestamp: false,
    formatters: { level: (level: string) => ({ level }) },
  };
  const { format = 'auto' } = options;
  if (format === 'text' || (format === 'auto' && process.stderr.isTTY))
    return pino(settings, { write: (line) => process.stderr.write(formatForPeople(line)) });
  return pino(settings, pino.destination({ fd: 2, sync: true }));
}

/** Formats a line as text: `12:00:00 warn  worker-2 has ended, and is started again (signal SIGKILL)`. */
function formatForPeople(line: string): string {
  const { level, time, pid: _pid, name: _name, msg, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const clock = new Date(String(time)).toTimeString().slice(0, 8);
  const facts = Object.entries(fields).map(([key, value]) => `${key} ${formatValue(value)}`);
  const end = facts.length > 0 ? ` (${facts.join(', ')})` : '';
  return `${clock} ${String(level).padEnd(5)} ${escapeUnprintable(String(msg))}${end}\n`;
}

/** Quotes a value that could pass for another field or line: names of files and settings are among them. */
function formatValue(value: unknown): string {
  if (typeof value !== 'string') return escapeUnprintable(JSON.stringify(value));
  return /^[\w./:@+-]+$/.test(value) ? value : escapeUnprintable(JSON.stringify(value));
}

/**
 * Describes an error for the log: its name, its code and its stack. Omits the message, because a parser's message
 * repeats its input. For a disk problem, returns the reason instead of the stack.
 */
export function describeFault(fault: unknown): LogFields {
  if (!(fault instanceof Error)) return { fault: typeof fault };
  const { code } = fault as { code?: unknown };
  const disk = findDiskProblem(fault);
  if (disk?.names_cause === true)
    return { fault: fault.name, ...(typeof code === 'string' ? { code } : {}), reason: disk.what };
  const at = (fault.stack ?? '')
    .split('\n')
    .filter((line) => /^ {4}at /.test(line))
    .slice(0, 8)
    .map((line) => line.trim());
  return { fault: fault.name, ...(typeof code === 'string' ? { code } : {}), at };
}
