// Step 5: the frontier, drawn by Vega with its interpreter (the page allows no code made from text).
import { ask, post, whenShown } from '/static/flow.js';

let vega = null;
let pen = Promise.resolve(); // one picture after the other

whenShown.push(() => {
  const place = document.getElementById('frontier');
  const points = document.getElementById('points')?.dataset.points;
  if (!place || place.dataset.wanted === points) return;
  place.dataset.wanted = points;
  pen = pen.then(() => draw(place, points));
});

async function draw(place, points) {
  const overtaken = () => !place.isConnected || place.dataset.wanted !== points;
  if (overtaken()) return;
  const dark = matchMedia('(prefers-color-scheme: dark)').matches;
  vega ??= import('/vega.js');
  const [specification] = await Promise.all([ask(`/compare/plot.json?dark=${dark}&narrow=${place.clientWidth < 640}`), vega]);
  if (!specification || overtaken()) return;
  const { view } = await window.vegaEmbed(place, specification, {
    ast: true, actions: false, defaultStyle: false, tooltip: false, renderer: 'canvas', mode: 'vega-lite', logLevel: 1, // errors only
  });
  view.addEventListener('mouseover', (_, item) => {
    const row = rowOf(item);
    const told = document.getElementById('point-told');
    if (row && told) told.textContent = `${row.dataset.method}, k = ${row.dataset.k}: ${row.dataset.loss} of the detail is lost. Click to take it.`;
  });
  view.addEventListener('click', (_, item) => {
    const row = rowOf(item);
    if (row) post('/compare/take', { method: row.dataset.method, k: Number(row.dataset.k) });
  });
  place.dataset.drawn = points;
}

function rowOf(item) {
  if (!item?.datum?.risk) return null;
  const k = String(Math.round(1 / item.datum.risk));
  return [...document.querySelectorAll('tr[data-loss]')].find((row) => row.dataset.k === k && item.datum.series.startsWith(row.dataset.method));
}
