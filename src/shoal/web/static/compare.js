// Step 5: the frontier, drawn by Vega with its interpreter (the page allows no code made from text).
import { post } from '/static/page.js';

let loading = null;

function loadVega() {
  loading ??= import('/vega.js');
  return loading;
}

export async function wire(root) {
  const place = root.querySelector('#frontier');
  if (!place) return;
  const dark = matchMedia('(prefers-color-scheme: dark)').matches;
  const [answer] = await Promise.all([
    fetch(`/compare/plot.json?dark=${dark}&narrow=${place.clientWidth < 640}`),
    loadVega(),
  ]);
  if (!answer.ok || !place.isConnected) return;
  const { view } = await window.vegaEmbed(place, await answer.json(), {
    ast: true, actions: false, defaultStyle: false, tooltip: false, renderer: 'canvas', mode: 'vega-lite', logLevel: 1, // errors only
  });
  const told = root.querySelector('#point-told');
  const found = (item) => item?.datum?.risk && rowOf(root, item.datum);
  view.addEventListener('mouseover', (_, item) => {
    const row = found(item);
    if (row) told.textContent = `${row.dataset.method}, k = ${row.dataset.k}: ${row.dataset.loss} of the detail is lost. Click to take it.`;
  });
  view.addEventListener('click', (_, item) => {
    const row = found(item);
    if (row) post('/compare/take', { method: row.dataset.method, k: Number(row.dataset.k) });
  });
  place.dataset.drawn = place.dataset.points;
}

function rowOf(root, datum) {
  const k = String(Math.round(1 / datum.risk));
  return [...root.querySelectorAll('tr[data-loss]')].find((row) => row.dataset.k === k && datum.series.startsWith(row.dataset.method));
}
