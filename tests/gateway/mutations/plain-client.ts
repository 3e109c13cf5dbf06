/** Clients without an SDK. They read answers by simple rules, each of which real clients use. */
import type { Came, Sight } from '../clients/sight.ts';
import { UNKNOWN_PREFIX } from './mutate.ts';

// biome-ignore lint/suspicious/noExplicitAny: what a hostile provider sends has no type.
type UntypedValue = any;

/** Splits lines like `str.splitlines` of Python. */
const LINES = /\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/;

/** Reads every line of data on its own, and every member of its values that looks like a text or a tool. */
export function plainSight({ type, body }: Came): Sight {
  const sight: Sight = { texts: [], tools: [] };
  const bodies = type.startsWith('text/event-stream')
    ? body.split(LINES).flatMap((line) => (line.startsWith('data:') ? parsed(line.slice(5)) : []))
    : parsed(body);
  const said = { content: '', text: '', thinking: '', delta: '' };
  const byId = new Map<string, string>();
  let python: UntypedValue = {};
  for (const each of bodies) {
    seeTools(sight, each);
    const choice = each?.choices?.[0];
    if (typeof choice?.delta === 'object' && choice.delta !== null)
      python = accumulated(python, choice.delta);
    if (typeof choice?.delta?.content === 'string') said.content += choice.delta.content;
    if (typeof choice?.text === 'string') said.text += choice.text;
    if (each?.delta?.type === 'text_delta') said.text += each.delta.text;
    if (each?.delta?.type === 'thinking_delta') said.thinking += each.delta.thinking;
    if (each?.type === 'response.output_text.delta') {
      said.delta += each.delta;
      byId.set(`${each.item_id}`, (byId.get(`${each.item_id}`) ?? '') + each.delta);
    }
  }
  seeTools(sight, python);
  const unknown = new Map<string, string>();
  for (const each of bodies) seeUnknown(unknown, each, '$');
  sight.texts.push(...unknown.values());
  sight.texts.push(...Object.values(said), ...byId.values(), `${python?.content}`);
  return sight;
}

/** Joins the members of each place that no format defines: strings as they are, other values as JSON. */
function seeUnknown(unknown: Map<string, string>, value: UntypedValue, path: string): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, each] of Object.entries(value)) {
    const place = `${path}.${key}`;
    if (!key.startsWith(UNKNOWN_PREFIX)) seeUnknown(unknown, each, place);
    else
      unknown.set(
        place,
        (unknown.get(place) ?? '') + (typeof each === 'string' ? each : JSON.stringify(each)),
      );
  }
}

function parsed(text: string): UntypedValue[] {
  try {
    const value = JSON.parse(text);
    return Array.isArray(value) ? value : [value];
  } catch {
    return [];
  }
}

/** Accumulates deltas like OpenAI's SDK for Python: texts are joined, lists merged by index, other values replaced. */
function accumulated(before: UntypedValue, delta: UntypedValue): UntypedValue {
  const all = { ...before };
  for (const [key, value] of Object.entries(delta) as [string, UntypedValue][]) {
    const known = all[key];
    if (known === undefined || known === null || key === 'index' || key === 'type') {
      all[key] = Array.isArray(value) ? [] : value;
      if (!Array.isArray(value)) continue;
    }
    if (typeof value === 'string' && typeof known === 'string') all[key] = known + value;
    else if (Array.isArray(value)) {
      const list = Array.isArray(all[key]) ? [...all[key]] : [];
      for (const entry of value) {
        const at = list.findIndex((each) => each?.index === entry?.index);
        if (at === -1) list.push(entry);
        else list[at] = accumulated(list[at], entry);
      }
      all[key] = list;
    } else if (typeof value === 'object' && value !== null) all[key] = accumulated(known ?? {}, value);
  }
  return all;
}

/**
 * Collects the names of calls from the places that the protocols define, and from lists that any client would iterate.
 */
function seeTools(sight: Sight, body: UntypedValue): void {
  const see = (name: unknown): void => {
    if (typeof name === 'string' && name !== '') sight.tools.push(name);
  };
  const seeMessage = (message: UntypedValue): void => {
    for (const call of getList(message?.tool_calls)) {
      see(call?.function?.name);
      see(call?.custom?.name);
    }
    see(message?.function_call?.name);
  };
  for (const choice of getList(body?.choices)) {
    seeMessage(choice?.delta);
    seeMessage(choice?.message);
  }
  seeMessage(body);
  for (const block of [...getList(body?.content), body?.content_block])
    if (block?.type === 'tool_use') see(block.name);
  for (const item of [...getList(body?.output), ...getList(body?.response?.output), body?.item])
    if (/^(?:function|custom_tool)_call$/.test(item?.type)) see(item.name);
  for (const candidate of getList(body?.candidates))
    for (const part of getList(candidate?.content?.parts)) {
      see(part?.functionCall?.name);
      see(part?.function_call?.name);
    }
}

function getList(value: UntypedValue): UntypedValue[] {
  return Array.isArray(value) ? value : [];
}
