/** Generates answers of servers in every structure that can hide a marker. */

/** A random number generator with a seed. */
export interface RandomSource {
  /** Returns an integer from 0 up to, not including, `sides`. */
  readonly roll: (sides: number) => number;
  readonly pick: <T>(all: readonly T[]) => T;
}

/** Opens a generator that returns the same numbers for the same seed. */
export function openRandomSource(seed: number): RandomSource {
  let state = seed >>> 0;
  const roll = (sides: number) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % sides;
  };
  return { roll, pick: (all) => all[roll(all.length)]! };
}

type Value = string | number | boolean | null | readonly Value[] | Members;
/** The members in order; names may repeat. */
interface Members {
  readonly members: readonly (readonly [name: string, value: Value])[];
}

const object = (...members: (readonly [string, Value])[]): Members => ({ members });

/** An answer to a call of `method`, and the request that leads to it. */
export interface Mutation {
  readonly method: 'tools/call' | 'resources/read' | 'prompts/get' | 'resources/list' | 'prompts/list';
  /** The kind of place that contains the marker. */
  readonly place: string;
  /** True if the protocol's client shows the marker when nothing is judged. */
  readonly is_shown: boolean;
  readonly member: string;
  readonly before: readonly string[];
}

type Maker = (stated: string, dice: RandomSource) => Value;

const text: Maker = (stated) => object(['type', 'text'], ['text', stated]);
const base64 = (stated: string, encoding: BufferEncoding = 'utf8') =>
  Buffer.from(stated, encoding).toString('base64');

const TYPES = [
  'text/plain',
  'application/json',
  'text/html',
  'image/svg+xml',
  'application/x-unknown',
  'image/png',
  '',
];

/** Builds content blocks with text. */
const BLOCKS: Readonly<Record<string, Maker>> = {
  text,
  json: (stated, dice) => text(write(buildJson(stated, dice), dice), dice),
  json_in_json: (stated, dice) =>
    text(write(object(['a', write(buildJson(stated, dice), dice)]), dice), dice),
  image: (stated, dice) =>
    object(
      ['type', dice.pick(['image', 'audio'])],
      ['data', dice.pick([stated, base64(stated)])],
      ['mimeType', dice.pick(TYPES)],
    ),
  image_type: (stated) => object(['type', 'image'], ['data', ''], ['mimeType', `image/png; note=${stated}`]),
  blob: (stated, dice) => object(['type', 'resource'], ['resource', buildBlob(stated, dice)]),
  resource_text: (stated) =>
    object(['type', 'resource'], ['resource', object(['uri', 'file:///a'], ['text', stated])]),
  link: (stated, dice) =>
    object(
      ['type', 'resource_link'],
      [
        'uri',
        dice.pick([
          'file:///a',
          `file:///${encodeURI(stated)}/b`,
          `data:text/plain;base64,${base64(stated)}`,
        ]),
      ],
      ['name', stated],
      ['description', dice.pick(['A file.', stated])],
    ),
  unknown_type: (stated, dice) =>
    object(['type', dice.pick(['thought', 'video', stated])], ['steps', [stated, object(['deep', stated])]]),
  name_of_member: (stated) => object(['type', 'text'], ['text', 'ok'], [stated, true]),
  extra_member: (stated, dice) =>
    object(
      ['type', 'text'],
      ['text', 'ok'],
      [dice.pick(['data', 'blob', 'note', 'mimeType']), dice.pick([stated, base64(stated)])],
    ),
  annotation: (stated, dice) =>
    object(
      ['type', 'text'],
      ['text', 'ok'],
      ['annotations', object([dice.pick(['title', 'lastModified', 'x']), stated])],
    ),
};

function buildBlob(stated: string, dice: RandomSource): Members {
  const encoding = dice.pick(['utf8', 'utf8', 'utf16le'] as const);
  const type = dice.pick(TYPES);
  return object(['uri', 'file:///a'], ...(type === '' ? [] : [['mimeType', type] as const]), [
    'blob',
    dice.pick([base64(stated, encoding), base64(stated, encoding), stated]),
  ]);
}

/** Builds a JSON value that contains the text, possibly after a member with the same name. */
function buildJson(stated: string, dice: RandomSource): Value {
  const name = dice.pick(['note', 'a', '__proto__', '']);
  const holder = dice.pick([
    () => object([name, stated]),
    () => object([name, stated], [name, 'ok']),
    () => object([name, 'ok'], [name, stated]),
    () => object([name, object(['x', stated])], [name, 1]),
    () => object([stated, 1]),
    () => [stated, 'ok'],
    () => object(['id', 9_007_199_254_740_994], [name, stated], ['f', 1.5]),
  ])();
  return dice.pick([holder, [holder], object(['list', [1, holder]]), object(['b', holder], ['b', holder])]);
}

/** Builds consecutive texts with the marker split over them. */
function cutBlocks(stated: string, dice: RandomSource): Value[] {
  const pieces: string[] = [];
  for (let at = 0; at < stated.length; ) {
    const length = 1 + dice.roll(stated.length);
    pieces.push(stated.slice(at, at + length));
    at += length;
  }
  const blocks = pieces.map((piece) => text(piece, dice));
  if (dice.roll(3) === 0)
    blocks.splice(1, 0, object(['type', 'image'], ['data', ''], ['mimeType', 'image/png']));
  return blocks;
}

const METHODS = [
  'tools/call',
  'tools/call',
  'tools/call',
  'resources/read',
  'prompts/get',
  'resources/list',
  'prompts/list',
] as const;

/** Builds one answer with the marker and random words around it. */
export function createMutation(marker: string, dice: RandomSource): Mutation {
  const stated = `${dice.pick(['', 'It is ', 'See: '])}${marker}${dice.pick(['', ' .', ' as told.'])}`;
  const method = dice.pick(METHODS);
  const [place, result] = getResult(method, stated, dice);
  const isError = dice.roll(25) === 0;
  const error = object(['code', -32602], ['message', stated], ['data', object(['more', stated])]);
  const member = isError
    ? `"error":${write(error, dice)}`
    : `"result":${write(withNoise(result, stated, dice), dice)}`;
  return {
    method,
    place: isError ? 'error' : place,
    is_shown: !isError || !method.endsWith('list'),
    member:
      dice.roll(8) === 0
        ? `"result":${write(object(['content', [text(stated, dice)]]), dice)},${member}`
        : member,
    before: dice.roll(10) === 0 ? [writeNotification(stated, dice)] : [],
  };
}

function getResult(
  method: (typeof METHODS)[number],
  stated: string,
  dice: RandomSource,
): [place: string, result: Members] {
  switch (method) {
    case 'tools/call':
      return buildToolResult(stated, dice);
    case 'resources/read': {
      const isBlob = dice.roll(2) === 0;
      const [first, ...rest] = cutBlocks(stated, dice) as Members[];
      const inner = isBlob ? [buildBlob(stated, dice)] : [first!, ...rest].map(asResource);
      return [isBlob ? 'read blob' : 'read text', object(['contents', inner])];
    }
    case 'prompts/get': {
      const place = dice.pick(Object.keys(BLOCKS));
      const content = BLOCKS[place]!(stated, dice);
      const message = object(['role', 'user'], ['content', content]);
      return [
        `prompt ${place}`,
        object(['description', dice.pick(['Greets.', stated])], ['messages', [message, message]]),
      ];
    }
    case 'resources/list': {
      const entry = object(
        ['uri', 'file:///a'],
        ['name', 'a'],
        [dice.pick(['title', 'description', 'note', stated]), stated],
      );
      return ['list of resources', object(['resources', [entry, entry]])];
    }
    case 'prompts/list': {
      const inner = object(['name', 'b'], ['description', stated], ['required', true]);
      const entry = object(
        ['name', 'a'],
        ['arguments', [inner]],
        ['icons', [object(['src', `data:text/plain;base64,${base64(stated)}`])]],
      );
      return ['list of prompts', object(['prompts', [entry]])];
    }
  }
}

function asResource(block: Members): Members {
  const shown = block.members.find(([name]) => name === 'text')?.[1] ?? '';
  return object(['uri', 'file:///a'], ['mimeType', 'text/plain'], ['text', shown]);
}

function buildToolResult(stated: string, dice: RandomSource): [place: string, result: Members] {
  const which = dice.roll(5);
  if (which === 0) return ['cut', object(['content', cutBlocks(stated, dice)])];
  const structured = buildJson(stated, dice);
  const isObject = !Array.isArray(structured) && typeof structured === 'object';
  if (which === 1 && isObject) {
    const repeat = dice.pick([write(structured, dice), 'ok']);
    return ['structured', object(['content', [text(repeat, dice)]], ['structuredContent', structured])];
  }
  const place = dice.pick(Object.keys(BLOCKS));
  const blocks = [BLOCKS[place]!(stated, dice)];
  if (dice.roll(3) === 0) blocks.push(text('All is well.', dice));
  if (dice.roll(3) === 0) blocks.unshift(BLOCKS[dice.pick(Object.keys(BLOCKS))]!(stated, dice));
  return [place, object(['content', blocks], ...(dice.roll(5) === 0 ? [['isError', true] as const] : []))];
}

/** Builds members that carry no content, in any order, including `_meta` and duplicates. */
function withNoise({ members }: Members, stated: string, dice: RandomSource): Members {
  const all: (readonly [string, Value])[] = [
    ...members,
    ['resultType', 'complete'],
    ['ttlMs', 0],
    ['cacheScope', 'private'],
  ];
  if (dice.roll(4) === 0) all.push(['_meta', object(['note', stated])]);
  if (dice.roll(6) === 0) all.unshift(dice.pick(members));
  if (dice.roll(6) === 0) all.unshift([members[0]![0], [text(stated, dice)]]);
  if (dice.roll(6) === 0) all.push([dice.pick(['extra', 'note', stated]), stated]);
  if (dice.roll(3) > 0) return object(...all);
  // Only members with different names are swapped, because the last of equal names counts.
  return object(...all.toSorted(([one], [other]) => (one < other ? 1 : one > other ? -1 : 0)));
}

function writeNotification(stated: string, dice: RandomSource): string {
  const [method, params] = dice.pick([
    ['notifications/message', object(['level', 'info'], ['data', stated])],
    ['notifications/progress', object(['progressToken', 1], ['progress', 1], ['message', stated])],
    ['notifications/resources/updated', object(['uri', stated], ['title', stated])],
    ['notifications/tools/list_changed', object(['note', stated])],
  ] as const);
  return write(object(['jsonrpc', '2.0'], ['method', method], ['params', params]), dice);
}

/** Serializes JSON with optional white space and escapes. */
function write(value: Value, dice: RandomSource): string {
  const space = () => (dice.roll(12) === 0 ? ' ' : '');
  if (typeof value === 'string') return writeString(value, dice);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if ('members' in value) {
    const written = value.members.map(
      ([name, inner]) => `${space()}${writeString(name, dice)}${space()}:${write(inner, dice)}`,
    );
    return `{${written.join(',')}${space()}}`;
  }
  return `[${value.map((inner) => space() + write(inner, dice)).join(',')}]`;
}

function writeString(value: string, dice: RandomSource): string {
  const plain = JSON.stringify(value);
  if (dice.roll(6) > 0) return plain;
  const every = 1 + dice.roll(4);
  let escaped = '';
  for (let at = 0; at < value.length; at++) {
    const unit = value[at]!;
    escaped +=
      at % every === 0
        ? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
        : JSON.stringify(unit).slice(1, -1);
  }
  return `"${escaped}"`;
}
