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
  /** True: each bar is a whole day, so labels have no time. */
  readonly is_daily?: boolean;
  /** Called with the number of the bar that was clicked. */
  readonly onSelect?: (index: number) => void;
}

const dayFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
const timeFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

/** Draws stacked bars over time, on both sides of a line. The same figures are below it as a table. */
export function TimeChart(props: TimeChartProps) {
  const { label, times, series, format, height = 190, is_daily = false, onSelect } = props;
  const formatMoment = (time: string | undefined) =>
    (is_daily ? dayFormat : timeFormat).format(Date.parse(time ?? ''));
  const box = useRef<HTMLDivElement>(null);
  const select = useRef(onSelect);
  select.current = onSelect;
  const [hovered, setHovered] = useState<number | null>(null);
  const theme = useShownTheme();
  const data = useMemo(() => stackSeries(times, series), [times, series]);
  const tones = series.map(({ tone, side }) => `${tone} ${side ?? 'above'}`).join(',');
  const timesKey = times.length;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the theme and the tones decide the colours that are read from the page.
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const options = buildOptions({
      series,
      format,
      height,
      is_daily,
      setHovered,
      selected: () => select.current,
    });
    const plot = new uPlot({ ...options, width: element.clientWidth }, data, element);
    const resize = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }));
    resize.observe(element);
    return () => {
      resize.disconnect();
      plot.destroy();
    };
  }, [data, theme, tones, timesKey, height]);
  const descriptionId = useId();
  return (
    <figure className="chart">
      <div ref={box} className="chart-box" role="img" aria-label={label} aria-describedby={descriptionId} />
      <ul className="legend">
        {series.map(({ label: name, tone, values }) => (
          <li key={name}>
            <span className={`swatch ${tone}`} aria-hidden="true" />
            {name}
            <strong>{format(hovered === null ? sumValues(values) : (values[hovered] ?? 0))}</strong>
          </li>
        ))}
        <li className="muted">{hovered === null ? 'in total' : formatMoment(times[hovered])}</li>
      </ul>
      <figcaption id={descriptionId} className="visually-hidden">
        {series.map(({ label: name, values }) => `${name}: ${format(sumValues(values))}`).join(', ')}
      </figcaption>
      <ChartTable times={times} series={series} format={format} formatMoment={formatMoment} />
    </figure>
  );
}

interface ChartTableProps extends Pick<TimeChartProps, 'times' | 'series' | 'format'> {
  readonly formatMoment: (time: string) => string;
}

function ChartTable({ times, series, format, formatMoment }: ChartTableProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className="chart-table" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Figures as a table</summary>
      {isOpen ? (
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
                  <th scope="row">{formatMoment(time)}</th>
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

interface PlotChoices {
  readonly series: readonly ChartSeries[];
  readonly format: (value: number) => string;
  readonly height: number;
  readonly is_daily: boolean;
  readonly setHovered: (index: number | null) => void;
  readonly selected: () => ((index: number) => void) | undefined;
}

function buildOptions(choices: PlotChoices): Omit<uPlot.Options, 'width'> {
  const { series, format, height, is_daily, setHovered, selected } = choices;
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
    scales: {
      // Half a bar at both ends, so that the first and the last bar are whole.
      ...(is_daily ? { x: { range: (_plot, from, to) => [from - DAY_S / 2, to + DAY_S / 2] as const } } : {}),
      y: { range: (_plot, low, high) => padRange(low, high) },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        values: is_daily ? formatDayLabels : formatTimeLabels,
        space: 80,
        ...(is_daily ? { incrs: DAY_STEPS } : {}),
      },
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

const hourFormat = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});
const dateFormat = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });

const DAY_S = 86_400;
/** Distances of labels under bars of whole days. */
const DAY_STEPS = [1, 2, 7, 14, 28, 56].map((days) => days * DAY_S);

function formatDayLabels(_plot: uPlot, splits: number[]): string[] {
  return splits.map((seconds) => dateFormat.format(seconds * 1000));
}

function formatTimeLabels(_plot: uPlot, splits: number[]): string[] {
  return splits.map((seconds) => {
    const at = new Date(seconds * 1000);
    return at.getHours() === 0 && at.getMinutes() === 0 ? dateFormat.format(at) : hourFormat.format(at);
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
