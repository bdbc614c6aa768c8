// Step 4: all of it is forms; the loss as it falls is drawn while the search runs.
import { watch } from '/static/jobs.js';

let number = null; // of the job whose loss is drawn
let falling = [];

watch('protect', (job) => {
  const panel = document.getElementById('job-protect');
  if (number !== job.number) {
    number = job.number;
    falling = [];
    panel?.querySelector('svg')?.remove();
    if (job.state === 'running') panel?.scrollIntoView({ block: 'nearest' });
  }
  const loss = /loss ([\d.]+)/.exec(job.text);
  if (!loss) return;
  falling.push(Math.min(Number(loss[1]), falling.at(-1) ?? 1)); // several starts are tried; the best so far counts
  if (panel) draw(panel);
});

function draw(panel) {
  const space = 'http://www.w3.org/2000/svg';
  let picture = panel.querySelector('svg');
  if (!picture) {
    picture = document.createElementNS(space, 'svg');
    picture.setAttribute('viewBox', '0 0 300 40');
    picture.setAttribute('class', 'falling');
    picture.setAttribute('role', 'img');
    picture.append(document.createElementNS(space, 'polyline'));
    panel.append(picture);
  }
  const last = falling.at(-1);
  const most = Math.max(...falling);
  const span = most - Math.min(...falling) || 1;
  const points = falling.map((loss, place) => `${(300 * place) / Math.max(falling.length - 1, 1)},${38 - (36 * (loss - most + span)) / span}`);
  picture.firstChild.setAttribute('points', points.join(' '));
  picture.setAttribute('aria-label', `loss ${(100 * last).toFixed(2)} %, falling`);
}
