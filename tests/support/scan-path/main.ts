/**
 * A module for `--import`: writes the stack of the first call of `judge` in each request to the file in `SCAN_PATH`.
 * `judge` calls no function of the platform by itself, so the methods of arrays that the decision uses take the stack.
 */
import { appendFileSync } from 'node:fs';
import { Server } from 'node:http';

const file = process.env.SCAN_PATH!;
let isWaiting = false;
Error.stackTraceLimit = Number.POSITIVE_INFINITY;

const { emit } = Server.prototype;
Server.prototype.emit = function (this: Server, event: string | symbol, ...rest: unknown[]): boolean {
  if (event === 'request') isWaiting = true;
  return Reflect.apply(emit, this, [event, ...rest]);
};

for (const name of ['map', 'filter', 'flatMap', 'some', 'find', 'every'] as const) {
  const method: (...words: never[]) => unknown = Array.prototype[name];
  Reflect.set(Array.prototype, name, function (this: unknown[], ...words: unknown[]): unknown {
    if (isWaiting) recordStack();
    return Reflect.apply(method, this, words);
  });
}

function recordStack(): void {
  const stack = new Error('path').stack ?? '';
  if (!/^ +at judge \(.*\/core\/decision\/judge\.ts/m.test(stack)) return;
  isWaiting = false;
  appendFileSync(file, `${JSON.stringify(stack.split('\n').slice(1))}\n`);
}
