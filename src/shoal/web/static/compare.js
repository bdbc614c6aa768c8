// Step 5: the frontier, drawn by Vega with its interpreter (the page allows no code made from text).
import { ask, post, whenShown } from '/static/flow.js';

let vega = null;
let pen = Promise.resolve(); // one picture after the other

const night = matchMedia('(prefers-color-scheme: dark)');

// the picture belongs to points, colours and a width: if one of them changes it is drawn again
function renew() {
  const place = document.getElementById('frontier');
  const points = document.getElementById('points')?.dataset.points;
  if (!place || !points) return;
  const form = `dark=${night.matches}&narrow=${place.clientWidth < 640}`;
  const wanted = `${points} ${form}`;
  if (place.dataset.wanted === wanted) return;
  place.dataset.wanted = wanted;
  pen = pen.then(() => draw(place, form, wanted));
}

whenShown.push(renew);
night.addEventListener('change', renew);
window.addEventListener('resize', renew);

async function draw(place, form, wanted) {
  const overtaken = () => !place.isConnected || place.dataset.wanted !== wanted;
  if (overtaken()) return;
  vega ??= import('/vega.js');
  const [specification] = await Promise.all([ask(`compare/plot.json?${form}`), vega]);
  if (!specification || overtaken()) return;
  const { view } = await window.vegaEmbed(place, specification, {
    ast: true, actions: false, defaultStyle: false, tooltip: false, renderer: 'canvas', mode: 'vega-lite', logLevel: 1, // errors only
  });
  view.addEventListener('mouseover', (_, item) => {
    const row = rowOf(item);
    const told = document.getElementById('point-told');
    if (row && told) told.textContent = `${row.dataset.method}, k = ${row.dataset.k}: ${row.dataset.loss} of the detail is lost. Click to use it.`;
  });
  view.addEventListener('click', (_, item) => {
    const row = rowOf(item);
    if (row) post('compare/take', { method: row.dataset.method, k: Number(row.dataset.k) });
  });
  place.dataset.drawn = wanted;
}

function rowOf(item) {
  if (!item?.datum?.risk) return null;
  const k = String(Math.round(1 / item.datum.risk));
  return [...document.querySelectorAll('tr[data-loss]')].find((row) => row.dataset.k === k && item.datum.series.startsWith(row.dataset.method));
}
