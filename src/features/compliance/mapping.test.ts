import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Validator } from '@cfworker/json-schema';
import { commandRules } from '../../core/detect/commands/rules/index.ts';
import { listBuiltinIdentities } from '../../core/detect/registry/builtin-detectors.ts';
import { buildBuiltinRules } from '../../core/policy/compile/builtin.ts';
import { covers } from '../../core/tags.ts';
import { FRAMEWORK_IDS, findFrameworkId } from '../../operations/compliance-frameworks.ts';
import { matchesKind } from './event-kinds.ts';
import { loadFramework } from './frameworks.ts';
import { MAPPING_SCHEMA } from './mapping-schema.ts';
import type { FrameworkMapping } from './mapping-types.ts';

const TAGS = [...listBuiltinIdentities().flatMap(({ tags }) => tags), ...commandRules.map(({ tag }) => tag)];
const RULES = buildBuiltinRules('redact').map(({ name }) => name);
/** The settings as the reference of the configuration lists them. */
const SETTINGS = new Set(
  [...readFileSync('docs/reference/configuration.md', 'utf8').matchAll(/^\| `([a-z_.]+)`/gm)].map(
    ([, name]) => name!,
  ),
);

/** Returns the faults of a mapping that its schema cannot find. */
function listFaults({ framework, controls }: FrameworkMapping): string[] {
  const ids = controls.map(({ control_id }) => control_id);
  return [
    ...ids.filter((id, at) => ids.indexOf(id) !== at).map((id) => `${framework} ${id}: is there twice`),
    ...controls.flatMap((control) => {
      const about = `${framework} ${control.control_id}`;
      const carriers = [...control.tags, ...control.mechanisms, ...control.rules, ...control.events];
      const isNone = control.coverage === 'none';
      return [
        ...control.tags
          .filter(({ tag }) => !TAGS.some((each) => covers(tag, each)))
          .map(({ tag }) => `${about}: no detector has the tag ${tag}`),
        ...control.rules
          .filter((kind) => !RULES.some((name) => matchesKind(name, kind)))
          .map((kind) => `${about}: no built-in rule is ${kind}`),
        ...control.settings
          .filter((setting) => !SETTINGS.has(setting))
          .map((setting) => `${about}: no setting is ${setting}`),
        ...(isNone && (carriers.length > 0 || control.contribution !== '')
          ? [`${about}: has coverage \`none\` and names what carries it`]
          : []),
        ...(!isNone && control.tags.length + control.mechanisms.length === 0
          ? [`${about}: names no tag and no mechanism, so that nothing decides its status`]
          : []),
        ...(control.coverage !== 'full' && control.gaps.length === 0
          ? [`${about}: has no full coverage and names no gap`]
          : []),
      ];
    }),
  ];
}

test('every mapping has its shape, and names only tags, rules, settings and kinds of events that exist', () => {
  const files = readdirSync('data/compliance').toSorted();
  assert.deepEqual(files, FRAMEWORK_IDS.map((id) => `${id}.json`).toSorted());
  const validator = new Validator(MAPPING_SCHEMA as never, '2020-12', false);
  let controls = 0;
  for (const id of FRAMEWORK_IDS) {
    const mapping = loadFramework(id);
    assert.deepEqual(validator.validate(mapping).errors, [], id);
    assert.equal(mapping.framework, id);
    assert.deepEqual(listFaults(mapping), []);
    controls += mapping.controls.length;
  }
  assert.ok(SETTINGS.size > 100 && TAGS.length > 100);
  assert.equal(controls, 174);
});

test('a mapping with a name that does not exist is refused', () => {
  const mapping = loadFramework('hipaa');
  const first = mapping.controls[0]!;
  const changed = (fields: object) => ({ ...mapping, controls: [{ ...first, ...fields }] });
  const validator = new Validator(MAPPING_SCHEMA as never, '2020-12', false);
  const faulty = [
    { events: ['service.no_such'] },
    { mechanisms: ['magic'] },
    { permissions: ['everything'] },
    { coverage: 'all' },
    { requirement: 'no sentence' },
  ];
  for (const fields of faulty)
    assert.equal(validator.validate(changed(fields)).valid, false, JSON.stringify(fields));
  const unknown = [
    { tags: [{ tag: 'personal.nothing', places: ['input'], expect: 'act' }] },
    { rules: ['builtin.nothing.input'] },
    { settings: ['audit.no_such'] },
    { coverage: 'none' },
    { gaps: [], coverage: 'part' },
    { mechanisms: [] },
  ];
  for (const fields of unknown)
    assert.equal(listFaults(changed(fields) as FrameworkMapping).length, 1, JSON.stringify(fields));
});

test('a framework is found by its name in any case', () => {
  assert.equal(findFrameworkId(' HIPAA '), 'hipaa');
  assert.equal(findFrameworkId('sox'), null);
});
