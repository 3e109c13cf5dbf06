import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { useEffect, useId, useMemo, useRef, useState } from 'react';
import { useShownTheme } from '../app/theme.ts';

/** One series of bars. Those with `side: 'below'` hang under the line: what did not pass. */
export interface ChartSeries {
  readonly label: string;
  /** The name of a colour of the theme: `good`, `bad`. */
  readonly tone: string;
  readonly values: readonly number[];
  readonly side?: 'above' | 'below';
}

interface TimeChartProps {
  readonly label: string;
  /** The beginning of each bar, ISO 8601. */
  readonly times: readonly string[];
  readonly series: readonly ChartSeries[];
  readonly format: (value: number) => string;
  readonly height?: number;
  /** Called with the number of the bar that was clicked. */
  readonly onSelect?: (index: number) => void;
}

const time_format = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

/** Draws stacked bars over time, on both sides of a line. The same figures are below it as a table. */
export function TimeChart({ label, times, series, format, height = 190, onSelect }: TimeChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const select = useRef(onSelect);
  select.current = onSelect;
  const [hovered, setHovered] = useState<number | null>(null);
  const theme = useShownTheme();
  const data = useMemo(() => stackSeries(times, series), [times, series]);
  const tones = series.map(({ tone, side }) => `${tone} ${side ?? 'above'}`).join(',');
  const times_key = times.length;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the theme and the tones decide the colours that are read from the page.
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const options = buildOptions(series, format, height, setHovered, () => select.current);
    const plot = new uPlot({ ...options, width: element.clientWidth }, data, element);
    const resize = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }));
    resize.observe(element);
    return () => {
      resize.disconnect();
      plot.destroy();
    };
  }, [data, theme, tones, times_key, height]);
  const description_id = useId();
  return (
    <figure className="chart">
      <div ref={box} className="chart-box" role="img" aria-label={label} aria-describedby={description_id} />
      <ul className="legend">
        {series.map(({ label: name, tone, values }) => (
          <li key={name}>
            <span className={`swatch ${tone}`} aria-hidden="true" />
            {name}
            <strong>{format(hovered === null ? sumValues(values) : (values[hovered] ?? 0))}</strong>
          </li>
        ))}
        <li className="muted">
          {hovered === null ? 'in total' : time_format.format(Date.parse(times[hovered] ?? ''))}
        </li>
      </ul>
      <figcaption id={description_id} className="visually-hidden">
        {series.map(({ label: name, values }) => `${name}: ${format(sumValues(values))}`).join(', ')}
      </figcaption>
      <ChartTable times={times} series={series} format={format} />
    </figure>
  );
}

function ChartTable({ times, series, format }: Pick<TimeChartProps, 'times' | 'series' | 'format'>) {
  const [is_open, setOpen] = useState(false);
  return (
    <details className="chart-table" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Figures as a table</summary>
      {is_open ? (
        <div className="chart-table-scroll">
          <table className="plain">
            <thead>
              <tr>
                <th scope="col">From</th>
                {series.map(({ label }) => (
                  <th key={label} scope="col" className="number">
                    {label}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {times.map((time, index) => (
                <tr key={time}>
                  <th scope="row">{time_format.format(Date.parse(time))}</th>
                  {series.map(({ label, values }) => (
                    <td key={label} className="number">
                      {format(values[index] ?? 0)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      ) : null}
    </details>
  );
}

function sumValues(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Returns the heights of the bars: each series on top of those of its side before it. */
function stackSeries(times: readonly string[], series: readonly ChartSeries[]): uPlot.AlignedData {
  const tops = { above: times.map(() => 0), below: times.map(() => 0) };
  const stacked = series.map(({ values, side = 'above' }) => {
    const sign = side === 'above' ? 1 : -1;
    tops[side] = tops[side].map((top, index) => top + sign * (values[index] ?? 0));
    return [...tops[side]];
  });
  // Higher bars are drawn first, so that lower ones stay visible in front of them.
  return [times.map((time) => Date.parse(time) / 1000), ...stacked.reverse()];
}

function buildOptions(
  series: readonly ChartSeries[],
  format: (value: number) => string,
  height: number,
  setHovered: (index: number | null) => void,
  selected: () => ((index: number) => void) | undefined,
): Omit<uPlot.Options, 'width'> {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const bars = uPlot.paths.bars?.({ size: [0.78, 40], gap: 1 });
  const axis = {
    stroke: colour('ink-faint'),
    font: `11px ${style.getPropertyValue('--sans')}`,
    ticks: { show: false },
  };
  return {
    height,
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    scales: { y: { range: (_plot, low, high) => padRange(low, high) } },
    axes: [
      { ...axis, grid: { show: false }, values: formatTimeLabels, space: 80 },
      {
        ...axis,
        size: 46,
        space: 42,
        grid: { stroke: colour('line'), width: 1 },
        values: (_plot, splits) => splits.map((value) => format(Math.abs(value))),
      },
    ],
    series: [
      {},
      ...series.toReversed().map(({ label, tone }) => ({
        label,
        fill: colour(tone),
        stroke: colour(tone),
        width: 0,
        points: { show: false },
        ...(bars === undefined ? {} : { paths: bars }),
      })),
    ],
    hooks: {
      setCursor: [(plot) => setHovered(plot.cursor.idx ?? null)],
      ready: [
        (plot) =>
          plot.over.addEventListener('click', () => {
            const index = plot.cursor.idx;
            if (index !== null && index !== undefined) selected()?.(index);
          }),
      ],
      draw: [(plot) => drawBoundary(plot, colour('ink-soft'))],
    },
  };
}

function padRange(low: number, high: number): [number, number] {
  const from = Math.min(0, low ?? 0);
  const to = Math.max(0, high ?? 0);
  return from === 0 && to === 0 ? [0, 1] : [from * 1.1, to * 1.1];
}

const hour_format = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});
const date_format = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });

function formatTimeLabels(_plot: uPlot, splits: number[]): string[] {
  return splits.map((seconds) => {
    const at = new Date(seconds * 1000);
    return at.getHours() === 0 && at.getMinutes() === 0 ? date_format.format(at) : hour_format.format(at);
  });
}

/** Draws the line between what passed and what did not. */
function drawBoundary(plot: uPlot, colour: string): void {
  const y = Math.round(plot.valToPos(0, 'y', true)) + 0.5;
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.lineWidth = devicePixelRatio;
  ctx.beginPath();
  ctx.moveTo(bbox.left, y);
  ctx.lineTo(bbox.left + bbox.width, y);
  ctx.stroke();
  ctx.restore();
}
