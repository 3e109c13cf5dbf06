import { countOf, isTrue, memberOf, membersOf } from './nodes.ts';
import type { JsonNode, Splice, WireUsage } from './types.ts';

/** The `usage` of chat completions, completions and embeddings; `null` where the body has none yet. */
export function usageOf(body: JsonNode): WireUsage | null {
  const usage = memberOf(body, 'usage');
  const input = countOf(usage, 'prompt_tokens');
  if (input === null) return null;
  return {
    input_tokens: input,
    output_tokens: countOf(usage, 'completion_tokens') ?? 0,
    cache_read_tokens: countOf(memberOf(usage, 'prompt_tokens_details'), 'cached_tokens') ?? 0,
    cache_write_tokens: countOf(memberOf(usage, 'prompt_tokens_details'), 'cache_write_tokens') ?? 0,
  };
}

const ASKED = '"stream_options":{"include_usage":true}';

/** Makes a stream of chat completions or completions tell its usage, which it does only where it is asked for. */
export function askForUsage(body: JsonNode): Splice | null {
  if (!isTrue(body, 'stream')) return null;
  const options = memberOf(body, 'stream_options');
  if (options === null) return { start: body.end - 1, end: body.end - 1, text: `,${ASKED}` };
  const asks = memberOf(options, 'include_usage');
  if (asks !== null) return asks.kind === 'true' ? null : { start: asks.start, end: asks.end, text: 'true' };
  if (options.kind !== 'object' || membersOf(options).length === 0) {
    return { start: options.start, end: options.end, text: '{"include_usage":true}' };
  }
  return { start: options.end - 1, end: options.end - 1, text: ',"include_usage":true' };
}

/** Whether an event of a stream tells its usage and nothing else: it came because somebody asked. */
export function isUsageAlone(body: JsonNode): boolean {
  const choices = memberOf(body, 'choices');
  return (
    choices?.kind === 'array' && choices.items.length === 0 && memberOf(body, 'usage')?.kind === 'object'
  );
}
