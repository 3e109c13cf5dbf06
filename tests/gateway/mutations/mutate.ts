/** Changes the structure of answers, each in another way, and plants content in them that no client may see. */
import type { Baseline, Tree } from './baselines.ts';

/** Returns a generator of numbers from 0 to 1. The same seed gives the same numbers. */
export function getRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** The planted content: a text that is masked, and the name of a forbidden tool. */
export const SECRET = ['AKIA', 'QYLPMN5HHHFPWXYZ'].join('');
export const DANGER = 'danger';

interface Event {
  name: string;
  data: Tree | '[DONE]';
  /** Other lines of the event, before its data. */
  lines: string[];
}

/** A place in a tree, and a function that replaces its value. */
interface Place {
  readonly key: string;
  readonly value: Tree;
  readonly put: (value: Tree) => void;
}

interface Mutant {
  readonly events: Event[];
  readonly pick: <Item>(items: readonly Item[]) => Item;
  readonly chance: (part: number) => boolean;
}

/** Returns a changed answer as the pieces in which its bytes are sent. */
export function getMutant({ events, is_stream }: Baseline, random: () => number): string[] {
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)]!;
  const chance = (part: number) => random() < part;
  const copies = structuredClone(events).map((event) => ({ ...event, lines: [] }));
  const mutant: Mutant = { events: copies, pick, chance };
  pick(PLANTS)(mutant);
  for (let left = 1 + Math.floor(random() * 3); left > 0; left--) {
    pick(is_stream && chance(0.5) ? ON_EVENTS : ON_TREES)(mutant);
  }
  const text = is_stream ? copies.map((event) => written(event, mutant)).join('') : json(copies[0]!.data);
  const body = !is_stream && chance(0.05) ? `[${text}]` : text;
  if (!chance(0.3)) return [body];
  const at = Math.floor(random() * body.length);
  return [body.slice(0, at), body.slice(at)];
}

function json(tree: Tree): string {
  if (Array.isArray(tree)) return `[${tree.map(json).join(',')}]`;
  if (typeof tree !== 'object' || tree === null) return JSON.stringify(tree);
  return `{${tree.object.map(([key, value]) => `${JSON.stringify(key)}:${json(value)}`).join(',')}}`;
}

function written({ name, data, lines }: Event, { chance, pick }: Mutant): string {
  const end = chance(0.03) ? pick(['\r\n', '\r']) : '\n';
  const text = data === '[DONE]' ? data : json(data);
  const named = name === '' ? [] : [`event: ${name}`];
  const colon = chance(0.05) ? 'data:' : 'data: ';
  const cut = chance(0.02) && text.includes(',') ? [text.replace(',', `,${end}data: `)] : [text];
  return [...named, ...lines, ...cut.map((each) => colon + each), '', ''].join(end);
}

/** Lists every place in all of these events. */
function placesIn(events: readonly Event[]): Place[] {
  const places: Place[] = [];
  const visit = (tree: Tree): void => {
    if (Array.isArray(tree)) {
      tree.forEach((value, at) => {
        const put = (other: Tree): void => {
          tree[at] = other;
        };
        places.push({ key: `${at}`, value, put });
        visit(value);
      });
    } else if (typeof tree === 'object' && tree !== null) {
      tree.object.forEach((member) => {
        const put = (other: Tree): void => {
          member[1] = other;
        };
        places.push({ key: member[0], value: member[1], put });
        visit(member[1]);
      });
    }
  };
  for (const { data } of events) if (data !== '[DONE]') visit(data);
  return places;
}

const SAID = new Set(['content', 'text', 'thinking', 'delta', 'refusal', 'partial_json', 'arguments']);

function textsIn(events: readonly Event[]): Place[] {
  return placesIn(events).filter(({ key, value }) => SAID.has(key) && typeof value === 'string');
}

const PLANTS: readonly ((mutant: Mutant) => void)[] = [
  function plantSecret({ events, pick }) {
    const { value, put } = pick(textsIn(events));
    put(`${value} ${SECRET} `);
  },
  function plantSecretInTwo({ events, pick }) {
    const texts = textsIn(events);
    const at = Math.floor(texts.length * Number(`0.${pick(['1', '2', '3', '4', '5', '6', '7', '8', '9'])}`));
    const cut = pick([2, 4, 8, 12, 16]);
    const [one, other] = [texts[at], texts[at + 1] ?? texts[0]];
    one?.put(`${one.value} ${SECRET.slice(0, cut)}`);
    other?.put(`${SECRET.slice(cut)} ${other === one ? '' : other?.value}`);
  },
  function plantName({ events, pick }) {
    pick(placesIn(events).filter(({ key, value }) => key === 'name' && typeof value === 'string'))?.put(
      DANGER,
    );
  },
  function plantNameTwice({ events, pick }) {
    const holders = placesIn(events).flatMap(({ value }) => {
      const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
      return isObject && value.object.some(([key]) => key === 'name') ? [value] : [];
    });
    const holder = holders.length === 0 ? undefined : pick(holders);
    holder?.object.splice(pick([0, holder.object.length]), 0, ['name', DANGER]);
  },
  function plantCallAgain({ events, pick }) {
    const calling = events.filter(({ data }) => /"(?:name|functionCall)":/.test(json(data)));
    if (calling.length === 0) return plantAnywhere({ events, pick } as Mutant);
    const event = pick(calling);
    const copy = structuredClone(event);
    for (const { key, put } of placesIn([copy])) if (key === 'name') put(DANGER);
    events.splice(events.indexOf(event) + pick([0, 1, 2]), 0, copy);
  },
  function plantUnknown({ events, pick }) {
    const value = pick<Tree>([SECRET, ` ${SECRET} `, [1, SECRET], { object: [['inner', SECRET]] }]);
    addUnknown(pick(objectsIn(events)).value, pick, structuredClone(value));
  },
  function plantUnknownName({ events, pick }) {
    addUnknown(pick(objectsIn(events)).value, pick, { object: [[SECRET, pick(UNKNOWN)]] });
  },
  function plantUnknownInTwo({ events, pick }) {
    const ofEvents = events.map((event) => objectsIn([event])).filter(({ length }) => length > 0);
    const one = pick(ofEvents);
    const next = ofEvents[ofEvents.indexOf(one) + 1] ?? one;
    const at = one.indexOf(pick(one));
    const cut = pick([2, 8, 16]);
    addUnknown(one[at]!.value, pick, SECRET.slice(0, cut));
    if (next[at] !== undefined) addUnknown(next[at].value, pick, SECRET.slice(cut));
  },
  plantAnywhere,
];

/** Members that no format defines have names with this prefix. */
export const UNKNOWN_PREFIX = 'x_';

/** Values of all JSON types. */
export const UNKNOWN: readonly Tree[] = [
  'a text of some words',
  '',
  5,
  0.25,
  true,
  null,
  { object: [['inner', 'more']] },
  { object: [['list', [1, 'two', { object: [['three', null]] }]]] },
  ['one', 2, false],
  [{ object: [['url', 'https://images.test/a.png']] }],
];

/** Adds a member that no format defines. */
function addUnknown({ object }: Extract<Tree, { object: unknown }>, pick: Mutant['pick'], value: Tree): void {
  object.splice(pick([0, object.length]), 0, [`${UNKNOWN_PREFIX}more`, value]);
}

function plantAnywhere({ events, pick }: Mutant): void {
  const strings = placesIn(events).filter(({ value }) => typeof value === 'string');
  pick(strings).put(pick([` ${SECRET} `, `x ${SECRET} `]));
}

type Change = (mutant: Mutant) => void;

const NUMBERS: readonly Tree[] = [0, 1, 2, -1, '0', '1', null, 0.5, 99, true];
const KEYS = [
  'text',
  'content',
  'name',
  'delta',
  'type',
  'index',
  'tool_calls',
  'function',
  'custom',
  '__proto__',
];

const ON_TREES: readonly Change[] = [
  function unknown({ events, pick }) {
    addUnknown(pick(objectsIn(events)).value, pick, structuredClone(pick(UNKNOWN)));
  },
  function twin({ events, pick }) {
    const { value } = pick(objectsIn(events));
    const member = pick(value.object);
    const other = pick(placesIn(events)).value;
    value.object.splice(pick([0, value.object.length]), 0, [
      member[0],
      structuredClone(pick([member[1], other])),
    ]);
  },
  function reorder({ events, pick, chance }) {
    const { value } = pick(objectsIn(events));
    value.object.sort(() => (chance(0.5) ? 1 : -1));
  },
  function drop({ events, pick }) {
    const { value } = pick(objectsIn(events));
    value.object.splice(value.object.indexOf(pick(value.object)), 1);
  },
  function renumber({ events, pick }) {
    const numbers = placesIn(events).filter(
      ({ key, value }) => typeof value === 'number' && /index$/.test(key),
    );
    if (numbers.length > 0) pick(numbers).put(pick(NUMBERS));
  },
  function respell({ events, pick }) {
    const { value } = pick(objectsIn(events));
    const member = pick(value.object);
    const spelled = member[0].replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    member[0] = pick([
      member[0].toUpperCase(),
      member[0].charAt(0).toUpperCase() + member[0].slice(1),
      spelled,
      member[0].replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      pick(KEYS),
    ]);
  },
  function exchange({ events, pick }) {
    const places = placesIn(events);
    const [one, other] = [pick(places), pick(places)];
    const copies = [structuredClone(one.value), structuredClone(other.value)] as const;
    one.put(copies[1]);
    other.put(copies[0]);
  },
  function retype({ events, pick }) {
    const types = placesIn(events).filter(({ key, value }) => key === 'type' && typeof value === 'string');
    if (types.length > 0) pick(types).put(structuredClone(pick(types).value));
  },
  function again({ events, pick }) {
    const lists = placesIn(events).flatMap(({ value }) =>
      Array.isArray(value) && value.length > 0 ? [value] : [],
    );
    if (lists.length === 0) return;
    const list = pick(lists);
    list.splice(pick([0, list.length]), 0, structuredClone(pick(list)));
  },
  function wrap({ events, pick }) {
    const { value, put } = pick(placesIn(events));
    put(pick([[value], { object: [[pick(KEYS), value]] }, null]));
  },
];

function objectsIn(events: readonly Event[]): { value: Extract<Tree, { object: unknown }> }[] {
  const roots = events.map(({ data }) => data);
  return [...roots, ...placesIn(events).map(({ value }) => value)].flatMap((value) => {
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject && value.object.length > 0 ? [{ value }] : [];
  });
}

const ON_EVENTS: readonly Change[] = [
  function eventAgain({ events, pick }) {
    events.splice(
      Math.floor(events.length * pick([0.2, 0.4, 0.6, 0.8, 1])),
      0,
      structuredClone(pick(events)),
    );
  },
  function dropEvent({ events, pick }) {
    if (events.length > 1) events.splice(events.indexOf(pick(events)), 1);
  },
  function moveEvent({ events, pick }) {
    const [event] = events.splice(events.indexOf(pick(events)), 1);
    events.splice(Math.floor(events.length * pick([0, 0.2, 0.4, 0.6, 0.8, 1])), 0, event!);
  },
  function rename({ events, pick }) {
    pick(events).name = pick(['', 'message', 'ping', 'error', 'thread.x', pick(events).name]);
  },
  function otherLine({ events, pick, chance }) {
    const event = pick(events);
    const data = json(pick(events).data).replaceAll('safe', DANGER);
    const lead = pick([': ', 'id: ', 'retry: ', 'unknown: ', 'event: ', '']);
    const cut = pick(['', '\u2028', '\x85', '\v']);
    event.lines.push(chance(0.5) ? `${lead}${SECRET}` : `${lead}x${cut}data: ${data}`);
  },
  function splitText({ events, pick }) {
    const texts = textsIn(events).filter(({ value }) => `${value}`.length > 1);
    if (texts.length === 0) return;
    const { value, put } = pick(texts);
    const holder = events.find((event) => placesIn([event]).some((place) => place.value === value));
    if (holder === undefined) return;
    const text = `${value}`;
    const at = Math.floor(text.length * pick([0.2, 0.5, 0.8]));
    const copy = structuredClone(holder);
    put(text.slice(0, at));
    placesIn([copy])
      .find((place) => place.value === value)
      ?.put(text.slice(at));
    events.splice(events.indexOf(holder) + 1, 0, copy);
  },
];
