// Work that takes long: its state, and what to show when it is over.
import { page, refresh, show, tell, whenShown } from '/static/flow.js';

const known = new Map(); // kind → the newest job of it
const following = new Map(); // number of a job → the step it was asked for on, and the one to show when it is done
const watching = new Map(); // kind → who hears of its jobs

export const watch = (kind, hear) => watching.set(kind, hear);

// another session counts its own jobs
export const forget = () => known.clear();

export function follow(number, next) {
  following.set(number, { from: page().dataset.step, next });
  const job = [...known.values()].find((one) => one.number === number);
  if (job) finish(job); // it was faster than the answer
}

// `first`: told on connecting, about a job that may be long over
export function hear(job, first = false) {
  const before = known.get(job.kind);
  if (before?.number > job.number) return;
  known.set(job.kind, job);
  paint(job);
  watching.get(job.kind)?.(job);
  if (job.kind === 'preview' || job.kind === 'price') { // it is in the panel, and in nobody's way
    if (job.state === 'failed' && job.kind === 'preview') refresh();
    return;
  }
  if (job.state === 'failed' && isNews(before, job) && (!first || panels(job).length)) tell(job);
  finish(job);
}

const isNews = (before, job) => before?.number !== job.number || before.state !== job.state;
const isActive = (job) => job.state === 'waiting' || job.state === 'running';
const panels = (job) => [...document.querySelectorAll(`[data-job="${job.kind}"]`)];

const inPercent = (text) => text.replace(/loss ([\d.]+)/, (_, loss) => `loss ${(100 * loss).toFixed(1)} %`);

function paint(job) {
  for (const panel of panels(job)) {
    panel.hidden = !isActive(job);
    panel.querySelector('progress').value = job.share;
    for (const stop of panel.querySelectorAll('[data-stop]')) stop.hidden = !/loss|fragment by fragment/.test(job.text); // before, nothing is there to take
    panel.querySelector('[data-job-text]').textContent = job.text && `— ${inPercent(job.text)}`;
    panel.querySelector('[data-job-left]').textContent = job.left === null ? '' : `about ${Math.max(1, Math.round(job.left))} s left`;
  }
}

function finish(job) {
  const wanted = following.get(job.number);
  if (!wanted || isActive(job)) return;
  following.delete(job.number);
  // a user who went elsewhere in between is not called back
  if (job.state === 'done' && page().dataset.step === wanted.from) show(wanted.next, { focus: true, yields: true });
}

whenShown.push(() => known.forEach(paint));
